"""The description of a source, and the view of its rows that adapters use."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log import coercion
from lineage_ingest.query_log.log_schema import Problem, Status, log_batch
from lineage_ingest.query_log.time_columns import is_absurd, times

__all__ = [
    "CORRUPT",
    "FILE",
    "LINE",
    "POSITION",
    "Assembly",
    "ColumnsMissingError",
    "Layout",
    "NotOverJdbcError",
    "Reading",
    "Source",
    "SourceRows",
    "raw_records",
    "selecting",
    "status_of",
]

LINE = "value"
"""The column that lines of text stand in, as Spark calls it."""
CORRUPT = "_corrupt_record"
"""Holds the raw text of a record that could not be read, as Spark has it; null in all others."""
FILE = "log_file"
"""The file that a row was read from, where the source's rows mean something only beside the others of their file."""
POSITION = "log_position"
"""The number of the row among those read of its file, from 1 on."""


_SEVERAL_ZONES = " - several zones have this abbreviation: name yours with --zone"
_SHAPE = 40
"""Characters that are shown of a time that could not be read."""
_NAME = re.compile(r"(?:[^\W\d][\w$.:/-]*(?: [\w$.:/-]+){0,3})?")
"""What a column is called in a log; a statement has more words or other characters."""


class ColumnsMissingError(ValueError):
    """Rows without the columns that a source requires: most likely the rows of another source."""


class NotOverJdbcError(ValueError):
    """A log that is not in a database."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a file without a header, in order, and the test of its first row that recognizes them."""

    columns: tuple[str, ...]
    """Those that the source reads, up to the last one that matters; releases add others behind them."""
    marks: tuple[tuple[str, str], ...]
    """Columns, each with a regular expression of its values."""
    unescaped: bool = False
    r"""Values within quotes have a backslash before what is meant literally, and `\n` for the end of a line."""

    def fits(self, row: Sequence[str]) -> bool:
        """Return whether a row can have these columns."""
        values = dict(zip(self.columns, row, strict=False))
        return all(name in values and re.fullmatch(mark, values[name].strip()) for name, mark in self.marks)

    def columns_of(self, count: int) -> tuple[str, ...]:
        """Return the names of the first `count` columns; unknown columns have an empty name."""
        return (*self.columns, *[""] * count)[:count]


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a source's files into rows of its own columns."""

    kind: Literal["table", "lines", "records"] = "table"
    """table: JSON lines, CSV or Parquet. lines: each line of text is a row, in the column `value`. records: text in
    which a record may span lines, taken apart by `records`."""
    headers: tuple[tuple[str, ...], ...] = ()
    """CSV without a header: the columns, one tuple for each number of them that releases of the source write."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Of `table`: names that a column has in another view or answer of the product, each with the source's own."""
    layouts: tuple[Layout, ...] = ()
    """CSV that may come without a header: the orders of columns in which the product writes it."""
    severities: tuple[int, str] | None = None
    """Of `headers`: the index of a column whose values are known, and a regular expression of them."""
    record_start: str = ""
    """Where a record of `records` begins: a regular expression that its first line, and no other, matches."""
    records: Callable[[Iterable[str]], Iterator[tuple[Any, ...]]] | None = field(default=None, repr=False)
    """Lines of one file in, rows of the source's columns out (without `log_file` and `log_position`)."""
    preamble: str = ""
    """Of `records`: a regular expression of the lines that may stand before the first record."""
    only: str = ""
    """For `lines`: a regular expression; lines without a match are skipped."""
    part: str = ""
    """A regular expression of the names of files that are parts of one log: its `log` and its `number` among them."""
    mark: str = ""
    """Of `lines`: a regular expression that is found in some line of each file of the source."""
    placed: bool = False
    """The rows need `log_file` and `log_position` beside their own columns."""
    rotated: bool = False
    """Rows that belong together may lie in several files."""

    def headers_fit(self, row: Sequence[str]) -> bool:
        """Return whether a row can be one of those without a header."""
        if self.severities is None or len(row) not in map(len, self.headers):
            return False
        index, values = self.severities
        return bool(re.fullmatch(values, row[index]))


@dataclass(frozen=True, slots=True)
class Assembly:
    """How several of a source's rows become one: done before they are normalised, on rows of the same shape."""

    by: tuple[str, ...]
    """The columns whose values the rows of one group share. A group must be together in the table."""
    order: tuple[str, ...]
    """The columns by which the rows of a group are in order. The table need not be."""
    rows: Callable[[Any], Any] = field(repr=False)
    """A table of any number of whole groups in; the table of fewer rows out."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of query log: what its rows look like, how they are read, and how they become the log schema's.

    A source is a value: it can be sent to Spark's workers.
    """

    name: str
    title: str
    dialect: str | None
    """The dialect of its statements; None if a column has it."""
    columns: tuple[str, ...]
    """The source's own columns that are read; the rest need not be there. Names are compared without case."""
    needed: tuple[str, ...]
    """One of these must be there."""
    convert: Callable[[SourceRows], Any] = field(repr=False)
    reading: Reading = Reading()
    assembly: Assembly | None = None
    jdbc: str | None = None
    """The query that reads it over JDBC; `{since}` is replaced by the text of a timestamp literal (in UTC)."""
    documentation: tuple[str, ...] = ()
    zone: str | None = None
    """The time zone of times without one; None is UTC."""
    time_formats: tuple[str, ...] = ()
    """The forms of times that are texts, as of `strptime`; none: those that are known."""
    delimiter: str | None = None
    """What parts the values of a row in CSV; None: what its first line shows."""
    known_by: tuple[tuple[str, ...], ...] = ()
    """Columns, or keys of a document, in small letters: rows that have all of one of these are this source's."""
    header: tuple[str, ...] = ()
    """The columns of CSV without a header, if the user sets them."""
    nested: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Columns that hold documents, each with the fields of it that are read: they may be columns of their own,
    `column.field` or `column_field`, as in CSV."""
    has_scripts: bool = False
    """Some rows are scripts (`is_script`), whose statements have rows of their own."""
    mapping: tuple[tuple[str, str], ...] = ()
    """Of `generic` only: fields of the log schema, and the columns they stand in."""

    @property
    def wanted(self) -> dict[str, str]:
        """Return the columns that are read, by their names in small letters, also by other views' names of them."""
        own = {name.lower(): name for name in self.columns}
        return {**dict(self.reading.aliases), **self.flattened, **own}

    @property
    def flattened(self) -> dict[str, str]:
        """Return the names of columns that hold a field of a document, each with that by which it is read.

        >>> Source("s", "S", None, ("a",), ("a",), len, nested=(("a", ("b",)),)).flattened
        {'a.b': 'a.b', 'a_b': 'a.b'}
        """
        pairs = [(column, name) for column, names in self.nested for name in names]
        return {f"{column}{mark}{name}": f"{column}.{name}" for column, name in pairs for mark in "._"}

    def wanted_of(self, columns: Iterable[str]) -> dict[str, str]:
        """Return which of a table's columns are read, as `wanted`: of two names of one column the source's own."""
        found = {column.lower() for column in columns}
        own = {name.lower() for name in self.columns} & found
        return {
            name: meant
            for name, meant in self.wanted.items()
            if name in found and (name in own or meant.lower() not in own)
        }

    def has_columns(self, columns: Iterable[str]) -> bool:
        """Return whether rows with these columns can be this source's."""
        found = {column.lower() for column in columns}
        return any(name.lower() in found for name in self.needed) or any(found.issuperset(k) for k in self.known_by)

    def check(self, columns: Iterable[str]) -> None:
        """Check that rows with these columns can be this source's.

        Raises:
            ColumnsMissingError: none of the columns that it needs is there; names the nearest that are.
        """
        found = {column.lower(): column for column in columns}
        if self.has_columns(found):
            return
        near = difflib.get_close_matches(self.needed[0].lower(), found, n=1)
        hint = f"did you mean the column {found[near[0]]!r}?" if near else _found(list(found.values()))
        raise ColumnsMissingError(
            f"{self.title} has {' or '.join(map(repr, self.needed))}, and these rows do not; {hint}"
        )

    def query_since(self, since: datetime) -> str:
        """Return the query that reads the log over JDBC from a moment on.

        Logs come late (Snowflake's by up to 45 minutes): ask from well before what was read last.

        Raises:
            NotOverJdbcError: the log is not in a database.
        """
        if self.jdbc is None:
            raise NotOverJdbcError(f"{self.title} is read from files, not over JDBC")
        return self.jdbc.replace("{since}", since.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"))

    def assemble(self, table: Any) -> Any:
        """Return a table with rows that belong together made one; the table itself where each row is a run.

        The table holds whole groups of `assembly.by`, as many as it likes, in any order.
        """
        if self.assembly is None or table.num_rows == 0:
            return table
        if CORRUPT not in table.column_names:
            return self.assembly.rows(table)
        unread = pc.is_valid(table.column(CORRUPT))
        read = table.filter(pc.invert(unread)).drop_columns([CORRUPT])
        made = self.assembly.rows(read) if read.num_rows else read
        rest = pa.table({CORRUPT: raw_records(table.column(CORRUPT)).drop_null()})
        return pa.concat_tables([made, rest], promote_options="default")

    def normalise(self, batch: Any) -> Any:
        """Return a record batch of the source's rows as one of the log schema.

        Rows that are no statements (a connection, the start of a query whose end follows) are left out; what cannot be
        read is a row with a `problem`. Nothing raises for what stands in a row: where a batch as a whole cannot be
        converted, its rows are by themselves, and the one at fault is a row with a problem.
        """
        if batch.num_rows == 0:
            return log_batch(0)
        try:
            return self.convert(SourceRows(batch, self))
        except (pa.ArrowException, ValueError, ArithmeticError, RecursionError):
            if batch.num_rows == 1:
                return log_batch(1, dialect=self.dialect, problem=str(Problem.UNREADABLE))
        half = batch.num_rows // 2
        parts = (self.normalise(batch.slice(0, half)), self.normalise(batch.slice(half)))
        return pa.Table.from_batches(parts).combine_chunks().to_batches()[0]


class SourceRows:
    """Rows of a source, by its columns' names in any case: a column that is missing is null.

    It remembers what could not be read, so that `batch` can say so of the row.
    """

    def __init__(self, batch: Any, source: Source) -> None:
        self.source = source
        self.rows: int = batch.num_rows
        self._batch = batch
        self._names = {name.lower(): name for name in reversed(batch.schema.names)}
        self._problems: dict[Problem, Any] = {}
        self._unread_time: Any = None
        if CORRUPT in self._names:
            self.note(Problem.UNREADABLE, pc.is_valid(self.column(CORRUPT)))

    def column(self, name: str) -> Any:
        """Return a column as an array."""
        found = self._names.get(name.lower())
        if found is None:
            return pa.nulls(self.rows, pa.string())
        column = self._batch.column(found)
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    def _first(self, names: Sequence[str], read: Callable[[Any], Any]) -> Any:
        """Return, for each row, what is read of the first of some columns that has a value there.

        Readers of CSV and JSON add the columns that a file lacks: those are there, and have none.
        """
        there = [name for name in names if self.has(name)] or [names[0]]
        return pc.coalesce(*(read(self.column(name)) for name in there))

    def table(self) -> Any:
        """Return the rows as a table."""
        return self._batch if isinstance(self._batch, pa.Table) else pa.Table.from_batches([self._batch])

    def has(self, name: str) -> bool:
        """Return whether there is such a column."""
        return name.lower() in self._names

    def where(self, mask: Any) -> SourceRows:
        """Return the rows for which the mask is true, and those that could not be read."""
        keep = pc.fill_null(mask, False)
        if CORRUPT in self._names:
            keep = pc.or_(keep, pc.is_valid(self.column(CORRUPT)))
        return SourceRows(self._batch.filter(keep), self.source)

    def text(self, *names: str) -> Any:
        """Return the first column that has a value as texts, the empty ones null."""
        return self._first(names, coercion.texts)

    def trimmed(self, *names: str) -> Any:
        """Return the first column that has a value as texts without the blanks around them."""
        return self._first(names, coercion.trimmed)

    def statement(self, name: str) -> Any:
        """Return a column as statements, and note where there is something else."""
        read, junk = coercion.statement_texts(self.column(name))
        self.note(Problem.NOT_TEXT, junk)
        return read

    def time(self, name: str, unit: str | None = None) -> Any:
        """Return a column as moments in UTC, and note where there is something else."""
        values = self.column(name)
        moments = times(values, self.source.zone, unit, self.source.time_formats)
        absurd = pc.fill_null(is_absurd(values, moments), False)
        self.note(Problem.ABSURD_TIME, absurd)
        if pc.any(absurd).as_py():
            shape = pc.if_else(absurd, _shape(coercion.strings(values)), pa.scalar(None, pa.string()))
            if self.source.zone is None:
                of_zone = pc.is_valid(times(values, "UTC", unit, self.source.time_formats))
                shape = pc.if_else(of_zone, pc.binary_join_element_wise(shape, _SEVERAL_ZONES, ""), shape)
            self._unread_time = shape if self._unread_time is None else pc.coalesce(self._unread_time, shape)
        return moments

    def count(self, *names: str, scale: float = 1) -> Any:
        """Return the first column that has a value, as integers multiplied by `scale`."""
        return self._first(names, lambda column: coercion.count_of(column, scale))

    def flag(self, name: str) -> Any:
        """Return a column as true and false."""
        return coercion.flags(self.column(name))

    def objects(self, name: str) -> list[Any]:
        """Return a column as Python objects, texts as the JSON in them, and fields in columns of their own together."""
        whole = coercion.objects(self.column(name))
        there = [
            (field, flat)
            for field in dict(self.source.nested).get(name, ())
            for flat in (f"{name}.{field}", f"{name}_{field}")
            if self.has(flat)
        ]
        fields = {field: coercion.texts(self.column(flat)).to_pylist() for field, flat in there}
        if not fields:
            return whole
        rows = zip(*fields.values(), strict=True)
        made = [{field: value for field, value in zip(fields, row, strict=True) if value is not None} for row in rows]
        return [one if one is not None else parts or None for one, parts in zip(whole, made, strict=True)]

    def note(self, problem: Problem, mask: Any) -> None:
        """Remember which rows have a problem."""
        known = self._problems.get(problem)
        self._problems[problem] = mask if known is None else pc.or_(known, mask)

    def batch(self, query_text: Any, **columns: Any) -> Any:
        """Return the rows as a batch of the log schema, in the source's dialect, each with its worst problem."""
        lineage = columns.get("source_lineage")
        silent = pc.is_null(query_text) if lineage is None else pc.and_(pc.is_null(query_text), pc.is_null(lineage))
        self.note(Problem.NO_TEXT, silent)
        problem = pa.nulls(self.rows, pa.string())
        for found in reversed(Problem):
            if found in self._problems:
                problem = pc.if_else(pc.fill_null(self._problems[found], False), str(found), problem)
        columns.setdefault("dialect", self.source.dialect)
        if self._unread_time is not None and isinstance(columns.get("started_at"), pa.Array):
            undated = pc.is_null(columns["started_at"])
            columns["unread_time"] = pc.if_else(undated, self._unread_time, pa.scalar(None, pa.string()))
        if Problem.UNREADABLE in self._problems:
            columns["status"] = pc.if_else(
                self._problems[Problem.UNREADABLE], str(Status.UNKNOWN), columns.get("status", str(Status.UNKNOWN))
            )
        return log_batch(self.rows, query_text=query_text, problem=problem, **columns)


def _found(columns: list[str]) -> str:
    """Return which columns were found. What reads as a row of values, in a file without a header, is not shown."""
    if all(_NAME.fullmatch(name.strip()) for name in columns):
        return f"found are {', '.join(columns)}"
    return f"the first row has {len(columns)} values that read as a row of the log: is there a header?"


def _shape(texts: Any) -> Any:
    """Return the masked shape of a time: the column may contain other data, which must not be shown."""
    letters = pc.replace_substring_regex(pc.utf8_slice_codeunits(texts, 0, _SHAPE), r"\pL", "x")
    return pc.replace_substring_regex(letters, r"\pN", "9")


def raw_records(column: Any) -> Any:
    """Return the texts of records that could not be read; null for those that were."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    shown = pc.fill_null(coercion.texts(flat), "not text")
    return pc.if_else(pc.is_valid(flat), shown, pa.scalar(None, pa.string()))


def selecting(columns: Iterable[str], rest: str) -> str:
    """Return a query of these columns."""
    return " ".join(("SELECT", ", ".join(columns), rest))


def status_of(values: Any, meanings: dict[str, Status], otherwise: Status = Status.UNKNOWN) -> Any:
    """Return a source's words for the outcome of a run as those of the log schema.

    >>> status_of(pa.array(["FINE   ", None]), {"fine": Status.SUCCESS}).to_pylist()
    ['success', 'unknown']
    """
    words = pc.utf8_lower(coercion.trimmed(values))
    named = pc.take(
        pa.array([str(status) for status in meanings.values()]), pc.index_in(words, pa.array(list(meanings)))
    )
    return pc.fill_null(named, str(otherwise))

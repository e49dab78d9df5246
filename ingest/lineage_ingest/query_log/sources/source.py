"""`Source` describes a query log format; `SourceRows` is what its adapter reads the rows through."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from lineage.frozen import frozen
from lineage_ingest.query_log.log_schema import Problem, Status, log_batch
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.reading.time_columns import is_absurd, times

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
]

LINE = "value"
"""The column of a line of text, named as in Spark."""
CORRUPT = "_corrupt_record"
"""The column with the raw text of an unreadable record, named as in Spark; null for all other records."""
FILE = "log_file"
"""The column with the file of a row, for sources whose rows depend on the other rows of the same file."""
POSITION = "log_position"
"""The column with the number of a row in its file, from 1."""


_SEVERAL_ZONES = " - several zones have this abbreviation: name yours with --zone"
_SHAPE = 40
"""Maximum number of characters shown of an unreadable time."""
_CODE = r"^(?:[a-z_ ]{1,20}|[a-z]{0,5}-?[0-9]{1,6})$"
"""Matches a status that is shown as it is: no free text."""
_NAME = re.compile(r"(?:[^\W\d][\w$.:/-]*(?: [\w$.:/-]+){0,3})?")
"""Matches a column name; a statement has more words or other characters."""


class ColumnsMissingError(ValueError):
    """The rows lack the columns that a source requires; they are probably from another source."""


class NotOverJdbcError(ValueError):
    """The source is read from files only, not over JDBC."""


@frozen
class Layout:
    """The columns of a CSV file without a header, in order, and a test of its first row that recognizes them."""

    columns: tuple[str, ...]
    """Column names up to the last one that is read; newer releases may append others."""
    marks: tuple[tuple[str, str], ...]
    """Pairs of a column and a regular expression that its values match."""
    unescaped: bool = False
    r"""Whether quoted values use backslash escapes, such as `\n` for a line break."""

    def fits(self, row: Sequence[str]) -> bool:
        """Return whether a row can have these columns."""
        values = dict(zip(self.columns, row, strict=False))
        return all(name in values and re.fullmatch(mark, values[name].strip()) for name, mark in self.marks)

    def columns_of(self, count: int) -> tuple[str, ...]:
        """Return the names of the first `count` columns; unknown columns have empty names."""
        return (*self.columns, *[""] * count)[:count]


@frozen
class Reading:
    """How to read a source's files into rows of its own columns."""

    kind: Literal["table", "lines", "records"] = "table"
    """table: JSON lines, CSV or Parquet. lines: each line of text is a row, in the column `value`. records: text whose
    records may span lines; `records` parses it."""
    headers: tuple[tuple[str, ...], ...] = ()
    """Columns of CSV without a header: one tuple per release of the source, each with a different number of columns."""
    aliases: tuple[tuple[str, str], ...] = ()
    """For `table`: pairs of a name used by another view or API of the product, and the source's name."""
    layouts: tuple[Layout, ...] = ()
    """For CSV that may have no header: the column orders that the product writes."""
    severities: tuple[int, str] | None = None
    """For `headers`: the index of a column with known values, and a regular expression that matches them."""
    record_start: str = ""
    """For `records`: a regular expression that matches only the first line of a record."""
    records: Callable[[Iterable[str]], Iterator[tuple[Any, ...]]] | None = field(default=None, repr=False)
    """For `records`: converts the lines of one file into rows of the source's columns, without `log_file` and
    `log_position`."""
    preamble: str = ""
    """For `records`: a regular expression that matches lines allowed before the first record."""
    only: str = ""
    """For `lines`: a regular expression; lines without a match are skipped."""
    part: str = ""
    """A regular expression for names of files that are parts of one log, with the groups `log` and `number`."""
    mark: str = ""
    """For `lines`: a regular expression that at least one line of each file of the source matches."""
    placed: bool = False
    """Whether the rows need `log_file` and `log_position` in addition to the source's columns."""
    rotated: bool = False
    """Whether one session may span several files of a rotated log."""

    def headers_fit(self, row: Sequence[str]) -> bool:
        """Return whether a row fits one of `headers`."""
        if self.severities is None or len(row) not in map(len, self.headers):
            return False
        index, values = self.severities
        return bool(re.fullmatch(values, row[index]))


@frozen
class Assembly:
    """How several rows of a source are merged into one. This happens before they are normalised."""

    by: tuple[str, ...]
    """The columns that identify a group. All rows of a group must be in the same table."""
    order: tuple[str, ...]
    """The columns that order the rows of a group. The table itself need not be sorted."""
    rows: Callable[[Any], Any] = field(repr=False)
    """Converts a table of complete groups into the table of merged rows."""


@frozen
class Source:
    """A query log format: its columns, how it is read, and how its rows are converted to the log schema.

    A source is an immutable value that can be sent to Spark's workers.
    """

    name: str
    title: str
    dialect: str | None
    """The SQL dialect of the statements; None if it is in a column."""
    columns: tuple[str, ...]
    """The columns that are read; those not in `needed` are optional. Names are case-insensitive."""
    needed: tuple[str, ...]
    """At least one of these columns is required."""
    convert: Callable[[SourceRows], Any] = field(repr=False)
    reading: Reading = Reading()
    assembly: Assembly | None = None
    jdbc: str | None = None
    """The query that reads the log over JDBC; `{since}` is replaced by the text of a timestamp literal (in UTC)."""
    documentation: tuple[str, ...] = ()
    zone: str | None = None
    """The time zone of times without one; None is UTC."""
    time_formats: tuple[str, ...] = ()
    """`strptime` formats of text times; if empty, the known formats are tried."""
    delimiter: str | None = None
    """The CSV delimiter; None to detect it in the first line."""
    known_by: tuple[tuple[str, ...], ...] = ()
    """Sets of lowercase column names (or JSON keys); rows that have all names of one set are from this source."""
    header: tuple[str, ...] = ()
    """User-supplied columns of CSV without a header."""
    nested: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Columns with nested objects, each with its fields that are read. The fields may also be separate columns,
    `column.field` or `column_field`, as in CSV."""
    has_scripts: bool = False
    """Whether some rows are scripts (`is_script`) whose statements are separate rows."""
    statuses: tuple[tuple[str, Status], ...] = ()
    """The lowercase values of the status column; empty if the source has none."""
    mapping: tuple[tuple[str, str], ...] = ()
    """For `generic` only: pairs of a field of the log schema and the column with its values."""

    @property
    def wanted(self) -> dict[str, str]:
        """Return the columns that are read, by lowercase name, including aliases and flattened fields."""
        own = {name.lower(): name for name in self.columns}
        return {**dict(self.reading.aliases), **self.flattened, **own}

    @property
    def flattened(self) -> dict[str, str]:
        """Return the possible column names of nested fields, each with the name `column.field`.

        >>> Source("s", "S", None, ("a",), ("a",), len, nested=(("a", ("b",)),)).flattened
        {'a.b': 'a.b', 'a_b': 'a.b'}
        """
        pairs = [(column, name) for column, names in self.nested for name in names]
        return {f"{column}{mark}{name}": f"{column}.{name}" for column, name in pairs for mark in "._"}

    def wanted_of(self, columns: Iterable[str]) -> dict[str, str]:
        """Return the entries of `wanted` for these columns; if a column and its alias both exist, only the column."""
        found = {column.lower() for column in columns}
        own = {name.lower() for name in self.columns} & found
        return {
            name: meant
            for name, meant in self.wanted.items()
            if name in found and (name in own or meant.lower() not in own)
        }

    def has_columns(self, columns: Iterable[str]) -> bool:
        """Return whether rows with these columns can be from this source."""
        found = {column.lower() for column in columns}
        return any(name.lower() in found for name in self.needed) or any(found.issuperset(k) for k in self.known_by)

    def check(self, columns: Iterable[str]) -> None:
        """Check that rows with these columns can be from this source.

        Raises:
            ColumnsMissingError: all required columns are missing; the message suggests the most similar column.
        """
        columns_by_name = {column.lower(): column for column in columns}
        if self.has_columns(columns_by_name):
            return
        near = difflib.get_close_matches(self.needed[0].lower(), columns_by_name, n=1)
        hint = (
            f"did you mean the column {columns_by_name[near[0]]!r}?"
            if near
            else _found_columns_message(list(columns_by_name.values()))
        )
        raise ColumnsMissingError(
            f"{self.title} has {' or '.join(map(repr, self.needed))}, and these rows do not; {hint}"
        )

    def query_since(self, since: datetime) -> str:
        """Return the query that reads the log over JDBC since a given time.

        Rows arrive late (Snowflake's by up to 45 minutes): start well before the latest row already read.

        Raises:
            NotOverJdbcError: the source is read from files only.
        """
        if self.jdbc is None:
            raise NotOverJdbcError(f"{self.title} is read from files, not over JDBC")
        return self.jdbc.replace("{since}", since.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"))

    def assemble(self, table: Any) -> Any:
        """Return a table with the rows of each run merged; without an assembly, the table itself.

        The table must contain complete groups of `assembly.by`; their order does not matter.
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
        """Return a record batch of the source's rows converted to the log schema.

        Rows that are not statements (a connection, the start of a query) are skipped; an unreadable row gets a
        `problem`. Row content never raises: if a batch cannot be converted, it is split until only the invalid rows
        fail, and each of these becomes a row with a problem.
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
    """Rows of a source, with case-insensitive column names. A missing column reads as nulls.

    It records the problems found while reading columns; `batch` adds them to the rows.
    """

    def __init__(self, batch: Any, source: Source) -> None:
        self.source = source
        self.rows: int = batch.num_rows
        self._batch = batch
        self._names = {name.lower(): name for name in reversed(batch.schema.names)}
        self._problems: dict[Problem, Any] = {}
        self._unread_time: Any = None
        self._unknown_status: Any = None
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
        """Return, for each row, the first non-null value among these columns, each converted by `read`.

        CSV and JSON readers add missing columns to a file as columns of nulls.
        """
        there = [name for name in names if self.has(name)] or [names[0]]
        return pc.coalesce(*(read(self.column(name)) for name in there))

    def table(self) -> Any:
        """Return the rows as a table."""
        return self._batch if isinstance(self._batch, pa.Table) else pa.Table.from_batches([self._batch])

    def has(self, name: str) -> bool:
        """Return whether the column exists."""
        return name.lower() in self._names

    def where(self, mask: Any) -> SourceRows:
        """Return the rows where the mask is true, and all unreadable rows."""
        keep = pc.fill_null(mask, False)
        if CORRUPT in self._names:
            keep = pc.or_(keep, pc.is_valid(self.column(CORRUPT)))
        return SourceRows(self._batch.filter(keep), self.source)

    def text(self, *names: str) -> Any:
        """Return the first non-null value of these columns as text; empty text is null."""
        return self._first(names, coercion.texts)

    def trimmed(self, *names: str) -> Any:
        """Return the first non-null value of these columns as text, without surrounding whitespace."""
        return self._first(names, coercion.trimmed)

    def statement(self, name: str) -> Any:
        """Return a column as statements; record a problem for values that are not text."""
        read, junk = coercion.statement_texts(self.column(name))
        self.note(Problem.NOT_TEXT, junk)
        return read

    def time(self, name: str, unit: str | None = None) -> Any:
        """Return a column as UTC timestamps; record a problem for unreadable values."""
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
        """Return the first non-null value of these columns as an integer, multiplied by `scale`."""
        return self._first(names, lambda column: coercion.count_of(column, scale))

    def flag(self, name: str) -> Any:
        """Return a column as booleans."""
        return coercion.flags(self.column(name))

    def status(self, name: str) -> Any:
        """Return a column as statuses, null where it is; record a problem for values with no known meaning."""
        words = pc.utf8_lower(self.trimmed(name))
        meanings = dict(self.source.statuses)
        found = pc.take(
            pa.array(list(map(str, meanings.values()))), pc.index_in(words, pa.array(meanings, pa.string()))
        )
        self.note_unknown_status(pc.if_else(pc.is_null(found), words, pa.scalar(None, pa.string())))
        return found

    def note_unknown_status(self, values: Any) -> None:
        """Record a problem for the rows with a value; a code or a word is shown, the shape of any other."""
        self.note(Problem.UNKNOWN_STATUS, pc.is_valid(values))
        self._unknown_status = pc.if_else(pc.match_substring_regex(values, _CODE), values, _shape(values))

    def objects(self, name: str) -> list[Any]:
        """Return a column as Python objects: JSON text is parsed, and fields in separate columns are combined."""
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
        """Record a problem for the rows where the mask is true."""
        known = self._problems.get(problem)
        self._problems[problem] = mask if known is None else pc.or_(known, mask)

    def batch(self, query_text: Any, **columns: Any) -> Any:
        """Return the rows as a batch of the log schema, with the source's dialect and each row's worst problem."""
        lineage = columns.get("source_lineage")
        silent = pc.is_null(query_text) if lineage is None else pc.and_(pc.is_null(query_text), pc.is_null(lineage))
        self.note(Problem.NO_TEXT, silent)
        problem = pa.nulls(self.rows, pa.string())
        for found in reversed(Problem):
            if found in self._problems:
                problem = pc.if_else(pc.fill_null(self._problems[found], False), str(found), problem)
        columns.setdefault("dialect", self.source.dialect)
        if self._unknown_status is not None:
            query_text = pc.if_else(
                pc.fill_null(pc.equal(problem, str(Problem.UNKNOWN_STATUS)), False), self._unknown_status, query_text
            )
        if self._unread_time is not None and isinstance(columns.get("started_at"), pa.Array):
            undated = pc.is_null(columns["started_at"])
            columns["unread_time"] = pc.if_else(undated, self._unread_time, pa.scalar(None, pa.string()))
        if Problem.UNREADABLE in self._problems:
            columns["status"] = pc.if_else(
                self._problems[Problem.UNREADABLE], str(Status.UNKNOWN), columns.get("status", str(Status.UNKNOWN))
            )
        return log_batch(self.rows, query_text=query_text, problem=problem, **columns)


def _found_columns_message(columns: list[str]) -> str:
    """Return a message with the columns found; their names are not shown if they may be the values of a first row."""
    if all(_NAME.fullmatch(name.strip()) for name in columns):
        return f"found are {', '.join(columns)}"
    return f"the first row has {len(columns)} values that read as a row of the log: is there a header?"


def _shape(texts: Any) -> Any:
    """Return the masked shape of a time: the column may contain other data, which must not be shown."""
    letters = pc.replace_substring_regex(pc.utf8_slice_codeunits(texts, 0, _SHAPE), r"\pL", "x")
    return pc.replace_substring_regex(letters, r"\pN", "9")


def raw_records(column: Any) -> Any:
    """Return the texts of unreadable records; null for the others."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    shown = pc.fill_null(coercion.texts(flat), "not text")
    return pc.if_else(pc.is_valid(flat), shown, pa.scalar(None, pa.string()))


def selecting(columns: Iterable[str], rest: str) -> str:
    """Return a SELECT of these columns, followed by `rest`."""
    return " ".join(("SELECT", ", ".join(columns), rest))

r"""Reads delimited text (CSV, TSV, warehouse unloads) as rows of a source's columns. Its form is detected.

NULL is written as an empty value, as `\N` (Snowflake, ClickHouse, PostgreSQL, MySQL) or as the word NULL. A quoted `\N`
or NULL is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import pyarrow as pa

from lineage_ingest.query_log.reading.json_rows import is_type_row
from lineage_ingest.query_log.records import BROKEN_OFF, Tally
from lineage_ingest.query_log.sources.source import CORRUPT, ColumnsMissingError, Source

__all__ = ["DelimitedForm", "form_of", "read_csv"]

_HEAD = 1_000_000
"""Number of characters from which a file's form is detected."""
_ROWS = 20
"""Number of rows from which the columns of a file without a header are detected."""
_DELIMITERS = (",", "\t", ";", "|", "\x01")
_NOT_TEXT = re.compile("[\\x00\\x02-\\x08\\x0e-\\x1f\\ud800-\\udfff]")
"""Control characters, except for Hive's delimiter, and undecodable bytes."""
_NULL = "\ufffenull\ufffe"
"""Marks unquoted NULLs until the CSV is parsed. It contains noncharacters, which do not occur in text."""
_NULL_WORDS = ("\\N", "NULL")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "a": "\a"}
_KEPT_ESCAPED = frozenset("dwsDWS.(){}[]*+?^$")
"""Characters that follow a backslash in SQL patterns. The backslash is kept, since the file may not escape it."""


class DelimitedForm(NamedTuple):
    """The format of delimited text, and the columns of a file without a header."""

    delimiter: str = ","
    escaped: bool = False
    """Whether a backslash escapes special characters, and values are not quoted."""
    quote_escaped: bool = False
    r"""Whether a quote in a quoted value is written `\"`."""
    columns: tuple[str, ...] | None = None
    """The columns of a file without a header; else None."""
    unescaped: bool = False
    r"""Whether the parsed values contain backslash escapes, such as `\n` for a line break (the CSV tables of MySQL)."""


def form_of(source: Source, head: str) -> DelimitedForm:
    """Return the form of a delimited text, detected from its beginning; a default form if none fits the source.

    The delimiter is the source's, if it has one; else one with which the text has a header or rows of the source.
    """
    if source.delimiter:
        delimiters: Sequence[str] = (source.delimiter,)
    else:
        first = head.partition("\n")[0]
        delimiters = [one for one in _DELIMITERS if one in first] or [","]
    for delimiter in delimiters:
        form = _quoting(head, delimiter)
        rows = _first_rows(head, form)
        if rows and source.has_columns(_names_in(rows[0])):
            return form
        if rows and source.header and len(rows[0]) == len(source.header):
            return form._replace(columns=source.header)
        texts = [["" if value is None else value for value in row] for row in rows]
        for layout in source.reading.layouts:
            fitting = [len(row) for row in texts if layout.fits(row)]
            if fitting:  # longer rows have an unquoted delimiter in a value
                return form._replace(columns=layout.columns_of(min(fitting)), unescaped=layout.unescaped)
    return _quoting(head, delimiters[0])._replace(columns=source.header or None)


def _first_rows(head: str, form: DelimitedForm) -> list[list[str | None]]:
    """Return the first rows of a text, which may end within a row."""
    try:
        rows = _rows(io.StringIO(head, newline="\n"), form, _Position())
        return list(islice((row for row in rows if row), _ROWS))
    except csv.Error:
        return []


def _quoting(head: str, delimiter: str) -> DelimitedForm:
    """Return how delimiters within values are quoted or escaped, detected from the beginning of a text."""
    by = re.escape(delimiter)
    quoted = re.search(rf'(?:\A|(?<!\\)\n|(?<!\\){by})"(?:[^"\\]++|""|\\.)*+"(?:{by}|\r?\n|\Z)', head, re.DOTALL)
    if quoted:
        return DelimitedForm(delimiter, quote_escaped=bool(re.search(rf'[^"\\]\\"(?!"|{by}|\r|\n|\Z)', head)))
    if delimiter in "\t\x01":
        return DelimitedForm(delimiter, escaped=True)
    nulls = re.search(rf"(?:^|(?<!\\){by})\\N(?:{by}|\r?$)", head, re.MULTILINE)
    return DelimitedForm(delimiter, escaped=bool(nulls or re.search(rf"\\(?:{by}|\r?\n)", head)))


def read_csv(
    source: Source, text: Iterable[str], tally: Tally, *, whole: bool = True
) -> Iterator[dict[str, str | None]]:
    """Yield the rows of delimited text by column.

    Args:
        source: the source of the rows.
        text: the lines, with their line ends.
        tally: records an error if the text is truncated.
        whole: whether the text is a file, which can be truncated, rather than a message.

    Raises:
        ColumnsMissingError: the file is not from this source.
    """
    csv.field_size_limit(2**31 - 1)  # a statement can have megabytes
    lines = iter(text)
    if source.reading.headers:
        first = next(lines, "")
        lines = chain((first,), lines)
        names = _names_in(first.split(source.delimiter or ","))
        if not any(set(names).issuperset(known) for known in source.known_by):
            yield from _read_fixed(source, lines, tally, whole=whole)
            return
    head, lines = _read_head(lines)
    form = form_of(source, "".join(head))
    position = _Position()
    rows = _rows(chain(head, lines), form, position)
    names = list(form.columns or ())
    kept = _kept_columns(source, names)
    known = frozenset(names) - {""}
    types_may_follow = False
    for row in rows:
        if not row:
            continue
        if names and _name_in(row[0]) in known and source.has_columns(header := _names_in(row)):
            # Concatenated files, each with its own header; the order of their columns can differ.
            names, kept, known, types_may_follow = header, _kept_columns(source, header), frozenset(header), True
            continue
        if not names:
            if any(_NOT_TEXT.search(name or "") for name in row):
                tally.failed("its first line is not text in UTF-8")
                return
            names = _names_in(row)
            _check_header(source, names, form.delimiter)
            kept = _kept_columns(source, names)
            known, types_may_follow = frozenset(names), True
            continue
        fits = len(row) == len(names)
        if whole and position.is_broken_off(fits=fits):
            tally.failed(BROKEN_OFF)
            return
        if not fits and (joined := _rejoin_statement(row, names, source, form)) is not None:
            row, fits = joined, True  # noqa: PLW2901
        if not fits:
            yield {CORRUPT: form.delimiter.join(value or "" for value in row)}
            continue
        found = {name: row[index] for index, name in kept}
        if not types_may_follow or not is_type_row(source, found):
            yield found
        types_may_follow = False


def _read_head(lines: Iterator[str]) -> tuple[list[str], Iterator[str]]:
    """Return the first lines of a text, and what follows: an error is raised only after the lines before it."""
    head: list[str] = []
    size = 0
    try:
        for line in lines:
            head.append(line)
            size += len(line)
            if size >= _HEAD:
                break
    except (OSError, EOFError, pa.ArrowException) as error:
        return head, _raising(error)
    return head, lines


def _raising(error: Exception) -> Iterator[str]:
    yield from ()
    raise error


def _kept_columns(source: Source, names: Sequence[str]) -> list[tuple[int, str]]:
    """Return the index in a row of each column that is read, and the source's name for the column."""
    wanted = source.wanted_of(names)
    return [(index, wanted[name]) for index, name in enumerate(names) if name in wanted]


def _names_in(row: Sequence[str | None]) -> list[str]:
    return [_name_in(name) for name in row]


def _name_in(value: str | None) -> str:
    return (value or "").lstrip("\ufeff").strip().strip('"').lower()


def _read_fixed(source: Source, text: Iterable[str], tally: Tally, *, whole: bool) -> Iterator[dict[str, str | None]]:
    """Yield the rows of CSV without a header; the number of values identifies the columns."""
    wanted = set(source.columns)
    headers = {len(names): [name if name in wanted else "" for name in names] for names in source.reading.headers}
    form, position = DelimitedForm(source.delimiter or ","), _Position()
    for row in _rows(iter(text), form, position, nulls=False):
        if not row:
            continue
        names = headers.get(len(row))
        if whole and position.is_broken_off(fits=names is not None):
            tally.failed(BROKEN_OFF)
            return
        if names is None:
            yield {CORRUPT: form.delimiter.join(value or "" for value in row)}
            continue
        yield {name: value for name, value in zip(names, row, strict=True) if name and value is not None}


class _Position:
    """The last line that a reader has read, and whether it tried to read past the end, as in an unclosed quote."""

    def __init__(self) -> None:
        self.line = ""
        self.ended = False
        self.marked = False
        """Whether a line since the last row may contain a NULL."""

    def is_broken_off(self, *, fits: bool) -> bool:
        """Return whether the text is truncated in this row, which may have the right number of values (`fits`)."""
        return self.ended or (not fits and not self.line.endswith(("\n", "\r")))

    def follow(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self.line = line
            yield line
        self.ended = True

    def mark(self, lines: Iterator[str], null: re.Pattern[str]) -> Iterator[str]:
        """Yield the lines with marks around possible NULLs."""
        for line in lines:
            if "NULL" in line or "\\N" in line:
                self.marked = True
                yield null.sub(rf"{_NULL}\g<0>{_NULL}", line)
            else:
                yield line


def _rows(
    lines: Iterator[str], form: DelimitedForm, position: _Position, *, nulls: bool = True
) -> Iterator[list[str | None]]:
    if form.escaped:
        yield from _escaped_rows(lines, form.delimiter, position)
        return
    read: Iterator[str] = position.follow(lines)
    if form.quote_escaped:
        read = (re.sub(r'(?<!\\)((?:\\\\)*)\\"', r'\1""', line) if '\\"' in line else line for line in read)
    if nulls:
        by = re.escape(form.delimiter)
        null = re.compile(rf"(?:(?<={by})|^)(?:\\N|NULL)(?={by}|\r?\n|\r?$)")
        read = position.mark(read, null)
    for row in csv.reader(read, delimiter=form.delimiter):
        if form.unescaped:
            yield [_unescape(value.replace(_NULL, "")) for value in row]
        elif position.marked:
            position.marked = False
            yield [_remove_null_marks(value) if _NULL in value else value for value in row]
        else:
            yield row  # type: ignore[misc]  # texts only


def _remove_null_marks(value: str) -> str | None:
    """Return a value without its NULL marks, or None if it is NULL. A line of a quoted value can be marked, too."""
    if value in (f"{_NULL}{word}{_NULL}" for word in _NULL_WORDS):
        return None
    return value.replace(_NULL, "")


def _escaped_rows(lines: Iterator[str], delimiter: str, position: _Position) -> Iterator[list[str | None]]:
    """Yield the rows of lines in which a backslash escapes delimiters and line ends within values."""
    value = re.compile(rf"((?:[^\\{re.escape(delimiter)}]|\\.)*)(?:{re.escape(delimiter)}|\Z)", re.DOTALL)
    held = ""
    for line in lines:
        position.line = line
        body = line.rstrip("\r\n")
        ended = line[len(body) :]
        whole = held + body
        if (len(body) - len(body.rstrip("\\"))) % 2 and ended:
            held = whole + ended
            continue
        held = ""
        if "\\" not in whole:
            values = whole.split(delimiter)
        else:
            values = value.findall(whole)
            # An empty match at the very end follows the last value, unless a delimiter precedes it.
            if not whole.endswith(delimiter) or whole.endswith("\\" + delimiter):
                values.pop()
        yield [None if one in _NULL_WORDS else _unescape(one) for one in values] if whole else []
    position.ended = bool(held)
    if held:
        yield [held]


def _unescape(value: str) -> str:
    return _ESCAPE.sub(_escape_meaning, value) if "\\" in value else value


def _escape_meaning(found: re.Match[str]) -> str:
    letter = found[1]
    return found[0] if letter in _KEPT_ESCAPED else _MEANT.get(letter, letter)


def _rejoin_statement(
    row: Sequence[str | None], names: Sequence[str], source: Source, form: DelimitedForm
) -> list[str | None] | None:
    """Return a row whose statement was split at its own delimiters, with the statement rejoined; None if ambiguous.

    Redshift's UNLOAD writes no quotes or escapes by default, and `a || b` contains its delimiter twice.
    """
    more = len(row) - len(names)
    wanted = source.wanted_of(names)
    indexes = [index for index, name in enumerate(names) if wanted.get(name) in source.needed]
    if more <= 0 or len(indexes) != 1 or form.delimiter != "|":
        return None
    index = indexes[0]
    text = form.delimiter.join("NULL" if value is None else value for value in row[index : index + more + 1])
    return [*row[:index], text, *row[index + more + 1 :]]


def _check_header(source: Source, header: list[str], delimiter: str) -> None:
    """Check that a header is from the source; if it has a single value, suggest another delimiter.

    Raises:
        ColumnsMissingError: it is not from the source.
    """
    try:
        source.check(header)
    except ColumnsMissingError as error:
        other = (
            next((one for one in _DELIMITERS if one != delimiter and one in header[0]), None)
            if len(header) == 1
            else None
        )
        if other is None:
            raise
        shown = {"\t": "tab"}.get(other, other)
        raise ColumnsMissingError(f"{error}; is the delimiter another character? --delimiter '{shown}'") from error

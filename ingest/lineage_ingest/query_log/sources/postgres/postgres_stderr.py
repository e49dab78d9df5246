"""PostgreSQL's text log (log_destination stderr), parsed by its `log_line_prefix`.

postgres_messages describes the content of its messages.

https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-WHERE

A message is `PREFIX SEVERITY:  TEXT`; its continuation lines begin with a tab. Its other parts follow with the same
prefix: `DETAIL:  …`, `STATEMENT:  …`.

Traps:
- The prefix is configurable. Without --log-line-prefix, the prefixes of PostgreSQL, Debian, Amazon RDS, Google Cloud
  SQL, Azure and pgBadger are recognised, in each file separately.
- Only the prefix escape %c is a session id. Without it a session is a process, until its process id is reused.
- A rotated log continues in another file, which can have any name: files are ordered by their first time.
- Only English messages are recognised (lc_messages).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.sources.postgres.log_line_prefix import LinePrefixError, line_pattern, recognise_prefix
from lineage_ingest.query_log.sources.postgres.postgres_messages import assemble_messages, convert_messages
from lineage_ingest.query_log.sources.rotated_logs import log_names, places_in_log
from lineage_ingest.query_log.sources.runs import carry_forward, starts
from lineage_ingest.query_log.sources.source import (
    CORRUPT,
    FILE,
    POSITION,
    Assembly,
    ColumnsMissingError,
    Reading,
    Source,
    SourceRows,
)

__all__ = ["POSTGRES_STDERR", "with_line_prefix"]

_OF_PREFIX = (
    "log_time", "user_name", "database_name", "process_id", "connection_from", "session_id", "session_line_num",
    "session_start_time", "sql_state_code",
)  # fmt: skip
_COLUMNS = (*_OF_PREFIX, "error_severity", "message", "detail", "query", CORRUPT)
_NAMES = {name: name for name in (*_OF_PREFIX, "query")}
_OF_ONE = ("user_name", "database_name", "session_start_time")
"""Columns that are constant within a session."""
_PART = {"DETAIL": "detail", "STATEMENT": "query"}
_UNUSED = frozenset(("HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE"))
_A_MESSAGE = re.compile(r"(?:^|[^A-Za-z])(?:LOG|ERROR|FATAL|PANIC|STATEMENT):  ")
_A_LINE = rf".*?{_A_MESSAGE.pattern}"
_UNKNOWN = frozenset(("", "[unknown]"))
_LOOKED_AT = 500
_BEGINS = r"^connection (?:received|authorized|authenticated): "
_TEACHES = (
    "its lines begin with none of the prefixes that are known: give the server's own, as SHOW log_line_prefix says it, "
    "by --log-line-prefix '%m [%p] '"
)


def _records(lines: Iterable[str], prefix: str | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield the messages of a file, each as a row of `_COLUMNS`.

    Raises:
        ColumnsMissingError: without `prefix`, no line has a known prefix.
    """
    rest = iter(lines)
    head = list(islice(rest, _LOOKED_AT))
    known = prefix if prefix is not None else recognise_prefix(head)
    if known is None:
        if any(line.strip() for line in head):
            raise ColumnsMissingError(_TEACHES)
        return
    pattern = line_pattern(known)
    record: dict[str, Any] | None = None
    part: str | None = None
    for line in chain(head, rest):
        if line.startswith("\t"):
            if record is not None and part is not None:
                record[part] += f"\n{line[1:]}"
            continue
        match = pattern.match(line)
        if match is None:
            if _A_MESSAGE.search(line):
                yield (*[None] * (len(_COLUMNS) - 1), line)
            part = None
            continue
        severity = match["severity"]
        if severity in _PART or severity in _UNUSED:
            part = _PART.get(severity)
            if record is not None and part is not None:
                record[part] = match["message"]
            continue
        if record is not None:
            yield tuple(record.get(name) for name in _COLUMNS)
        named = match.groupdict()
        record = {name: value for name in _OF_PREFIX if (value := named.get(name) or "") not in _UNKNOWN}
        record |= {"error_severity": severity, "message": match["message"]}
        record["sql_state_code"] = named.get("sql_state_code") or match["state"]
        part = "message"
    if record is not None:
        yield tuple(record.get(name) for name in _COLUMNS)


def _assemble(table: Any) -> Any:
    """Return the rows of complete sessions with each run merged into one row, as for csvlog and jsonlog."""
    rows = SourceRows(table, POSTGRES_STDERR)
    log = pa.table(
        {
            "owner": pc.coalesce(
                rows.text("session_id"),
                pc.binary_join_element_wise(log_names(rows.text(FILE)), rows.text("process_id"), "/"),
            ),
            "number": rows.count("session_line_num"),
            "is_named": pc.is_valid(rows.text("session_id")),
            "message": rows.text("message"),
            **{name: rows.text(name) for name in _OF_ONE},
        }
    )
    places = places_in_log(_flat(log, "owner"), rows.text(FILE), rows.count(POSITION), rows.time("log_time"))
    numbered = pc.and_(log["is_named"], pc.is_valid(log["number"]))
    log = log.append_column("place", pc.if_else(numbered, log["number"], places))
    order = pc.sort_indices(log.select(["owner", "place"]), [("owner", "ascending"), ("place", "ascending")])
    table, log = table.take(order), log.take(order)
    owner, number, place = (_flat(log, name) for name in ("owner", "number", "place"))
    # A process id is reused by a later session.
    greets = pc.fill_null(pc.match_substring_regex(_flat(log, "message"), _BEGINS), False)
    fresh = pc.or_(
        pc.and_(greets, pc.invert(_previous(greets))), pc.fill_null(pc.less(number, _previous(number)), False)
    )
    fresh = pc.or_(starts(owner, *(_flat(log, name) for name in _OF_ONE)), fresh)
    since = carry_forward(place, fresh, starts(owner)).cast(pa.string())
    session = pc.if_else(_flat(log, "is_named"), owner, pc.binary_join_element_wise(owner, since, "/"))
    for name, values in (("session_id", session), ("session_line_num", place)):
        kept = [one for one in table.column_names if one != name]
        table = table.select(kept).append_column(name, values)
    return assemble_messages(table, _NAMES)


def _previous(values: Any) -> Any:
    """Return the values shifted by one row; the first value is repeated."""
    return pa.concat_arrays([values.slice(0, 1), values]).slice(0, len(values))


def _flat(table: Any, name: str) -> Any:
    column = table.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _convert(log: SourceRows) -> Any:
    return convert_messages(log, _NAMES, numbered=False)


POSTGRES_STDERR = Source(
    name="postgres_stderr",
    title="PostgreSQL server log",
    dialect="postgres",
    columns=_COLUMNS,
    needed=("message",),
    convert=_convert,
    reading=Reading("records", record_start=_A_LINE, records=_records, placed=True, rotated=True),
    assembly=Assembly(by=("session_id", "process_id"), order=(POSITION,), rows=_assemble),
    documentation=(
        "https://www.postgresql.org/docs/current/runtime-config-logging.html#GUC-LOG-LINE-PREFIX",
        "https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-WHERE",
    ),
)


def with_line_prefix(source: Source, prefix: str) -> Source:
    """Return the source with a given log_line_prefix.

    Raises:
        LinePrefixError: the prefix is invalid, or the source is not `postgres_stderr`.
    """
    if source.name != POSTGRES_STDERR.name:
        raise LinePrefixError(f"{source.title} has no log_line_prefix; only the source postgres_stderr has one")
    line_pattern(prefix)
    return replace(source, reading=replace(source.reading, records=partial(_records, prefix=prefix)))

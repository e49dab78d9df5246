r"""MySQL's and MariaDB's slow query log; with long_query_time = 0 it contains all statements.

https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html
https://mariadb.com/kb/en/slow-query-log-overview/

A record is several lines that begin with `# `, then `use db;` and `SET timestamp=…;`, then the statement.

Traps:
- Records are in order of the statements' ends. `SET timestamp` is a statement's start in seconds since 1970.
- The log can also be the table mysql.slow_log (log_output = TABLE), whose `start_time` and `query_time` are times.
- `# Time` is the end, in UTC or the system's zone (MySQL) or in local time (MariaDB); it is not read.
- `use db;` is written only if the database differs from the previous record's, even of another session. MariaDB
  writes the database in each record (`Schema:`).
- MySQL logs whether a statement failed only with log_slow_extra (`Errno:`); otherwise the status is `unknown`.
- Statements inside a procedure are not logged, only its CALL (MariaDB's log_slow_disabled_statements, MySQL's default).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.sources.mysql.general_log import users_of
from lineage_ingest.query_log.sources.rotated_logs import log_names, places_in_log
from lineage_ingest.query_log.sources.runs import carry_forward, starts
from lineage_ingest.query_log.sources.source import FILE, POSITION, Assembly, Reading, Source, SourceRows

__all__ = ["MYSQL_SLOW"]

_COLUMNS = (
    "started", "user_host", "thread_id", "db", "query_time", "rows_sent", "rows_affected", "errno", "sql_text",
)  # fmt: skip
_START = re.compile(r"^# (?:Time: |User@Host: )")
_FIELD = re.compile(r"(?:^# |\s)(Id|Thread_id|Query_time|Rows_sent|Rows_affected|Last_errno|Errno): *(\S*)")
_SCHEMA = re.compile(r"\sSchema: (.*?)\s+(?:QC_hit|Last_errno|Errno|Killed)\b")
_USER = re.compile(r"^# User@Host: (.*?)\s*(?:Id: *(\d+))?\s*$")
_NAMES = {
    "Id": "thread_id", "Thread_id": "thread_id", "Query_time": "query_time", "Rows_sent": "rows_sent",
    "Rows_affected": "rows_affected", "Errno": "errno", "Last_errno": "errno",
}  # fmt: skip
_USE = re.compile(r"^use `?((?:[^`;]|``)+)`?;$", re.IGNORECASE)
_TIMESTAMP = re.compile(r"^SET (?:(?:last_insert_id|insert_id)=\d+,)*timestamp=(\d+(?:\.\d+)?);$", re.IGNORECASE)
_BANNER = re.compile(r"^(?:.*, Version: .*started with:|Tcp port: .*|Time\s+Id\s+Command\s+Argument)$")
_NO_RUN = r"(?i)^(?:# administrator command|\s*prepare\s+\S+\s+from\b)"
_QUIT = "# administrator command: Quit"
_SESSION = "session"


def _records(lines: Iterable[str]) -> Iterator[tuple[str | None, ...]]:
    """Yield the records of a file, each as a row of `_COLUMNS`."""
    record: dict[str, str] | None = None
    text: list[str] = []
    database: str | None = None
    second, since = "", 0

    def make_records() -> Iterator[tuple[str | None, ...]]:
        if record is None:
            return
        statement = "\n".join(text).rstrip()
        if record.get("started") and "." not in record["started"]:
            record["started"] += f".{min(since, 999_999):06}"
        found = {"db": database, **record, "sql_text": statement.removesuffix(";")}
        yield tuple(found.get(name) or None for name in _COLUMNS)

    for line in lines:
        if _START.match(line) and (text or record is None or line.startswith("# Time")):
            if text:
                yield from make_records()
            record, text = {}, []
        if record is None or _BANNER.match(line):
            continue
        if not text and line.startswith("# ") and not line.startswith(_QUIT):
            record.update(_fields_in(line))
        elif not text and (use := _USE.match(line)) is not None:
            database = use[1].replace("``", "`")
        elif not text and (stamp := _TIMESTAMP.match(line)) is not None:
            record["started"] = stamp[1]
            since = since + 1 if stamp[1] == second else 0
            second = stamp[1]
        elif text or line.strip():
            text.append(line)
    if text:
        yield from make_records()


def _fields_in(line: str) -> Iterator[tuple[str, str]]:
    """Yield what a line that begins with `# ` says of its record, by column."""
    user = _USER.match(line)
    if user is not None:
        yield "user_host", user[1]
    schema = _SCHEMA.search(line)
    if schema is not None:
        yield "db", schema[1]
    yield from ((_NAMES[name], value) for name, value in _FIELD.findall(line) if value)


def _assemble(table: Any) -> Any:
    """Return the rows with their sessions; a session is a thread until it quits."""
    rows = SourceRows(table, MYSQL_SLOW)
    owner = pc.binary_join_element_wise(log_names(rows.text(FILE)), rows.trimmed("thread_id"), "/")
    place = places_in_log(owner, rows.text(FILE), rows.count(POSITION), rows.time("started"))
    order = pc.sort_indices(
        pa.table({"owner": owner, "place": place}), [("owner", "ascending"), ("place", "ascending")]
    )
    owner, place = owner.take(order), place.take(order)
    statements = coercion.readable(rows.column("sql_text")).take(order)
    text = coercion.texts(statements)
    begins = starts(owner, rows.text("user_host").take(order))
    quits = pc.fill_null(pc.starts_with(text, _QUIT), False)
    after = pa.concat_arrays([pa.array([False]), quits]).slice(0, len(quits))
    since = carry_forward(place, pc.or_(begins, after), starts(owner)).cast(pa.string())
    kept = [name for name in table.column_names if name not in (POSITION, "sql_text")]
    table = table.take(order).select(kept).append_column("sql_text", statements)
    return table.append_column(POSITION, place).append_column(_SESSION, pc.binary_join_element_wise(owner, since, "/"))


def _convert(every: SourceRows) -> Any:
    # A prepared statement runs, and is logged, when it is executed.
    admin = pc.fill_null(pc.match_substring_regex(every.text("sql_text"), _NO_RUN), False)
    log = every.where(pc.invert(admin))
    errno = log.count("errno")
    status = pc.if_else(pc.equal(errno, 0), str(Status.SUCCESS), str(Status.FAILED))
    affected = log.count("rows_affected")
    return log.batch(
        query_text=log.statement("sql_text"),
        started_at=log.time("started", unit="s"),
        position=log.count(POSITION),
        duration_us=pc.coalesce(
            log.count("query_time", scale=1_000_000), _clock_microseconds(log.trimmed("query_time"))
        ),
        user=users_of(log.text("user_host")),
        session=log.text(_SESSION, "thread_id"),
        default_schema=log.text("db"),
        status=pc.fill_null(status, str(Status.UNKNOWN)),
        rows=pc.if_else(pc.fill_null(pc.greater(affected, 0), False), affected, log.count("rows_sent")),
    )


def _clock_microseconds(texts: Any) -> Any:
    """Return durations in the table's format, such as 00:00:02.000150, in microseconds."""
    found = pc.extract_regex(texts, r"^(?P<h>\d{1,4}):(?P<m>\d\d):(?P<s>\d\d(?:\.\d+)?)$")
    parts = [
        pc.if_else(pc.is_valid(found), found.field(place), pa.scalar(None, pa.string())).cast(pa.float64())
        for place in range(3)
    ]
    seconds = pc.add(pc.add(pc.multiply(parts[0], 3_600.0), pc.multiply(parts[1], 60.0)), parts[2])
    return pc.round(pc.multiply(seconds, 1_000_000.0)).cast(pa.int64())


MYSQL_SLOW = Source(
    name="mysql_slow",
    title="MySQL slow query log",
    dialect="mysql",
    columns=_COLUMNS,
    needed=("sql_text",),
    convert=_convert,
    known_by=(("user_host", "query_time", "sql_text"),),
    reading=Reading(
        "records",
        aliases=(("start_time", "started"),),
        record_start=r"^# User@Host: .*\[.*\] @ ",
        records=_records,
        preamble=_BANNER.pattern,
        placed=True,
        rotated=True,
    ),
    assembly=Assembly(by=("thread_id",), order=(POSITION,), rows=_assemble),
    documentation=(
        "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html",
        "https://mariadb.com/kb/en/slow-query-log-overview/",
    ),
)

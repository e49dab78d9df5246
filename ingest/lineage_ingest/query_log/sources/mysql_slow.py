r"""MySQL's and MariaDB's slow query log: with long_query_time = 0 all that ran.

https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html
https://mariadb.com/kb/en/slow-query-log-overview/

A record is some lines that begin with `# `, then `use db;` and `SET timestamp=…;`, then the statement.

Traps:
- It is written as statements end: so is its order. `SET timestamp` says when one began, in seconds since 1970.
- The same may be a table, mysql.slow_log (log_output = TABLE): its `start_time` and `query_time` are written as times.
- `# Time` is when it ended, in UTC or the system's zone (MySQL), or in local time (MariaDB): it is not read.
- `use db;` stands where the database is another one than that of the record before it, whosever that is. MariaDB says
  it of each record (`Schema:`).
- Whether a statement failed is said by MySQL with log_slow_extra (`Errno:`) only; else the status is `unknown`.
- What a procedure runs is not logged but as its CALL (MariaDB's log_slow_disabled_statements, MySQL's default).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.sources.rotated_logs import log_names, places_in_log
from lineage_ingest.query_log.sources.runs import carried, starts
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
    """Yield the records of the lines of a file, each a row of `_COLUMNS`."""
    record: dict[str, str] | None = None
    text: list[str] = []
    database: str | None = None
    second, since = "", 0

    def made() -> Iterator[tuple[str | None, ...]]:
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
                yield from made()
            record, text = {}, []
        if record is None or _BANNER.match(line):
            continue
        if not text and line.startswith("# ") and not line.startswith(_QUIT):
            user = _USER.match(line)
            if user is not None:
                record["user_host"] = user[1]
            schema = _SCHEMA.search(line)
            if schema is not None:
                record["db"] = schema[1]
            record.update((_NAMES[name], value) for name, value in _FIELD.findall(line) if value)
        elif not text and (use := _USE.match(line)) is not None:
            database = use[1].replace("``", "`")
        elif not text and (stamp := _TIMESTAMP.match(line)) is not None:
            record["started"] = stamp[1]
            since = since + 1 if stamp[1] == second else 0
            second = stamp[1]
        elif text or line.strip():
            text.append(line)
    if text:
        yield from made()


def _assemble(table: Any) -> Any:
    """Return the rows with the session of each: a thread, until it quits."""
    rows = SourceRows(table, MYSQL_SLOW)
    owner = pc.binary_join_element_wise(log_names(rows.text(FILE)), rows.trimmed("thread_id"), "/")
    place = places_in_log(owner, rows.text(FILE), rows.count(POSITION), rows.time("started"))
    order = pc.sort_indices(
        pa.table({"owner": owner, "place": place}), [("owner", "ascending"), ("place", "ascending")]
    )
    owner, place, text = owner.take(order), place.take(order), rows.text("sql_text").take(order)
    begins = starts(owner, rows.text("user_host").take(order))
    quits = pc.fill_null(pc.starts_with(text, _QUIT), False)
    after = pa.concat_arrays([pa.array([False]), quits]).slice(0, len(quits))
    since = carried(place, pc.or_(begins, after), starts(owner)).cast(pa.string())
    table = table.take(order).select([name for name in table.column_names if name != POSITION])
    return table.append_column(POSITION, place).append_column(_SESSION, pc.binary_join_element_wise(owner, since, "/"))


def _convert(every: SourceRows) -> Any:
    # What is prepared runs when it is executed, and is logged then.
    admin = pc.fill_null(pc.match_substring_regex(every.text("sql_text"), _NO_RUN), False)
    log = every.where(pc.invert(admin))
    errno = log.count("errno")
    status = pc.if_else(pc.equal(errno, 0), str(Status.SUCCESS), str(Status.FAILED))
    user = pc.replace_substring_regex(log.text("user_host"), r"^([^\[@]*?)\s*(?:\[.*|@.*)?$", r"\1")
    affected = log.count("rows_affected")
    return log.batch(
        query_text=log.statement("sql_text"),
        started_at=log.time("started", unit="s"),
        position=log.count(POSITION),
        duration_us=pc.coalesce(log.count("query_time", scale=1_000_000), _clocked(log.trimmed("query_time"))),
        user=user,
        session=log.text(_SESSION, "thread_id"),
        default_schema=log.text("db"),
        status=pc.fill_null(status, str(Status.UNKNOWN)),
        rows=pc.if_else(pc.fill_null(pc.greater(affected, 0), False), affected, log.count("rows_sent")),
    )


def _clocked(texts: Any) -> Any:
    """Return durations such as 00:00:02.000150, as the table has them, in microseconds."""
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

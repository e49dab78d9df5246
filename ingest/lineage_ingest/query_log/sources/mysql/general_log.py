r"""MySQL's general query log: the text file, and the table mysql.general_log, which has the same columns.

The table may be exported as CSV, JSON or Parquet, or read from the server's data file general_log.CSV.

https://dev.mysql.com/doc/refman/8.4/en/query-log.html
https://dev.mysql.com/doc/refman/8.4/en/log-destinations.html
https://mariadb.com/kb/en/general-query-log/

In the file a record is `TIME<tab>ID COMMAND<tab>ARGUMENT`; its statement may span lines. MariaDB and old MySQL releases
write `yymmdd hh:mm:ss`, and omit the time if it is the same as in the record before.

Traps:
- A statement's record does not contain its database: `Connect user@host on db`, `Init DB`, `Change user` and the
  statement `USE db` set it for the rest of the thread. So the rows of each thread are read together, in order.
- Statements are logged when they arrive: their outcome (the status is `unknown`), duration and row count are unknown.
- `Prepare` does not run a statement; each `Execute` does, and is logged with its parameter values.
- Thread ids restart with the server: `Connect` begins a new session, and so do `Change user`, `Reset Connection` and
  the first row after `Quit`. Otherwise a thread continues in the next file of a rotated log.
- MariaDB's times are in whole seconds: rows of the same second are ordered by position, also between sessions.
- Times are in UTC, or in the system's zone with an offset (`log_timestamps`); the old format is local time without one.
- `argument` is a BLOB: clients may export it as `0x…`, MySQL's JSON functions as `base64:type252:…`.
- Texts are not cut. They are logged in the character set of their connection: other bytes than UTF-8 are replaced.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.reading.time_columns import times
from lineage_ingest.query_log.sources.mysql.mysql_transactions import find_unfinished
from lineage_ingest.query_log.sources.rotated_logs import log_names, places_in_log
from lineage_ingest.query_log.sources.runs import carry_forward, starts
from lineage_ingest.query_log.sources.source import FILE, POSITION, Assembly, Layout, Reading, Source, SourceRows

__all__ = ["MYSQL", "users_of"]

_COMMANDS = (
    "Quit|Init DB|Query|Field List|Create DB|Drop DB|Refresh|Shutdown|Statistics|Processlist|Connect|Kill|Debug|Ping|"
    "Time|Delayed insert|Change user|Binlog Dump GTID|Binlog Dump|Table Dump|Connect Out|Register Slave|"
    "Register Replica|Prepare|Execute|Long Data|Close stmt|Reset stmt|Reset Connection|Set option|Fetch|Daemon|Error|"
    "Sleep|Clone|Subscribe Group Replication Stream"
)
RECORD_START = (
    r"^(?:(?P<time>\d{4}-\d\d-\d\dT\S+|\d{6} [ \d]\d:\d\d:\d\d)\t|\t\t)"
    rf"\s*(?P<id>\d+) (?P<command>{_COMMANDS})(?:\t(?P<argument>.*)|\s*)$"
)
_START = re.compile(RECORD_START)
_BANNER = re.compile(r"^(?:.*, Version: .*started with:|Tcp port: .*|Time\s+Id\s+Command\s+Argument)$")
_DATABASE = "current_database"
"""Added by `assemble`: the thread's database at the statement; `session` distinguishes threads with the same id."""
_SESSION = "session"
_RUNS = pa.array(["Query", "Execute"])
_ANEW = pa.array(["Connect", "Change user", "Reset Connection"])
# The argument of Connect and of Change user: `root@localhost as proxied on shop using Socket`.
# A user may be an e-mail address, a host has no @.
_ON = r"^(?P<user_host>.*?@[^\s@]*)(?: as \S*)?(?: on (?P<db>.*?))?(?: using .*)?$"
_PREPARES = r"(?i)^\s*prepare\s+\S+\s+from\b"
_BLOB = r"^(?:0[xX](?:[0-9A-Fa-f]{2})+|base64:type\d+:[0-9A-Za-z+/]+=*)$"
_USE = r"(?i)^\s*use\s+`?(?P<db>[^`;\s]+)`?\s*;?\s*$"


_TABLE = Layout(
    ("event_time", "user_host", "thread_id", "server_id", "command_type", "argument"),
    (
        ("event_time", r"\d{4}-\d\d-\d\d .*"),
        ("thread_id", r"\d+"),
        ("server_id", r"\d+"),
        ("command_type", _COMMANDS),
    ),
    unescaped=True,
)
"""The columns of general_log.CSV, the server's data file of the table."""


def _records(lines: Iterable[str]) -> Iterator[tuple[str | None, ...]]:
    """Yield the records of a log file as (event_time, user_host, thread_id, server_id, command_type, argument)."""
    time: str | None = None
    since = 0
    head: tuple[str, str] | None = None
    argument: list[str] = []
    for line in lines:
        match = _START.match(line)
        if match is None:
            if head is not None and not _BANNER.match(line):
                argument.append(line)
            continue
        if head is not None:
            yield (_in_second(time, since), None, head[0], None, head[1], "\n".join(argument))
        written = _time(match["time"])
        since = 0 if written is not None and written != time else since + 1
        time = written or time
        head, argument = (match["id"], match["command"]), [match["argument"] or ""]
    if head is not None:
        yield (_in_second(time, since), None, head[0], None, head[1], "\n".join(argument))


def _in_second(time: str | None, number: int) -> str | None:
    """Return a time in whole seconds with the row's number within that second as microseconds."""
    return time if time is None or "T" in time else f"{time}.{min(number, 999_999):06}"


def _time(written: str | None) -> str | None:
    if written is None or "-" in written:
        return written
    day, clock = written[:6], written[7:].strip()
    return f"20{day[:2]}-{day[2:4]}-{day[4:]} {clock}"


def _assemble(table: Any) -> Any:
    """Return the rows that are runs, each with its thread's user, database and session."""
    rows = SourceRows(table, MYSQL)
    table = pa.table(
        {
            FILE: rows.text(FILE),
            "thread": rows.trimmed("thread_id"),
            POSITION: rows.count(POSITION),
            "time": times(rows.column("event_time")),
            **{name: rows.column(name) for name in MYSQL.columns},
        }
    )
    owner = pc.binary_join_element_wise(log_names(rows.text(FILE)), rows.trimmed("thread_id"), "/")
    place = places_in_log(owner, rows.text(FILE), rows.count(POSITION), _flat(table.column("time")))
    table = table.append_column("owner", owner).set_column(table.column_names.index(POSITION), POSITION, place)
    table = table.sort_by([(name, "ascending") for name in ("owner", POSITION, "time")]).combine_chunks()
    column = {name: _flat(table.column(name)) for name in table.column_names}
    command = coercion.trimmed(column["command_type"])
    text = _decode(column["argument"])
    argument = pc.fill_null(coercion.texts(text), "")
    begins = starts(column["owner"])
    connects = pc.fill_null(pc.is_in(command, pa.array(["Connect", "Change user"])), False)
    # `Connect Out` and a refused connection (`Access denied …`) have no `user@host` in front.
    greeting = pc.extract_regex(argument, _ON)
    use = pc.extract_regex(argument, _USE)
    is_initial = pc.fill_null(pc.equal(command, "Init DB"), False)
    uses = pc.and_(pc.fill_null(pc.is_in(command, _RUNS), False), pc.is_valid(use))
    database = pc.if_else(connects, greeting.field(1), pc.if_else(is_initial, argument, use.field(0)))
    # USE sets the database of the rows that follow; for its own row either database gives the same result.
    database = carry_forward(database, pc.or_(pc.or_(connects, is_initial), uses), begins)
    own = coercion.texts(column["user_host"])
    user = pc.coalesce(own, carry_forward(greeting.field(0), connects, begins))
    left = pc.fill_null(pc.equal(command, "Quit"), False)
    left = pc.fill_null(pa.concat_arrays([pa.array([False]), left]).slice(0, len(left)), False)
    anew = pc.fill_null(pc.is_in(command, _ANEW), False)
    began = carry_forward(column[POSITION], pc.or_(pc.or_(begins, anew), left), begins)
    session = pc.binary_join_element_wise(column["owner"], pc.fill_null(began.cast(pa.string()), "0"), "/")
    out = table.set_column(table.column_names.index("user_host"), "user_host", user)
    out = out.set_column(out.column_names.index("argument"), "argument", text)
    out = out.append_column(_DATABASE, pc.if_else(pc.equal(database, ""), pa.scalar(None, pa.string()), database))
    out = out.append_column(_SESSION, session).drop_columns(["thread", "time", "owner"])
    # `PREPARE p FROM …` does not run a statement; EXECUTE is logged twice: itself, and the statement it executes.
    is_run = pc.fill_null(pc.is_in(command, _RUNS), False)
    runs = pc.and_(is_run, pc.invert(pc.match_substring_regex(argument, _PREPARES)))
    return _with_rollbacks(out, pc.if_else(is_run, argument, pa.scalar(None, pa.string())), runs)


def _with_rollbacks(rows: Any, sql: Any, runs: Any) -> Any:
    """Return the rows that are runs, and a row `ROLLBACK` for each session that ends with an open transaction."""
    session = _flat(rows.column(_SESSION))
    command = coercion.trimmed(_flat(rows.column("command_type")))
    begins = starts(session)
    quits = pc.fill_null(pc.equal(command, "Quit"), False)
    # `Change user` or `Reset Connection` is the first row of the next session on the same connection.
    previous = pa.concat_arrays([pa.nulls(1, session.type), session]).slice(0, len(session))
    owners = [pc.replace_substring_regex(one, "/[^/]*$", "") for one in (previous, session)]
    follows = pc.and_(begins, pc.fill_null(pc.equal(*owners), False))
    anew = pc.and_(pc.fill_null(pc.is_in(command, _ANEW), False), follows)
    at = find_unfinished(sql, pc.or_(quits, anew), begins)
    if not at:
        return rows.filter(runs)
    is_end = pc.is_in(pa.array(range(rows.num_rows)), value_set=pa.array(at))
    texts = {
        "command_type": pc.if_else(is_end, "Query", command),
        "argument": pc.if_else(is_end, "ROLLBACK", coercion.texts(_flat(rows.column("argument")))),
        _SESSION: pc.if_else(pc.and_(is_end, anew), previous, session),
    }
    for name, values in texts.items():
        rows = rows.set_column(rows.column_names.index(name), name, values)
    return rows.filter(pc.or_(runs, is_end))


def _decode(argument: Any) -> Any:
    """Return the arguments as text; BLOBs exported as hexadecimal or base64 are decoded."""
    argument = coercion.readable(argument)
    texts = coercion.strings(argument)
    is_blob = pc.fill_null(pc.match_substring_regex(texts, _BLOB), False)
    if not pc.any(is_blob, min_count=0).as_py():
        return argument
    return pc.if_else(is_blob, pa.array([_blob(text) for text in texts.to_pylist()], pa.string()), texts)


def _blob(text: str | None) -> str | None:
    if text is None or not re.match(_BLOB, text):
        return text
    try:
        raw = bytes.fromhex(text[2:]) if text[:2].lower() == "0x" else b64decode(text.split(":", 2)[2], validate=True)
        return raw.decode()
    except ValueError:
        return text


def _convert(every: SourceRows) -> Any:
    log = every.where(pc.is_in(every.trimmed("command_type"), _RUNS))
    return log.batch(
        query_text=log.statement("argument"),
        started_at=log.time("event_time"),
        position=log.count(POSITION),
        user=users_of(log.text("user_host")),
        session=log.text(_SESSION, "thread_id"),
        default_schema=log.text(_DATABASE),
        status=str(Status.UNKNOWN),
    )


def users_of(hosts: Any) -> Any:
    """Return the users of `root[root] @ localhost []`, as in tables and the slow log, or of Connect's `root@localhost`.

    >>> users_of(pa.array(["ana@corp.com[ana@corp.com] @ [10.0.0.5]", "ana@corp.com@localhost", "ana"])).to_pylist()
    ['ana@corp.com', 'ana@corp.com', 'ana']
    """
    return coercion.texts(pc.replace_substring_regex(hosts, r"^(.*?)\s*(?:\[.*\] @ .*|@[^@\[\]]*)$", r"\1"))


def _flat(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


MYSQL = Source(
    name="mysql",
    title="MySQL general query log",
    dialect="mysql",
    columns=("event_time", "user_host", "thread_id", "server_id", "command_type", "argument"),
    needed=("argument",),
    convert=_convert,
    known_by=(("command_type", "argument"),),
    reading=Reading(
        "records",
        record_start=RECORD_START,
        records=_records,
        preamble=_BANNER.pattern,
        layouts=(_TABLE,),
        placed=True,
        rotated=True,
    ),
    assembly=Assembly(by=("thread_id",), order=(POSITION, "event_time"), rows=_assemble),
    jdbc="SELECT CONVERT_TZ(event_time, @@session.time_zone, '+00:00') AS event_time, user_host, thread_id, server_id, "
    "command_type, CONVERT(argument USING utf8mb4) AS argument FROM mysql.general_log "
    "WHERE event_time >= CONVERT_TZ('{since}', '+00:00', @@session.time_zone)",
    documentation=(
        "https://dev.mysql.com/doc/refman/8.4/en/query-log.html",
        "https://mariadb.com/kb/en/general-query-log/",
    ),
)

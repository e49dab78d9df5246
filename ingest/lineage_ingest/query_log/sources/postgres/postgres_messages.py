"""PostgreSQL's server log, with the SQL inside `message`. Shared by csvlog, jsonlog and stderr.

https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-WHAT

The content depends on the settings, and one run may be several rows:
- log_min_duration_statement: `duration: 12.3 ms  statement: SELECT …`, after the statement succeeds.
- log_statement: `statement: SELECT …` before the statement runs, and with log_duration a separate row
  `duration: 12.3 ms` after it.
- Extended query protocol: `execute NAME: SELECT … $1`. `parse NAME: …` and `bind NAME: …` are not runs, and
  `execute fetch from NAME/PORTAL: …` continues a run. The parameters are in `detail`; they are not read, because they
  do not affect lineage and are often personal data.
- The statement EXECUTE: `statement: EXECUTE q(1)`, with `prepare: PREPARE q AS SELECT …` in `detail`; the prepared
  statement is what ran. PREPARE itself is not a run.
- An error: a row of severity ERROR with the statement in `query` (csvlog) or `statement` (jsonlog). With log_statement
  the statement was also logged before it ran. SQLSTATE 57014 is a cancelled statement.
- COMMIT after an error in the transaction: the server rolls back but logs COMMIT. It is read as ROLLBACK.
- With log_min_error_statement above ERROR, an error does not contain its statement: it belongs to the preceding
  statement that has not ended.

So the rows of a session are read together, ordered by line number. They cannot be ordered by time: a start time is the
time of the row, in milliseconds, minus the duration. Texts are not cut (pg_stat_activity cuts them, at
track_activity_query_size).
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.reading.time_columns import times
from lineage_ingest.query_log.sources.postgres.postgres_extensions import statements_of_extensions
from lineage_ingest.query_log.sources.postgres.postgres_transactions import find_rollbacks, is_row
from lineage_ingest.query_log.sources.postgres.postgres_zones import with_stated_zones
from lineage_ingest.query_log.sources.runs import last_before, starts
from lineage_ingest.query_log.sources.source import SourceRows

__all__ = ["assemble_messages", "convert_messages"]

_SAID = (
    r"^(?:duration: (?P<ms>\d+(?:\.\d+)?) ms)?(?:\s*(?P<what>statement|parse|bind|execute fetch from|execute)"
    r"(?: [^:\n]*)?: )?"
)
_HEAD = 400  # maximum length of the text before the SQL
_PREPARED = r"(?is)^\s*prepare: PREPARE\s+(?:\"[^\"]*\"|[^\s(]+)\s*(?:\([^)]*\))?\s+AS\s+(?P<sql>.*)$"
_CANNOT_FAIL = r"(?i)^\s*(?:begin|start|rollback|abort|savepoint|set|reset|show|discard|deallocate)\b"
_PREPARES = r"(?i)^\s*prepare\s"
_OF_TWO = r"(?i)^\s*prepare\s+transaction\b"
_RUNS = pa.array(["statement", "execute"])
_ERRORS = pa.array(["ERROR", "FATAL", "PANIC"])
_FATAL = pa.array(["FATAL", "PANIC"])
_QUERY_CANCELED = "57014"
_NOTHING = pa.scalar(None, pa.string())
_BEFORE = "run_before"
"""Added by `assemble_messages`: the end of the session's previous run."""


def convert_messages(every: SourceRows, names: dict[str, str], *, numbered: bool = True) -> Any:
    """Return the runs in the server log as a batch of the log schema.

    Args:
        every: rows of the server log.
        names: maps csvlog's column names to those of this log format.
        numbered: whether the server wrote the line numbers, so that they can identify statements.
    """
    kept = _Parts(every.text("message"))
    failed = pc.fill_null(pc.is_in(every.trimmed("error_severity"), _ERRORS), False)
    of_a_statement = pc.and_(failed, pc.is_valid(every.text(names["query"])))
    unread = pc.is_null(every.text("message"))
    log = every.where(pc.or_(pc.or_(kept.is_run, of_a_statement), unread))
    found = _Parts(log.text("message"))
    failed = pc.fill_null(pc.is_in(log.trimmed("error_severity"), _ERRORS), False)
    canceled = pc.fill_null(pc.equal(log.trimmed(names["sql_state_code"]), _QUERY_CANCELED), False)
    whole = log.statement("message")  # values that are not text are noted here
    shown, _junk = coercion.statement_texts(pc.coalesce(found.sql, log.text(names["query"])))
    prepared = pc.extract_regex(log.text("detail"), _PREPARED)
    ran = pc.if_else(pc.and_(pc.is_valid(prepared), pc.is_valid(whole)), prepared.field(0), shown)
    status = pc.if_else(failed, pc.if_else(canceled, str(Status.CANCELED), str(Status.FAILED)), str(Status.SUCCESS))
    duration = coercion.count_of(found.ms, scale=1_000)
    # A row is written when its statement has ended. The start is that time minus the duration, but not before the end
    # of the previous run.
    written = log.time(names["log_time"])
    end = written.cast(pa.int64())
    began = pc.subtract(end, pc.fill_null(duration, 0))
    if log.has(_BEFORE):
        freed = times(log.column(_BEFORE), log.source.zone, None, log.source.time_formats).cast(pa.int64())
        freed = pc.coalesce(pc.min_element_wise(freed, end, skip_nulls=False), began)
        began = pc.max_element_wise(began, freed, skip_nulls=False)
    line = log.text(names["session_line_num"])
    session = log.text("session_id")
    return log.batch(
        query_text=ran,
        statement_id=pc.binary_join_element_wise(session, line, "/") if numbered else None,
        started_at=began.cast(written.type),
        position=log.count(names["session_line_num"]),
        duration_us=duration,
        user=log.text(names["user_name"]),
        session=session,
        default_database=log.text(names["database_name"]),
        status=status,
    )


def assemble_messages(table: Any, names: dict[str, str]) -> Any:
    """Return the rows of the server log with the rows of each run merged into one row in the same format."""
    table = _in_order(table, names)
    began = _column(table, names["session_start_time"])
    dated = with_stated_zones(_column(table, names["log_time"]), began, _column(table, "session_id"))
    table = _put(table, names["log_time"], dated)
    sessions = _column(table, "session_id")
    message = coercion.texts(_column(table, "message"))
    message = statements_of_extensions(message, sessions, _Parts(message).is_run)
    parts = _Parts(message)
    shown = coercion.texts(_column(table, names["query"]))
    severity = coercion.trimmed(_column(table, "error_severity"))
    failed = pc.fill_null(pc.is_in(severity, _ERRORS), False)
    begins = starts(sessions)
    run = pc.and_(parts.is_run, pc.invert(failed))
    alone = pc.and_(parts.is_duration, pc.invert(failed))
    before = last_before(run, begins)
    rows = table.num_rows
    # A run has one duration: the one in its row, or the first one logged after it.
    silent = pc.fill_null(pc.is_null(parts.ms).take(before), False)
    lasted = _first(before, pc.and_(alone, silent), rows)
    # An error belongs to the previous statement if it has the same text, or if it has none and that has not ended.
    same = pc.fill_null(
        pc.equal(pc.utf8_trim_whitespace(shown), pc.utf8_trim_whitespace(parts.sql.take(before))), False
    )
    bare = pc.and_(pc.fill_null(pc.equal(severity, "ERROR"), False), pc.is_null(shown))
    # A statement that cannot be parsed fails before its `execute` is logged: the error is not the previous statement's.
    parsed = pc.fill_null(pc.equal(parts.what, "execute").take(before), False)
    state = coercion.trimmed(_column(table, names["sql_state_code"]))
    # Without %e in the prefix, a cancellation is recognized by its message.
    canceled = pc.and_(failed, pc.fill_null(pc.starts_with(message, "canceling statement due to "), False))
    state = pc.coalesce(state, pc.if_else(canceled, _QUERY_CANCELED, _NOTHING))
    table = _put(table, names["sql_state_code"], state)
    bare = pc.and_(bare, pc.invert(pc.and_(parsed, pc.fill_null(pc.starts_with(state, "42"), False))))
    fails = pc.invert(pc.match_substring_regex(pc.fill_null(parts.sql, ""), _CANNOT_FAIL))
    bare = pc.and_(bare, pc.fill_null(fails.take(before), False))
    ended = pc.fill_null(pc.less(lasted.take(before), pa.array(range(rows), pa.int64())), False)
    same = pc.or_(same, pc.and_(pc.and_(bare, silent), pc.invert(ended)))
    broke = _first(before, pc.and_(failed, same), rows)
    spent = pc.or_(pc.and_(alone, pc.is_valid(before)), pc.and_(failed, same))
    gone = pc.or_(pc.is_in(severity, _FATAL), pc.fill_null(pc.starts_with(message, "disconnection: "), False))
    sql = pc.if_else(pc.and_(failed, pc.invert(spent)), shown, pc.if_else(run, parts.sql, _NOTHING))
    undone = is_row(find_rollbacks(sql, pc.or_(failed, pc.is_valid(broke)), gone, begins), rows)
    message = pc.if_else(undone, "statement: ROLLBACK", message)
    prefix = pc.binary_join_element_wise("duration: ", pc.fill_null(parts.ms.take(lasted), ""), " ms  ", "")
    message = pc.if_else(pc.is_valid(lasted), pc.binary_join_element_wise(prefix, message, ""), message)
    table = _put(table, "message", message)
    # A statement logged before it ran has no end: take the time of its duration row.
    time = _column(table, names["log_time"])
    time = pc.if_else(pc.is_valid(lasted), time.take(lasted), time)
    table = _put(table, names["log_time"], time)
    for name, well in (("error_severity", "LOG"), (names["sql_state_code"], "00000")):
        column = coercion.texts(_column(table, name))
        ended_so = pc.if_else(pc.is_valid(broke), column.take(broke), column)
        table = _put(table, name, pc.if_else(undone, well, ended_so))
    earlier = pc.if_else(begins, pa.scalar(None, pa.int64()), _shift(before))
    table = _put(table, _BEFORE, time.take(earlier))
    return table.filter(pc.or_(pc.invert(spent), undone))


def _in_order(table: Any, names: dict[str, str]) -> Any:
    """Return the rows by session, in the order of their line numbers, without duplicates.

    Sessions of two servers can have the same id; client addresses distinguish them.
    """
    session = coercion.texts(_column(table, "session_id"))
    number = coercion.count_of(_column(table, names["session_line_num"]))
    client = coercion.texts(_column(table, names["connection_from"]))
    if (port := names.get("remote_port")) is not None:
        client = pc.binary_join_element_wise(client, pc.fill_null(coercion.texts(_column(table, port)), ""), ":")
    if client.null_count < len(client):
        clients = (
            pa.table({"session": session, "client": client})
            .group_by("session")
            .aggregate([("client", "count_distinct")])
        )
        shared = clients.filter(pc.greater(clients["client_count_distinct"], 1))["session"]
        if len(shared):
            named = pc.binary_join_element_wise(session, pc.fill_null(client, ""), " ")
            session = pc.if_else(pc.is_in(session, value_set=shared.combine_chunks()), named, session)
    table = _put(table, "session_id", session)
    table = table.take(
        pc.sort_indices(
            pa.table({"session": session, "number": number}), [("session", "ascending"), ("number", "ascending")]
        )
    )
    compared = ("session_id", names["session_line_num"], names["log_time"], "message")
    keys = [coercion.strings(_column(table, name)) for name in compared]
    numbered = pc.and_(pc.is_valid(keys[0]), pc.is_valid(keys[1]))
    again = pc.and_(numbered, pc.invert(starts(*keys)))
    return table.filter(pc.invert(again)) if pc.any(again, min_count=0).as_py() else table


class _Parts:
    """The duration, kind and SQL of each message; `is_run` marks those that are runs of a statement."""

    def __init__(self, message: Any) -> None:
        # Match groups on the head only, and remove it from the message: a group for the SQL takes ten times as long.
        found = pc.extract_regex(pc.utf8_slice_codeunits(message, 0, _HEAD), _SAID)
        self.ms, self.what = _group_or_null(found, 0), _group_or_null(found, 1)
        rest = pc.replace_substring_regex(message, _SAID, "", max_replacements=1)
        # A duration is followed by a statement or by nothing; other messages with that beginning are not runs.
        self.sql = pc.if_else(pc.is_valid(self.what), rest, pa.scalar(None, pa.string()))
        prepares = pc.and_(
            pc.match_substring_regex(self.sql, _PREPARES), pc.invert(pc.match_substring_regex(self.sql, _OF_TWO))
        )
        self.is_run = pc.and_(pc.fill_null(pc.is_in(self.what, _RUNS), False), pc.invert(pc.fill_null(prepares, False)))
        self.is_duration = pc.fill_null(
            pc.and_(pc.and_(pc.is_valid(self.ms), pc.is_null(self.what)), pc.equal(rest, "")), False
        )


def _group_or_null(found: Any, number: int) -> Any:
    """Return a group of a match; null if the group is empty."""
    column = found.field(number)
    return pc.if_else(
        pc.and_(pc.is_valid(found), pc.greater(pc.binary_length(column), 0)), column, pa.scalar(None, pa.string())
    )


def _first(owner: Any, mask: Any, rows: int) -> Any:
    """Return for each row the index of the first masked row whose owner it is; else null."""
    pairs = pa.table({"owner": owner, "number": pa.array(range(rows), pa.int64())}).filter(mask)
    firsts = pairs.group_by("owner").aggregate([("number", "min")])
    at = pc.index_in(pa.array(range(rows), pa.int64()), firsts.column("owner").combine_chunks())
    return firsts.column("number_min").combine_chunks().take(at)


def _shift(values: Any) -> Any:
    """Return the values shifted by one row; the first is null."""
    return pa.concat_arrays([pa.nulls(1, values.type), values]).slice(0, len(values))


def _column(table: Any, name: str) -> Any:
    if name not in table.column_names:
        return pa.nulls(table.num_rows, pa.string())
    column = table.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _put(table: Any, name: str, values: Any) -> Any:
    if name not in table.column_names:
        return table.append_column(name, values)
    return table.set_column(table.column_names.index(name), name, values)

"""Spark's event log: JSON, one event per line, one file per application.

https://spark.apache.org/docs/latest/monitoring.html (spark.eventLog.enabled)

Two kinds of events contain a statement's text: those of Thrift server operations (`statement`, with user and session),
and SparkListenerSQLExecutionStart. The `description` of the latter is the text if the program set it (spark-sql does;
others can with spark.sparkContext.setJobDescription); otherwise it is a call site, which is not a statement. The fields
are documented only by the listener classes in Spark's source:
sql/core/…/execution/ui/SQLListener.scala, sql/hive-thriftserver/…/ui/HiveThriftServer2EventManager.scala

From Spark 4 an application's log is a folder `eventlog_v2_ID` of files `events_NUMBER_ID.zstd`, rolled over at 128 MB.
The files of an application are read as one log; files that Spark has compacted are skipped.

Traps:
- The start and the end of a run are two events, joined by id within the file; a run without an end is still running.
- Both kinds of events log what the Thrift server runs; the execution of a known statement is skipped.
- A command inside a statement (the write of a CTAS) is a separate execution; `rootExecutionId` is the statement's.
- A program that reads a command's result (`spark.sql("INSERT …").collect()`) creates another execution with the same
  text, whose plan only returns the result; it is skipped.
- `errorMessage` at the end exists from 3.4: before that, a failed execution cannot be distinguished from a success.
- Nearly all lines are events of tasks and stages; only relevant lines are parsed as JSON.
- spark.sql.event.truncate.length (unlimited by default) cuts the text of an execution, without a mark; the environment
  event contains its value.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.sources.json_lines import nested
from lineage_ingest.query_log.sources.source import CORRUPT, FILE, LINE, POSITION, Assembly, Reading, Source, SourceRows

__all__ = ["SPARK"]

_OF_INTEREST = (
    r"SparkListener(?:SQLExecution(?:Start|End)|ThriftServerOperation\w+|ApplicationStart|EnvironmentUpdate)\b"
)
_VERB = (
    r"(?is)^\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*\(*\s*(?:SELECT|WITH|INSERT|CREATE|MERGE|UPDATE|DELETE|DROP|ALTER|FROM|"
    r"REPLACE|TRUNCATE|USE|SET|CACHE|UNCACHE|REFRESH|LOAD|VALUES|TABLE|EXPLAIN|DESC|DESCRIBE|SHOW|ANALYZE|MSCK|COMMENT|"
    r"EXECUTE|DECLARE|CALL|GRANT|REVOKE|MAP|REDUCE)\b"
)
_CUT_AT = "spark.sql.event.truncate.length"
_RUNS = ("statement", "id", "root", "start", "end", "user", "session", "status", "position", "cut")
_RESULTS = frozenset(("CommandResult", "LocalTableScan"))
"""Plan nodes that only return an existing result: that of a command, or constants."""
_ENDS = {"Finish": Status.SUCCESS, "Error": Status.FAILED, "Canceled": Status.CANCELED, "Timeout": Status.CANCELED}


def _assemble(table: Any) -> Any:
    """Return the runs in the events of complete files, one row per run."""
    log = SourceRows(table, SPARK)
    file, line, position = log.text(FILE), log.text(LINE), log.count(POSITION)
    wanted = pc.fill_null(pc.match_substring_regex(line, _OF_INTEREST), False)
    events = pa.table({"file": pc.fill_null(file, ""), "line": line, "position": position}).filter(wanted)
    events = events.sort_by([("file", "ascending"), ("position", "ascending")])
    runs: list[dict[str, Any]] = []
    current: str | None = None
    application = _Application()
    for name, text, number in zip(*(events.column(c).to_pylist() for c in ("file", "line", "position")), strict=True):
        if name != current:
            runs.extend(application.runs())
            current, application = name, _Application()
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict) and isinstance(event.get("Event"), str):
            application.take(event, number)
        else:
            runs.append({CORRUPT: text})
    runs.extend(application.runs())
    junk = pc.and_(pc.is_valid(log.column(LINE)), pc.is_null(line))
    runs.extend({CORRUPT: "not text"} for _ in range(pc.sum(junk).as_py() or 0))
    return pa.table({name: _texts([run.get(name) for run in runs]) for name in (*_RUNS, CORRUPT)})


class _Application:
    """Collects the runs of one application from its events."""

    def __init__(self) -> None:
        self._user: Any = None
        self._id = ""
        self._cut_at: int | None = None
        self._executions: dict[Any, dict[str, Any]] = {}
        self._operations: dict[Any, dict[str, Any]] = {}

    def take(self, event: dict[str, Any], position: int | None) -> None:
        kind = event["Event"].rsplit(".", 1)[-1].removeprefix("SparkListener")
        if kind == "ApplicationStart":
            self._user, self._id = event.get("User"), str(event.get("App ID") or "")
        elif kind == "EnvironmentUpdate":
            limit = nested(event, "Spark Properties", _CUT_AT)
            self._cut_at = int(limit) if isinstance(limit, str) and limit.isdecimal() else None
        elif kind == "SQLExecutionStart":
            text = event.get("description")
            self._executions[_key(event.get("executionId"))] = {
                "statement": text,
                "cut": self._cut_at is not None and len(str(text)) >= self._cut_at,
                "id": event.get("executionId"),
                "root": event.get("rootExecutionId"),
                "plan": nested(event, "sparkPlanInfo", "nodeName"),
                "start": event.get("time"),
                "user": self._user,
                "status": Status.RUNNING,
                "position": position,
            }
        elif kind == "SQLExecutionEnd":
            failed = bool(event.get("errorMessage"))
            self._end(
                self._executions,
                event.get("executionId"),
                Status.FAILED if failed else Status.SUCCESS,
                event.get("time"),
            )
        elif kind == "ThriftServerOperationStart":
            self._operations[_key(event.get("id"))] = {
                "statement": event.get("statement"),
                "id": event.get("id"),
                "start": event.get("startTime"),
                "user": event.get("userName"),
                "session": event.get("sessionId"),
                "status": Status.RUNNING,
                "position": position,
            }
        elif (end := _ENDS.get(kind.removeprefix("ThriftServerOperation"))) is not None:
            self._end(self._operations, event.get("id"), end, event.get("finishTime"))

    @staticmethod
    def _end(runs: dict[Any, dict[str, Any]], key: Any, status: Status, time: Any) -> None:
        run = runs.get(_key(key))
        if run is not None and run["status"] is Status.RUNNING:
            run |= {"status": status, "end": time}

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs: the Thrift server's operations, and the executions that do not belong to one of them."""
        known = {str(run["statement"])[: self._cut_at].strip() for run in self._operations.values()}
        found = list(self._operations.values())
        computed: set[str] = set()
        for key, run in self._executions.items():
            if run["plan"] not in _RESULTS:
                computed.add(str(run["statement"]))
            elif str(run["statement"]) in computed:
                continue
            root = _key(run["root"])
            inner = run["root"] is not None and root != key and root in self._executions
            if not inner and str(run["statement"]).strip() not in known:
                found.append({**run, "id": f"{self._id}/{run['id']}" if self._id else run["id"], "session": self._id})
        return found


def _key(value: Any) -> str:
    return str(value)


def _convert(every: SourceRows) -> Any:
    if every.has(LINE):  # a batch of lines, not assembled
        every = SourceRows(_assemble(every.table()), every.source)
    statement = every.text("statement")
    is_sql = pc.fill_null(pc.match_substring_regex(statement, _VERB), False)
    log = every.where(is_sql)
    text = log.statement("statement")
    started, ended = log.time("start", unit="ms"), log.time("end", unit="ms")
    return log.batch(
        query_text=text,
        statement_id=log.text("id"),
        started_at=started,
        position=log.count("position"),
        duration_us=pc.subtract(ended.cast(pa.int64()), started.cast(pa.int64())),
        user=log.text("user"),
        session=log.text("session"),
        status=log.text("status"),
        truncated=log.flag("cut"),
    )


def _texts(values: list[Any]) -> Any:
    read = [None if v is None else v if type(v) is str else str(v) for v in values]
    try:
        return pa.array(read, pa.string())
    except UnicodeEncodeError:
        return coercion.texts(pa.array([None if v is None else v.encode("utf-8", "surrogatepass") for v in read]))


SPARK = Source(
    name="spark",
    title="Spark event log",
    dialect="spark",
    columns=(LINE,),
    needed=(LINE,),
    convert=_convert,
    known_by=(("event",),),
    reading=Reading(
        "lines",
        only=_OF_INTEREST,
        mark='"Event":',
        part=r"events_(?P<number>\d+)_(?P<log>.+)",
        placed=True,
    ),
    assembly=Assembly(by=(FILE,), order=(POSITION,), rows=_assemble),
    documentation=("https://spark.apache.org/docs/latest/monitoring.html",),
)

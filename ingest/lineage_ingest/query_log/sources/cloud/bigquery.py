"""BigQuery's INFORMATION_SCHEMA.JOBS.

https://cloud.google.com/bigquery/docs/information-schema-jobs

Traps:
- A script has one row with its full text and one row per statement (`parent_job_id`). If the log has statement rows,
  the script's row is skipped; otherwise its statements would count twice.
- A SELECT can write its result to a table that only `destination_table` names. By default this is a temporary table in
  a hidden dataset (`_…`).
- The destination `table$20260301` is a partition: the table's other rows are kept.
- There is no default dataset; the project is `project_id`.
- Legacy SQL is a different language and is not parsed.
- Load, copy and extract jobs have no text. A copy job names its destination and usually its sources; it is read as a
  SELECT * from them. The other jobs are rows with a problem.
- In CSV, the fields of a nested column (`destination_table`) are separate columns: `destination_table.project_id`.
- Only JOBS and JOBS_BY_PROJECT have `query`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.names import bigquery_table, format_name, split_name
from lineage_ingest.query_log.log_schema import Problem, Status
from lineage_ingest.query_log.sources.json_lines import nested
from lineage_ingest.query_log.sources.source import Source, SourceRows

__all__ = ["BIGQUERY", "copy_query", "is_legacy", "written_table"]

_COLUMNS = (
    "creation_time",
    "start_time",
    "end_time",
    "project_id",
    "user_email",
    "job_id",
    "job_type",
    "statement_type",
    "state",
    "error_result",
    "query",
    "query_dialect",
    "destination_table",
    "referenced_tables",
    "parent_job_id",
    "session_info",
    "dml_statistics",
)


def is_legacy(text: Any, dialect: Any) -> Any:
    """Return a mask of the queries in legacy SQL, according to the job or the query's first line."""
    by_job = pc.is_in(dialect, pa.array(["LEGACY_SQL", "DEFAULT_LEGACY_SQL"]))
    return pc.or_(by_job, pc.fill_null(pc.match_substring_regex(text, r"(?i)^\s*#legacysql\b"), False))


def _convert(log: SourceRows) -> Any:
    statement = log.trimmed("statement_type")
    no_query = pc.fill_null(pc.not_equal(log.trimmed("job_type"), "QUERY"), False)
    text = log.statement("query")
    copies = pc.fill_null(pc.equal(log.trimmed("job_type"), "COPY"), False)
    if pc.any(copies, min_count=0).as_py():
        made = [
            copy_query(written_table(_name_parts(table)) for table in tables)
            if copy and isinstance(tables, list)
            else None
            for copy, tables in zip(copies.to_pylist(), log.objects("referenced_tables"), strict=True)
        ]
        text = pc.if_else(no_query, pa.array(made, pa.string()), text)
    log.note(Problem.NOT_A_QUERY, pc.and_(no_query, pc.is_null(text)))
    log.note(Problem.LEGACY_SQL, is_legacy(text, log.trimmed("query_dialect")))
    started, ended, created = log.time("start_time"), log.time("end_time"), log.time("creation_time")
    parent = log.text("parent_job_id")
    session = pa.array([_text(nested(info, "session_id")) for info in log.objects("session_info")], pa.string())
    writes = pc.or_(copies, pc.fill_null(pc.equal(statement, "SELECT"), False)).to_pylist()
    destination = [
        written_table(_name_parts(table)) if write else None
        for table, write in zip(log.objects("destination_table"), writes, strict=True)
    ]
    status = [
        _status(state, error)
        for state, error in zip(log.trimmed("state").to_pylist(), log.objects("error_result"), strict=True)
    ]
    return log.batch(
        query_text=text,
        statement_id=log.text("job_id"),
        parent_id=parent,
        is_script=pc.equal(statement, "SCRIPT"),
        started_at=pc.coalesce(started, created),
        duration_us=pc.subtract(ended.cast(pa.int64()), started.cast(pa.int64())),
        user=log.text("user_email"),
        session=pc.coalesce(session, parent),
        default_database=log.text("project_id"),
        status=pa.array(status, pa.string()),
        rows=pa.array([_changed_row_count(found) for found in log.objects("dml_statistics")], pa.int64()),
        destination=pa.array([one and one[0] for one in destination], pa.string()),
        appends=pa.array([one and one[1] for one in destination], pa.bool_()),
    )


def _name_parts(table: Any) -> list[Any]:
    return [nested(table, name) for name in ("project_id", "dataset_id", "table_id")]


def copy_query(tables: Iterable[tuple[str, bool | None] | None]) -> str | None:
    """Return the query that copies tables, given as results of `written_table`; None if one of them is None.

    >>> copy_query([("p.d.one", None), ("p.d.two", True)])
    'SELECT * FROM `p`.`d`.`one` UNION ALL SELECT * FROM `p`.`d`.`two`'
    """
    names: list[str] = []
    for table in tables:
        if table is None:
            return None
        names.append(".".join(f"`{part.replace('`', '')}`" for part, _ in split_name(table[0])))
    return " UNION ALL ".join(f"SELECT * FROM {name}" for name in names) or None  # noqa: S608  it is read, never run


def _status(state: str | None, error: Any) -> str | None:
    if state in ("PENDING", "RUNNING"):
        return str(Status.RUNNING)
    if state != "DONE":
        return None
    if not isinstance(error, dict) or not any(error.values()):
        return str(Status.SUCCESS)
    return str(Status.CANCELED if error.get("reason") == "stopped" else Status.FAILED)


def written_table(parts: Iterable[Any]) -> tuple[str, bool | None] | None:
    """Return the table that a result was written to, and True if its other rows are kept; None if it is temporary.

    `parts` are the project, dataset and table name. Other rows are kept if the target is a partition or a shard;
    otherwise this is unknown, and the second value is None.

    >>> written_table(["p", "d", "orders$20240131"]), written_table(["p", "d", "t"]), written_table(["p", "_anon", "x"])
    (('p.d.orders', True), ('p.d.t', None), None)
    """
    project, dataset, table = (part if isinstance(part, str) else "" for part in parts)
    if not (project and dataset and table) or dataset.startswith("_"):
        return None
    whole = bigquery_table(table)
    return format_name([project, dataset, whole]), True if whole != table else None


def _changed_row_count(statistics: Any) -> int | None:
    counts = [nested(statistics, f"{verb}_row_count") for verb in ("inserted", "updated", "deleted")]
    whole = [int(count) for count in counts if isinstance(count, int) or (isinstance(count, str) and count.isdecimal())]
    total = sum(whole)
    return total if whole and total < 2**63 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


BIGQUERY = Source(
    name="bigquery",
    title="BigQuery INFORMATION_SCHEMA.JOBS",
    dialect="bigquery",
    columns=_COLUMNS,
    needed=("query",),
    convert=_convert,
    nested=(
        ("destination_table", ("project_id", "dataset_id", "table_id")),
        ("error_result", ("reason", "location", "message")),
        ("session_info", ("session_id",)),
        ("dml_statistics", ("inserted_row_count", "updated_row_count", "deleted_row_count")),
    ),
    has_scripts=True,
    known_by=(("query", "job_id"), ("query", "job_type"), ("query", "statement_type")),
    # The view is regional: users in another region change `region-us` to theirs.
    jdbc="SELECT creation_time, start_time, end_time, project_id, user_email, job_id, job_type, statement_type, state, "
    "TO_JSON_STRING(error_result) AS error_result, query, TO_JSON_STRING(destination_table) AS destination_table, "
    "TO_JSON_STRING(referenced_tables) AS referenced_tables, "
    "parent_job_id, TO_JSON_STRING(session_info) AS session_info, TO_JSON_STRING(dml_statistics) AS dml_statistics "
    "FROM `region-us`.INFORMATION_SCHEMA.JOBS "
    "WHERE creation_time >= TIMESTAMP('{since}', 'UTC')",
    documentation=("https://cloud.google.com/bigquery/docs/information-schema-jobs",),
)

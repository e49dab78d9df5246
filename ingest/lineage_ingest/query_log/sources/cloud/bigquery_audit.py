"""BigQuery's audit log: Cloud Logging entries with BigQueryAuditMetadata, as JSON, one per line.

https://cloud.google.com/bigquery/docs/reference/auditlogs/rest/Shared.Types/BigQueryAuditMetadata

Only `jobInsertion` and `jobChange` entries of completed jobs are read. A log sink to BigQuery tables writes the same
entries as `protopayload_auditlog`, with the metadata as text in `metadataJson`; these are read too.

Traps:
- A job has one entry when it is inserted and one when it completes; the first is skipped unless the job is already
  DONE in it.
- The text is cut at 50,000 characters; `queryTruncated` is then true.
- The statements of a script name it in `parentJobName`; if the log has statement entries, the script's is skipped.
- A copy job names its tables and is read as a SELECT * from them. Load and extract jobs are rows with a problem.
- `errorResult.code` of a failed job is a google.rpc.Code; 1 means cancelled.
- Entries in the older format (`serviceData`, AuditData) are rows with a problem.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Problem, Status
from lineage_ingest.query_log.sources.cloud.bigquery import copy_query, is_legacy, written_table
from lineage_ingest.query_log.sources.json_lines import flatten_documents, nested
from lineage_ingest.query_log.sources.source import CORRUPT, LINE, Reading, Source, SourceRows

__all__ = ["BIGQUERY_AUDIT"]

_FLAT = (
    "query", "truncated", "job", "parent", "start", "end", "user", "project", "dataset", "status", "rows",
    "destination", "appends", "script", "kind",
)  # fmt: skip
_CANCELLED = 1
_OLDER = "AuditData"
_KINDS = ("queryConfig", "tableCopyConfig", "loadConfig", "extractConfig")
"""The fields of a job's configuration; each job has one of them."""


_MARK = r'(?s)^(?!.*"(?:serviceData|servicedata_v1_bigquery)"\s*:\s*\{).*"(?:protoPayload|protopayload_auditlog)"'
"""Matches entries in the current format: a file with only older entries is not a log of this source."""


def _convert(lines: SourceRows) -> Any:
    log = flatten_documents(lines, _FLAT, _flatten)
    text = log.statement("query")
    log.note(Problem.OLDER, pc.fill_null(pc.equal(log.text("kind"), _OLDER), False))
    no_query = pc.fill_null(pc.not_equal(log.text("kind"), "queryConfig"), False)
    log.note(Problem.NOT_A_QUERY, pc.and_(no_query, pc.is_null(text)))
    log.note(Problem.LEGACY_SQL, is_legacy(text, pa.nulls(log.rows, pa.string())))
    started, ended = log.time("start"), log.time("end")
    return log.batch(
        query_text=text,
        statement_id=log.text("job"),
        parent_id=log.text("parent"),
        is_script=log.flag("script"),
        started_at=started,
        duration_us=pc.subtract(ended.cast(pa.int64()), started.cast(pa.int64())),
        user=log.text("user"),
        session=log.text("parent"),
        default_database=log.text("project"),
        default_schema=log.text("dataset"),
        status=log.text("status"),
        rows=log.count("rows"),
        truncated=log.flag("truncated"),
        destination=log.text("destination"),
        appends=log.flag("appends"),
    )


def _flatten(entry: dict[str, Any]) -> dict[str, Any] | None:
    payload = entry.get("protoPayload") or entry.get("protopayload_auditlog")
    metadata = nested(payload, "metadata")
    written = nested(payload, "metadataJson")
    if isinstance(written, str):
        try:
            metadata = json.loads(written)
        except ValueError:
            return {CORRUPT: "metadataJson is not JSON"}
    if any(nested(payload, name) is not None for name in ("serviceData", "servicedata_v1_bigquery")):
        return {"kind": _OLDER}
    job = nested(metadata, "jobChange", "job") or nested(metadata, "jobInsertion", "job")
    kind, config = next(
        ((kind, found) for kind in _KINDS if isinstance(found := nested(job, "jobConfig", kind), dict)), ("", {})
    )
    if not kind or nested(job, "jobStatus", "jobState") != "DONE":
        return None
    name = _parts(nested(job, "jobName"))
    dataset = _parts(config.get("defaultDataset"))
    error = nested(job, "jobStatus", "errorResult")
    return {
        "kind": kind,
        "query": _copy_query_text(config) if kind == "tableCopyConfig" else config.get("query"),
        "script": str(config.get("statementType") == "SCRIPT").lower(),
        "truncated": config.get("queryTruncated"),
        "job": name.get("jobs"),
        "parent": _parts(nested(job, "jobStats", "parentJobName")).get("jobs"),
        "start": nested(job, "jobStats", "startTime") or nested(job, "jobStats", "createTime"),
        "end": nested(job, "jobStats", "endTime"),
        "user": nested(payload, "authenticationInfo", "principalEmail"),
        "project": dataset.get("projects") or name.get("projects"),
        "dataset": dataset.get("datasets"),
        "status": str(_status(error)),
        "rows": nested(job, "jobStats", "queryStats", "outputRowCount"),
        **_destination(config, copies=kind == "tableCopyConfig"),
    }


def _status(error: Any) -> Status:
    if not isinstance(error, dict) or not error:
        return Status.SUCCESS
    return Status.CANCELED if error.get("code") == _CANCELLED else Status.FAILED


def _copy_query_text(config: dict[str, Any]) -> str | None:
    tables = config.get("sourceTables")
    if not isinstance(tables, list) or config.get("sourceTablesTruncated"):
        return None
    return copy_query(_table(name) for name in tables)


def _table(name: Any) -> tuple[str, bool | None] | None:
    table = _parts(name)
    return written_table(table.get(kind) for kind in ("projects", "datasets", "tables"))


def _destination(config: dict[str, Any], *, copies: bool) -> dict[str, str | None]:
    found = _table(config.get("destinationTable"))
    if not (copies or config.get("statementType") == "SELECT") or found is None:
        return {}
    name, is_partition = found
    appends = is_partition or config.get("writeDisposition") == "WRITE_APPEND"
    return {"destination": name, "appends": str(appends).lower()}


def _parts(name: Any) -> dict[str, str]:
    """Return the parts of a resource name by kind: `projects/p/datasets/d` is projects p and datasets d."""
    if not isinstance(name, str):
        return {}
    parts = name.split("/")
    return dict(zip(parts[::2], parts[1::2], strict=False))


BIGQUERY_AUDIT = Source(
    name="bigquery_audit",
    title="BigQuery audit log",
    dialect="bigquery",
    columns=(LINE,),
    needed=(LINE,),
    convert=_convert,
    known_by=(("protopayload",), ("protopayload_auditlog",)),
    has_scripts=True,
    reading=Reading("lines", mark=_MARK),
    documentation=(
        "https://cloud.google.com/bigquery/docs/reference/auditlogs/rest/Shared.Types/BigQueryAuditMetadata",
    ),
)

"""Lineage in query logs: Snowflake's ACCESS_HISTORY, Trino's query-completed events, Hive's lineage log.

The adapters of the query logs read it into `source_lineage`; their docstrings name the manuals. All of these state
the sources of values. Statements that failed state nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lineage_ingest.compare.opinions import OpinionEdge, ReadRow, UnreadRow, several_origins
from lineage_ingest.compare.product_names import ProductNames
from lineage_ingest.compare.readers.record_files import RecordBatch, read_record_batches
from lineage_ingest.query_log.log_schema import Problem, Status
from lineage_ingest.query_log.sources.cloud.snowflake_access import unnamed_in
from lineage_ingest.query_log.sources.source import Source, SourceRows

__all__ = ["read_engine_log"]

_READ = ("source_lineage", "statement_id", "started_at", "user", "status", "problem")
_RAN = (str(Status.SUCCESS), str(Status.UNKNOWN))
_STATED_IN = "objects_modified"
"""The column of ACCESS_HISTORY that has the lineage; the others have it in their JSON lines."""
_ACCOUNT = "account_locator"
"""In the view of an organization: ORGANIZATION_USAGE.ACCESS_HISTORY."""
_EMPTY = frozenset(("", "null", "none", "\\n"))
_BAD = (str(Problem.UNREADABLE), str(Problem.NOT_TEXT), str(Problem.ABSURD_TIME))


def read_engine_log(source: Source, paths: Sequence[str | Path], names: ProductNames) -> Iterator[ReadRow]:
    """Yield the edges that a query log states.

    Raises:
        NoLogFilesError: a path matches no file.
        ColumnsMissingError: no file is from this source.
    """
    records, stating = 0, 0
    accounts: set[str] = set()
    for record_batch in read_record_batches(source, paths):
        if isinstance(record_batch, UnreadRow):
            yield record_batch
            continue
        rows = SourceRows(record_batch.batch, source)
        accounts.update(filter(None, rows.text(_ACCOUNT).to_pylist()))
        yield from _cut_lineage(record_batch, rows)
        log = source.normalise(record_batch.batch).select(list(_READ))
        records += log.num_rows
        for lineage, run, at, user, status, problem in zip(
            *(column.to_pylist() for column in log.columns), strict=True
        ):
            if problem in _BAD:
                yield UnreadRow(record_batch.file, problem)
            stating += lineage is not None
            if lineage is None or status not in _RAN:
                continue
            for edge in lineage:
                target = names.column(edge["target_table"], edge["target_column"])
                stated = edge["source_table"], edge["source_column"]
                key = None
                if stated[0] is not None:
                    key = names.table(stated[0]) if stated[1] is None else names.column(*stated)
                    target = names.table(edge["target_table"]) if stated[1] is None else target
                yield OpinionEdge(
                    key, target, record_batch.file, False, None, at, run, f"user {user}" if user else None
                )
    if records and not stating:
        reason = f"none of {records:,} records states column lineage: is it the export of {source.title}?"
        yield UnreadRow("", reason, is_error=False)
    if len(accounts) > 1:
        yield several_origins(len(accounts), "accounts", _ACCOUNT)


def _cut_lineage(record_batch: RecordBatch, rows: SourceRows) -> Iterator[UnreadRow]:
    """Yield the records whose lineage is text that is no JSON, as tools cut long cells off, or names not all of it."""
    if not rows.has(_STATED_IN):
        return
    for number, (text, value) in enumerate(
        zip(rows.text(_STATED_IN).to_pylist(), rows.objects(_STATED_IN), strict=True), record_batch.before + 1
    ):
        if value is None and text and text.strip().lower() not in _EMPTY:
            reason = f"its {_STATED_IN} is no JSON"
            yield UnreadRow(f"{record_batch.file}: record {number:,}", reason, "was it cut off? export it again")
        elif unnamed_in(value):
            reason = f"its {_STATED_IN} has a table or column without a name, which is not compared"
            yield UnreadRow(f"{record_batch.file}: record {number:,}", reason)

"""Databricks' system table `system.access.column_lineage`: one record per edge and event, as CSV, JSON or Parquet.

https://docs.databricks.com/aws/en/admin/system-tables/lineage

`table_lineage`, exported likewise, is read as well: it states tables only. Traps:
- A record without a target is a read; one without a source has only the target: table_lineage has both.
- Names are of one metastore, and an account's records may be of several.
- The name is null for data that is read or written by path: `source_path` or `target_path` has it then.
- `entity_type`, `entity_id` and `entity_run_id` are in the records of older exports; newer ones have a struct
  `entity_metadata` beside them, and `statement_id` (the key of `system.query.history`) for SQL warehouses.
- Views, streaming tables and tables are named alike; temporary views are resolved by Databricks.
- Filters and joins are not stated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lineage_ingest.compare.opinions import OpinionEdge, ReadRow, UnreadRow, several_origins
from lineage_ingest.compare.product_names import ProductNames
from lineage_ingest.compare.readers.record_files import RecordBatch, read_record_batches
from lineage_ingest.query_log.sources.source import CORRUPT, Source, SourceRows

__all__ = ["DATABRICKS_LINEAGE", "read_databricks"]

_PARTS = ("table_catalog", "table_schema", "table_name")
_SIDES = ("table_full_name", *_PARTS, "path", "column_name")
_COLUMNS = (
    *(f"source_{name}" for name in _SIDES),
    *(f"target_{name}" for name in _SIDES),
    "event_time", "event_id", "statement_id", "entity_type", "entity_id", "entity_run_id", "entity_metadata",
    "created_by", "metastore_id",
)  # fmt: skip


def _convert(rows: SourceRows) -> Any:
    return rows.batch(query_text=rows.text("target_table_full_name", "target_path", "source_table_full_name"))


DATABRICKS_LINEAGE = Source(
    name="databricks_lineage",
    title="Databricks' column_lineage",
    dialect="databricks",
    columns=_COLUMNS,
    needed=("target_table_full_name", "target_path"),
    convert=_convert,
    known_by=(("source_table_full_name", "target_table_full_name"),),
    documentation=("https://docs.databricks.com/aws/en/admin/system-tables/lineage",),
)


def read_databricks(paths: Sequence[str | Path], names: ProductNames) -> Iterator[ReadRow]:
    """Yield the edges of an export of `system.access.column_lineage`.

    Raises:
        NoLogFilesError: a path matches no file.
        ColumnsMissingError: no file is such an export.
    """
    metastores: set[str] = set()
    for record_batch in read_record_batches(DATABRICKS_LINEAGE, paths):
        if isinstance(record_batch, UnreadRow):
            yield record_batch
        else:
            metastores.update(filter(None, _texts(record_batch, "metastore_id")))
            yield from _edges(record_batch, names)
    if len(metastores) > 1:
        yield several_origins(len(metastores), "metastores", "metastore_id")


def _texts(found: RecordBatch, name: str) -> list[str | None]:
    """Return a column as texts."""
    return list(SourceRows(found.batch, DATABRICKS_LINEAGE).text(name).to_pylist())


def _edges(found: RecordBatch, names: ProductNames) -> Iterator[ReadRow]:
    rows = SourceRows(found.batch, DATABRICKS_LINEAGE)
    texts = {name: rows.text(name).to_pylist() for name in _COLUMNS if name != "event_time"}
    times = rows.time("event_time").to_pylist()
    given = rows.text("event_time").to_pylist()
    corrupt = rows.column(CORRUPT).is_valid().to_pylist() if rows.has(CORRUPT) else [False] * rows.rows
    for index in range(rows.rows):
        place = f"{found.file}: record {found.before + index + 1:,}"
        if corrupt[index]:
            yield UnreadRow(place, "it cannot be read", "export it again")
            continue
        row = {name: values[index] for name, values in texts.items()}
        if given[index] is not None and times[index] is None:
            yield UnreadRow(place, "its event_time cannot be read; the edge is compared without a time")
        target = _table(row, "target", names)
        if target is None:
            continue  # a read that writes nothing
        source = _table(row, "source", names)
        if source is None:
            yield UnreadRow(place, "records of writes without a source (table_lineage has them)", is_error=False)
            continue
        columns = row["source_column_name"], row["target_column_name"]
        if all(columns):
            source, target = (
                names.column_of(key, (str(name),)) for key, name in zip((source, target), columns, strict=True)
            )
        elif any(columns):
            yield UnreadRow(place, "it names a column on one side only")
            continue
        run = row["statement_id"] or row["entity_run_id"] or row["event_id"]
        yield OpinionEdge(source, target, place, False, None, times[index], run, _entity(row))


def _table(row: dict[str, str | None], side: str, names: ProductNames) -> str | None:
    parts = [part for name in _PARTS if (part := row[f"{side}_{name}"])]
    if len(parts) == len(_PARTS):  # a part may have dots and quotes, and the full name has no quotes around it
        return names.table_of(parts)
    name = row[f"{side}_table_full_name"] or row[f"{side}_path"]
    return names.table(name) if name else None


def _entity(row: dict[str, str | None]) -> str | None:
    """Return what ran: the entity of older exports, else what `entity_metadata` names."""
    if row["entity_type"]:
        return " ".join(filter(None, (row["entity_type"].lower(), row["entity_id"])))
    try:
        metadata = json.loads(row["entity_metadata"] or "null")
    except ValueError:
        metadata = None
    if isinstance(metadata, dict):
        for name, value in metadata.items():
            inner = next(iter(value.values()), None) if isinstance(value, dict) else value
            if inner:
                return f"{name.removesuffix('_info').removesuffix('_id').replace('_', ' ')} {inner}"
    return f"user {row['created_by']}" if row["created_by"] else None

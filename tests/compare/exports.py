"""The same stated edges, written as each product documents its export."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.dbt.manifests import manifest, write

Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """An edge that a product states: `wh.shop.orders.amount`, into `wh.mart.daily.total`, when, and how."""

    source: str | None
    target: str
    at: str = "2026-03-01T10:00:01Z"
    influence: bool = False
    run: str = "q1"

    @property
    def ends(self) -> tuple[list[str] | None, list[str]]:
        """The parts of both names."""
        return (None if self.source is None else self.source.split(".")), self.target.split(".")


def snowflake(path: Path, said: Sequence[Said]) -> Path:
    """ACCESS_HISTORY as JSON lines: one row per query, names in capitals as Snowflake keeps them."""
    lines = []
    for run in dict.fromkeys((one.run, one.at) for one in said):
        mine = [one for one in said if (one.run, one.at) == run]
        tables: dict[str, dict[str, list[Json]]] = {}
        for one in mine:
            source, (*table, column) = one.ends
            sources = tables.setdefault(".".join(table).upper(), {}).setdefault(column.upper(), [])
            if source is not None:
                *inner, name = source
                sources.append({"columnName": name.upper(), "objectDomain": "Table", "objectId": 1,
                                "objectName": ".".join(inner).upper()})  # fmt: skip
        modified = [
            {
                "objectDomain": "Table",
                "objectId": 2,
                "objectName": table,
                "columns": [
                    {"columnId": number, "columnName": column, "baseSources": [], "directSources": sources}
                    for number, (column, sources) in enumerate(columns.items(), 1)
                ],
            }
            for table, columns in tables.items()
        ]
        lines.append({"QUERY_ID": run[0], "QUERY_START_TIME": run[1], "USER_NAME": "ETL",
                      "DIRECT_OBJECTS_ACCESSED": [], "BASE_OBJECTS_ACCESSED": [],
                      "OBJECTS_MODIFIED": modified})  # fmt: skip
    return _lines(path / "access_history.jsonl", lines)


def trino(path: Path, said: Sequence[Said]) -> Path:
    """Query-completed events of the HTTP event listener, one per line; an event writes one table."""
    lines = []
    for run, at, table in dict.fromkeys((one.run, one.at, one.target.rpartition(".")[0]) for one in said):
        columns: dict[str, list[Json]] = {}
        for one in said:
            if (one.run, one.at, one.target.rpartition(".")[0]) == (run, at, table):
                sources = columns.setdefault(one.ends[1][-1], [])
                if one.ends[0] is not None:
                    catalog, schema, name, column = one.ends[0]
                    sources.append({"catalog": catalog, "schema": schema, "table": name, "columnName": column})
        catalog, schema, name = table.split(".")
        output = {
            "catalogName": catalog, "schema": schema, "table": name,
            "columns": [{"columnName": key, "columnType": "integer", "sourceColumns": value}
                        for key, value in columns.items()],
        }  # fmt: skip
        lines.append({
            "metadata": {"queryId": run, "query": "INSERT …", "queryState": "FINISHED"},
            "statistics": {"writtenRows": 1}, "context": {"user": "etl", "catalog": "wh", "schema": "shop"},
            "ioMetadata": {"inputs": [], "output": output}, "failureInfo": None,
            "createTime": at, "executionStartTime": at, "endTime": at,
        })  # fmt: skip
    return _lines(path / "events.jsonl", lines)


DATABRICKS_COLUMNS = (
    "account_id", "metastore_id", "workspace_id", "entity_type", "entity_id", "entity_run_id",
    "source_table_full_name", "source_table_catalog", "source_table_schema", "source_table_name", "source_path",
    "source_type", "source_column_name", "target_table_full_name", "target_table_catalog", "target_table_schema",
    "target_table_name", "target_path", "target_type", "target_column_name", "created_by", "event_time", "event_date",
)  # fmt: skip


def databricks_rows(said: Iterable[Said]) -> list[Json]:
    """Records of `system.access.column_lineage`."""
    rows = []
    for one in said:
        source, (*table, column) = one.ends
        assert source is not None
        *inner, name = source
        rows.append({
            "account_id": "7af234db-66d7-4db3-bbf0-956098224879",
            "metastore_id": "5a31ba44-bbf4-4174-bf33-e1fa078e6765", "workspace_id": "1", "entity_type": "JOB",
            "entity_id": "77", "entity_run_id": one.run,
            "source_table_full_name": ".".join(inner), "source_table_catalog": inner[0],
            "source_table_schema": inner[1], "source_table_name": inner[2], "source_path": None,
            "source_type": "TABLE", "source_column_name": name, "target_table_full_name": ".".join(table),
            "target_table_catalog": table[0], "target_table_schema": table[1], "target_table_name": table[2],
            "target_path": None, "target_type": "TABLE", "target_column_name": column, "created_by": "etl@example.com",
            "event_time": one.at, "event_date": one.at[:10],
        })  # fmt: skip
    return rows


def databricks_csv(path: Path, said: Sequence[Said]) -> Path:
    """The same as CSV."""
    file = path / "column_lineage.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, DATABRICKS_COLUMNS)
        writer.writeheader()
        writer.writerows(databricks_rows(said))
    return file


def databricks_json(path: Path, said: Sequence[Said]) -> Path:
    """The same as JSON lines."""
    return _lines(path / "column_lineage.jsonl", databricks_rows(said))


def databricks_parquet(path: Path, said: Sequence[Said]) -> Path:
    """The same as Parquet, with a timestamp."""
    table = pa.Table.from_pylist(databricks_rows(said))
    times = pa.compute.cast(
        table.column("event_time").combine_chunks().cast(pa.timestamp("us", "UTC")), pa.timestamp("us", "UTC")
    )
    pq.write_table(table.set_column(table.column_names.index("event_time"), "event_time", times), path / "l.parquet")
    return path / "l.parquet"


def bigquery(path: Path, said: Sequence[Said]) -> Path:
    """An answer of `searchLinks` of the Data Lineage API, as it is printed."""
    links = [
        {
            "name": f"projects/1/locations/us/links/{one.run}",
            "source": _entity(one.ends[0] or []),
            "target": _entity(one.ends[1]),
            "startTime": one.at,
            "endTime": one.at.replace("Z", ".123456789Z"),
            "dependencyInfo": [{"dependencyType": "EXACT_COPY"}],
        }
        for one in said
    ]
    file = path / "links.json"
    file.write_text(json.dumps({"links": links, "nextPageToken": "x"}, indent=2), encoding="utf-8")
    return file


def _entity(parts: list[str]) -> Json:
    return {"fullyQualifiedName": f"bigquery:{'.'.join(parts[:3])}", "field": parts[3:]}


def openlineage(path: Path, said: Sequence[Said]) -> Path:
    """Events with the facet columnLineage."""
    events = []
    for run, at, table in dict.fromkeys((one.run, one.at, one.target.rpartition(".")[0]) for one in said):
        fields: dict[str, Json] = {}
        for one in said:
            if (one.run, one.at, one.target.rpartition(".")[0]) == (run, at, table) and one.ends[0] is not None:
                *inner, name = one.ends[0]
                kind = {"type": "INDIRECT", "subtype": "FILTER"} if one.influence else {"type": "DIRECT"}
                fields.setdefault(one.ends[1][-1], {"inputFields": []})["inputFields"].append(
                    {"namespace": "postgres://db:5432", "name": ".".join(inner), "field": name,
                     "transformations": [{**kind, "description": "", "masking": False}]}
                )  # fmt: skip
        facet = {"_producer": "https://example.org", "_schemaURL": "https://example.org", "fields": fields}
        output = {"namespace": "postgres://db:5432", "name": table, "facets": {"columnLineage": facet}}
        events.append({"eventType": "COMPLETE", "eventTime": at, "run": {"runId": run}, "inputs": [],
                       "job": {"namespace": "etl", "name": "daily"}, "outputs": [output]})  # fmt: skip
    return _lines(path / "events.ndjson", events)


def dbt(target: Path, nodes: Sequence[Json], said: Sequence[Said], at: str) -> Path:
    """A target folder: its manifest, and `dbt.column_lineage` for these nodes (`model.shop.daily.total`)."""
    write(target, manifest(*nodes, at=at))
    folder = target / "info_schema" / "v1"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "parent_node_unique_id": (one.source or "").rpartition(".")[0],
            "parent_column_name": (one.source or "").rpartition(".")[2],
            "child_node_unique_id": one.target.rpartition(".")[0],
            "child_column_name": one.target.rpartition(".")[2],
            "evolution": "scan" if one.influence else "mod",
        }
        for one in said
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "dbt.column_lineage.parquet")
    return target


def _lines(path: Path, values: Iterable[Json]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


EXPORTS: dict[str, tuple[str, str, str, Callable[[Path, Sequence[Said]], Path]]] = {
    "snowflake": ("snowflake", "snowflake", "", snowflake),
    "trino": ("trino", "trino", "", trino),
    "databricks csv": ("databricks", "databricks", "", databricks_csv),
    "databricks json": ("databricks", "databricks", "", databricks_json),
    "databricks parquet": ("databricks", "databricks", "", databricks_parquet),
    "bigquery": ("bigquery", "bigquery", "", bigquery),
    "openlineage": ("openlineage", "postgres", "postgres://db:5432", openlineage),
}
"""By name: the kind, the dialect and namespace of the statements, and what writes the export."""

"""Small manifests, as dbt writes them, from a few lines of SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

V12 = "https://schemas.getdbt.com/dbt/manifest/v12.json"
AT = "2026-03-01T06:00:00.000000Z"


def relation(name: str) -> str:
    """Return a relation as compiled SQL names it."""
    return f'"wh"."main"."{name}"'


def model(name: str, sql: str, *needs: str, project: str = "shop", **fields: Any) -> dict[str, Any]:
    """Return a model; `needs` are names of models, or whole unique ids."""
    config = {"materialized": "table", "schema": None, "database": None, **fields.pop("config", {})}
    return {
        "unique_id": f"model.{project}.{name}", "resource_type": "model", "package_name": project, "name": name,
        "alias": name, "database": "wh", "schema": "main", "relation_name": relation(name), "language": "sql",
        "original_file_path": f"models/{name}.sql", "raw_code": sql, "compiled_code": sql, "config": config,
        "columns": {}, "compiled_path": f"target/compiled/{project}/models/{name}.sql",
        "depends_on": {"nodes": [one if "." in one else f"model.{project}.{one}" for one in needs]},
        **fields,
    }  # fmt: skip


def source(name: str, columns: Mapping[str, str], project: str = "shop", schema: str = "raw") -> dict[str, Any]:
    """Return a source whose columns a properties file describes."""
    return {
        "unique_id": f"source.{project}.{schema}.{name}", "resource_type": "source", "name": name, "identifier": name,
        "source_name": schema, "package_name": project, "database": "wh", "schema": schema,
        "relation_name": f'"wh"."{schema}"."{name}"', "original_file_path": "models/sources.yml",
        "columns": {key: {"name": key, "data_type": kind} for key, kind in columns.items()},
    }  # fmt: skip


def consumer(kind: str, name: str, *needs: str, **fields: Any) -> dict[str, Any]:
    """Return a consumer as a manifest has it."""
    return {"unique_id": f"{kind}.shop.{name}", "name": name, "resource_type": kind,
            "original_file_path": "models/x.yml", "depends_on": {"nodes": list(needs)}, **fields}  # fmt: skip


def where(*texts: str) -> dict[str, Any]:
    """Return filters as a manifest has them."""
    return {"where_filters": [{"where_sql_template": text} for text in texts]}


def manifest(
    *nodes: dict[str, Any], at: str = AT, version: str = V12, project: str = "shop", **more: Any
) -> dict[str, Any]:
    """Return a manifest of these nodes and sources."""
    listed = {node["unique_id"]: node for node in nodes}
    return {
        "metadata": {"dbt_schema_version": version, "generated_at": at, "project_name": project,
                     "adapter_type": "postgres", "invocation_id": "1"},
        "nodes": {key: node for key, node in listed.items() if node["resource_type"] != "source"},
        "sources": {key: node for key, node in listed.items() if node["resource_type"] == "source"},
        "macros": {}, "exposures": {}, "metrics": {}, "semantic_models": {}, "saved_queries": {}, **more,
    }  # fmt: skip


def write(folder: Path, data: Mapping[str, Any], *, catalog: bool = True, catalog_at: str | None = None) -> Path:
    """Write a manifest, and a catalog of its sources, into a target folder; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(data), encoding="utf-8")
    if catalog:
        tables = {
            key: {"columns": {c["name"]: {"name": c["name"], "type": c["data_type"], "index": i}
                              for i, c in enumerate(node["columns"].values())}}
            for key, node in data["sources"].items()
        }  # fmt: skip
        metadata = {"generated_at": catalog_at or data["metadata"]["generated_at"]}
        text = json.dumps({"metadata": metadata, "nodes": {}, "sources": tables})
        (folder / "catalog.json").write_text(text, encoding="utf-8")
    return folder

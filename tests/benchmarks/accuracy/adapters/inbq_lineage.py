"""inbq: its pipeline on one query, with a catalog of all tables."""

from __future__ import annotations

from typing import Any

import inbq

WANTS = "query"


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    tables = [
        {"name": name, "kind": {"table": {"columns": [{"name": c, "dtype": t} for c, t in columns.items()]}}}
        for name, columns in schema.items()
    ]
    pipeline = inbq.Pipeline().config(raise_exception_on_error=False, parallel=False).parse()
    return pipeline.extract_lineage(catalog={"schema_objects": tables}, include_raw=False)


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for one in inbq.run_pipeline([sql], pipeline=prepared).lineages:
        if not hasattr(one, "lineage"):
            raise ValueError(one.error)
        for made in one.lineage.objects:
            for node in made.nodes:
                found[node.name] = [f"{source.obj_name}.{source.node_name}" for source in node.inputs]
    return {"columns": found, "full": True}

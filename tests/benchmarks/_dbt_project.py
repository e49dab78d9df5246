"""A generated dbt project: the manifest that `dbt compile` would write for some thousand models.

Staging models rename and cast the columns of sources, intermediate models join them behind import CTEs, marts aggregate
and choose. Each model has the same number of columns; their SQL is what dbt compiles (three-part quoted names).
"""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

__all__ = ["SCHEMA", "edit_model", "make_manifest", "set_hook", "write_manifest"]

SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"
_TYPES = ("integer", "varchar", "timestamp", "decimal(18, 2)", "boolean")


def make_manifest(models: int = 2_000, columns: int = 20, seed: int = 1) -> dict[str, Any]:
    """Return the manifest of a project with so many models, each with so many columns, and two tests for each."""
    rng = random.Random(seed)
    names: list[str] = []
    nodes: dict[str, Any] = {}
    sources: dict[str, Any] = {}
    for number in range(models):
        layer = ("stg", "int", "fct")[min(2, 3 * number // models)]
        name = f"{layer}_{number:05d}"
        if layer == "stg":
            table = f"raw_{number:05d}"
            key = f"source.big.crm.{table}"
            sources[key] = _source(key, table, columns)
            text, parents = _staging(table, columns, rng), [key]
        else:
            near = names[-models // 2 :]
            chosen = rng.sample(near, k=min(len(near), rng.choice((2, 2, 3))))
            build = _intermediate if layer == "int" else _mart
            text, parents = build(chosen, columns, rng), [f"model.big.{one}" for one in chosen]
        names.append(name)
        model = _model(name, layer, text, parents, columns)
        nodes[model["unique_id"]] = model
        for kind in ("unique", "not_null"):
            test = _test(kind, model, text)
            nodes[test["unique_id"]] = test
    metadata = {
        "dbt_schema_version": SCHEMA,
        "dbt_version": "1.11.0",
        "generated_at": "2026-03-01T06:00:00.000000Z",
        "project_name": "big",
        "adapter_type": "postgres",
    }
    empty: dict[str, Any] = {key: {} for key in ("macros", "exposures", "metrics", "semantic_models", "saved_queries")}
    return {"metadata": metadata, "nodes": nodes, "sources": sources, **empty}


def write_manifest(manifest: dict[str, Any], folder: Path) -> None:
    """Write the manifest and a catalog of the sources, as dbt does, into a target folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    tables = {
        key: {
            "columns": {
                n: {"name": n, "type": c["data_type"], "index": i} for i, (n, c) in enumerate(s["columns"].items())
            }
        }
        for key, s in manifest["sources"].items()
    }
    metadata = {"generated_at": manifest["metadata"]["generated_at"]}
    (folder / "catalog.json").write_text(json.dumps({"metadata": metadata, "nodes": {}, "sources": tables}), "utf-8")


def edit_model(manifest: dict[str, Any], number: int) -> None:
    """Change one expression in the SQL of the model with this number, a minute later; its columns stay the same."""
    model = [node for key, node in manifest["nodes"].items() if key.startswith("model.")][number]
    before, comma, after = model["compiled_code"].partition(" as c1,")
    model["compiled_code"] = f"{before} || 'x'{comma}{after}"
    model["raw_code"] = model["compiled_code"]
    _let_pass(manifest)


def set_hook(manifest: dict[str, Any], hook: str) -> None:
    """Give each model this one hook, which runs after it, a minute later."""
    for key, node in manifest["nodes"].items():
        if key.startswith("model."):
            node["config"]["post-hook"] = [{"sql": hook, "transaction": True, "index": None}]
    _let_pass(manifest)


def _let_pass(manifest: dict[str, Any]) -> None:
    """Let a minute pass until the manifest is written."""
    later = datetime.fromisoformat(manifest["metadata"]["generated_at"]) + timedelta(minutes=1)
    manifest["metadata"]["generated_at"] = later.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _source(key: str, table: str, columns: int) -> dict[str, Any]:
    return {
        "unique_id": key, "resource_type": "source", "package_name": "big", "source_name": "crm", "name": table,
        "identifier": table, "database": "wh", "schema": "crm", "relation_name": f'"wh"."crm"."{table}"',
        "original_file_path": "models/sources.yml", "path": "models/sources.yml", "description": "",
        "columns": _columns(columns), "meta": {}, "tags": [], "config": {"enabled": True}, "fqn": ["big", "crm", table],
    }  # fmt: skip


def _model(name: str, layer: str, text: str, parents: list[str], columns: int) -> dict[str, Any]:
    return {
        "unique_id": f"model.big.{name}", "resource_type": "model", "package_name": "big", "name": name, "alias": name,
        "database": "wh", "schema": f"main_{layer}", "relation_name": f'"wh"."main_{layer}"."{name}"',
        "original_file_path": f"models/{layer}/{name}.sql", "path": f"{layer}/{name}.sql", "language": "sql",
        "fqn": ["big", layer, name], "raw_code": text, "compiled_code": text, "compiled": True,
        "config": {"enabled": True, "materialized": "view" if layer == "stg" else "table", "schema": layer,
                   "database": None, "tags": [layer], "meta": {"owner": f"team_{len(name) % 7}"}},
        "columns": _columns(columns), "description": f"Model {name} of the {layer} layer.", "tags": [layer],
        "meta": {"owner": "data"}, "depends_on": {"macros": [], "nodes": parents},
        "contract": {"enforced": False}, "constraints": [], "extra_ctes": [], "extra_ctes_injected": True,
    }  # fmt: skip


def _columns(columns: int) -> dict[str, Any]:
    return {
        f"c{index}": {
            "name": f"c{index}",
            "description": f"Column number {index}, as the source system has it.",
            "meta": {},
            "data_type": _TYPES[index % len(_TYPES)],
            "constraints": [],
            "quote": None,
            "tags": [],
            "config": {"meta": {}, "tags": []},
        }
        for index in range(columns)
    }


def _test(kind: str, model: dict[str, Any], text: str) -> dict[str, Any]:
    name = f"{kind}_{model['name']}_c0"
    return {
        "unique_id": f"test.big.{name}.0123456789", "resource_type": "test", "package_name": "big", "name": name,
        "alias": name, "database": "wh", "schema": "main_dbt_test__audit", "relation_name": None,
        "original_file_path": "models/schema.yml", "path": f"{name}.sql", "column_name": "c0",
        "attached_node": model["unique_id"], "test_metadata": {"name": kind, "kwargs": {"column_name": "c0"}},
        "config": {"enabled": True, "severity": "ERROR", "materialized": "test"},
        "depends_on": {"macros": [], "nodes": [model["unique_id"]]}, "columns": {}, "tags": [], "meta": {},
        "raw_code": "{{ test_unique(**_dbt_generic_test_kwargs) }}", "compiled": True,
        "compiled_code": f"select c0 from {model['relation_name']} where c0 is null", "description": "",
    }  # fmt: skip


def _relation(name: str) -> str:
    return f'"wh"."main_{name.partition("_")[0]}"."{name}"'


def _staging(table: str, columns: int, rng: random.Random) -> str:
    wrap = (
        "cast({0} as varchar)", "trim({0})", "coalesce({0}, 'none')", "{0}", "nullif({0}, '')", "lower({0})",
    )  # fmt: skip
    listed = ",\n".join(f"        {rng.choice(wrap).format(f'c{index}')} as c{index}" for index in range(columns))
    return f"""with source as (

    select * from "wh"."crm"."{table}"

),

renamed as (

    select
{listed}

    from source
    where c{columns - 1} is not null

)

select * from renamed
"""


def _imports(parents: list[str]) -> str:
    return ",\n\n".join(f"p{i} as (\n\n    select * from {_relation(name)}\n\n)" for i, name in enumerate(parents))


def _joins(parents: list[str]) -> str:
    joined = [f"    left join p{i} on p0.c0 = p{i}.c{i}" for i in range(1, len(parents))]
    return "\n".join(("    from p0", *joined))


def _choose(forms: tuple[str, ...], parents: list[str], columns: int, rng: random.Random) -> str:
    return rng.choice(forms).format(rng.randrange(len(parents)), rng.randrange(columns), rng.randrange(columns))


def _intermediate(parents: list[str], columns: int, rng: random.Random) -> str:
    forms = (
        "p{0}.c{1}", "coalesce(p{0}.c{1}, p0.c{2})", "p{0}.c{1} || '-' || p0.c{2}",
        "case when p{0}.c{1} = 'a' then p0.c{2} else p{0}.c{2} end",
    )  # fmt: skip
    listed = ",\n".join(f"        {_choose(forms, parents, columns, rng)} as c{index}" for index in range(columns))
    return f"""with {_imports(parents)},

joined as (

    select
{listed}

{_joins(parents)}

)

select * from joined
"""


def _mart(parents: list[str], columns: int, rng: random.Random) -> str:
    forms = (
        "sum(case when p{0}.c{1} = 'x' then 1 else 0 end)", "max(p{0}.c{1})", "count(distinct p{0}.c{1})",
        "min(coalesce(p{0}.c{1}, p0.c{2}))",
    )  # fmt: skip
    listed = ",\n".join(f"        {_choose(forms, parents, columns, rng)} as c{index}" for index in range(1, columns))
    return f"""with {_imports(parents)},

final as (

    select
        p0.c0 as c0,
{listed}

{_joins(parents)}
    where p0.c1 <> 'deleted'
    group by p0.c0

)

select * from final
"""

"""Builders of events from short descriptions, and what a graph holds then, as short lines.

A case's event names the things that matter: `{"run": 1, "type": "COMPLETE", "at": 3, "job": "etl/load", "sql": "…",
"inputs": ["pg.orders"], "outputs": {"pg.report": {"schema": ["id"]}}}`. `at` is a day of January 2026. `pg.x` is the
dataset `db.public.x` of `postgres://db:5432`; any other name is `NAMESPACE NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from lineage.store import GraphStore

PRODUCER = "https://example.org/agent"
PG = "postgres://db:5432"

Json = dict[str, Any]


def moment(day: float) -> str:
    """Return a moment of January 2026, at a day and its fraction."""
    minutes = round((day - int(day)) * 24 * 60)
    return f"2026-01-{int(day):02d}T{minutes // 60:02d}:{minutes % 60:02d}:00Z"


def dataset(name: str, facets: Mapping[str, Any] | None = None) -> Json:
    """Return a dataset with its facets."""
    namespace, _, rest = name.partition(" ")
    if not rest:
        assert name.startswith("pg."), name
        namespace, rest = PG, f"db.public.{name[3:]}"
    given = {one: facet(one, value) for one, value in (facets or {}).items()}
    return {"namespace": namespace, "name": rest, "facets": given}


def facet(name: str, value: Any) -> Any:
    """Return a facet; a list is what the facet is mostly about."""
    if name == "schema" and isinstance(value, list):
        value = {"fields": [{"name": one, "type": "int"} if isinstance(one, str) else one for one in value]}
    if name == "lifecycleStateChange" and isinstance(value, str):
        value = {"lifecycleStateChange": value}
    if name == "columnLineage" and "fields" in value:
        value = {**value, "fields": {one: _inputs(into) for one, into in value["fields"].items()}}
        if "dataset" in value:
            value["dataset"] = [_field(one) for one in value["dataset"]]
    if not isinstance(value, dict):
        return value
    return {"_producer": PRODUCER, "_schemaURL": f"{PRODUCER}/{name}.json", **value}


def _inputs(value: Any) -> Any:
    return {"inputFields": [_field(one) for one in value]} if isinstance(value, list) else value


def _field(text: Any) -> Any:
    """Return an input field from `pg.orders amount DIRECT/IDENTITY/masking …`."""
    if not isinstance(text, str):
        return text
    name, column, *given = text.split()
    place = dataset(name)
    transformations = []
    for one in given:
        kind, _, rest = one.partition("/")
        subtype, _, masking = rest.partition("/")
        transformation: Json = {"type": kind}
        if subtype:
            transformation["subtype"] = subtype
        if masking:
            transformation["masking"] = True
        transformations.append(transformation)
    field = {"namespace": place["namespace"], "name": place["name"], "field": column}
    return {**field, "transformations": transformations} if transformations else field


def _datasets(value: Any) -> list[Json]:
    if isinstance(value, dict):
        return [dataset(name, facets) for name, facets in value.items()]
    return [dataset(name) for name in value]


def event(given: Mapping[str, Any]) -> Json:
    """Return the event of a description."""
    base: Json = {"eventTime": moment(given.get("at", 1)), "producer": given.get("producer", PRODUCER)}
    base["schemaURL"] = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
    if "dataset" in given:
        [described] = _datasets(given["dataset"])
        return {**base, "dataset": described}
    namespace, _, name = str(given.get("job", "etl/load")).partition("/")
    facets = {one: facet(one, value) for one, value in given.get("job_facets", {}).items()}
    if "sql" in given:
        facets["sql"] = facet("sql", {"query": given["sql"]})
    base["job"] = {"namespace": namespace, "name": name, "facets": facets}
    for side in ("inputs", "outputs"):
        if side in given:
            base[side] = _datasets(given[side])
    if "run" in given:
        run_facets = {one: facet(one, value) for one, value in given.get("run_facets", {}).items()}
        base["run"] = {"runId": str(UUID(int=given["run"])), "facets": run_facets}
        base["eventType"] = given.get("type", "COMPLETE")
    return base


def short(key: str) -> str:
    """Return a key as cases write it."""
    return key.removeprefix(f"{PG}/db.public.").replace("#", ".")


def edges(store: GraphStore, types: Iterable[str] = ("CONTRIBUTES", "REFERENCES")) -> list[str]:
    """Return the live edges as lines: `orders.id -> report.id IDENTITY`, `~>` for influence."""
    wanted = set(types)
    lines = set()
    for name, source, target, properties in store.dump().relationships:
        if name in wanted:
            arrow = {"CONTRIBUTES": "->", "REFERENCES": "~>", "FEEDS": "=>"}[name]
            partly = properties.get("partly_masking") or ()
            marks = " ".join(
                sorted(f"{one}:masked" if one in partly else one for one in properties.get("subtypes", ()))
            )
            masked = " masked" if properties.get("masking") else ""
            lines.add(f"{short(source)} {arrow} {short(target)} {marks}{masked}".strip())
    return sorted(lines)


def feeds(store: GraphStore) -> list[str]:
    """Return table-level lineage: `orders => report`."""
    return edges(store, ["FEEDS"])

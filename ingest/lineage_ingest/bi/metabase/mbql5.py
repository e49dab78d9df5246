"""MBQL 5 to the older form of MBQL, which the other modules read.

MBQL 5 (https://metabase-dev-docs.github.io/metabase/metabase.lib.schema.html) has a list of stages instead of nested
queries, the options of a clause in front of its arguments, and refers to aggregations by uuid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_legacy", "is_mbql5"]


def is_mbql5(query: Mapping[str, Any]) -> bool:
    """Return whether a dataset query is MBQL 5."""
    return "stages" in query


def as_legacy(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dataset query in the older form: `{database, type, query}` or `{database, type, native}`.

    >>> as_legacy({"database": 1, "stages": [{"lib/type": "mbql.stage/mbql", "source-table": 2,
    ...     "aggregation": [["sum", {"lib/uuid": "u"}, ["field", {}, 7]]]}]})
    {'database': 1, 'type': 'query', 'query': {'source-table': 2, 'aggregation': [['sum', ['field', 7, {}]]]}}

    Raises:
        TypeError: a stage or a join is no object.
    """
    stages = _objects(query.get("stages"))
    if not stages:
        return {"database": query.get("database"), "type": "query", "query": {}}
    if len(stages) == 1 and "native" in stages[0]:
        native = {"query": stages[0]["native"], "template-tags": stages[0].get("template-tags") or {}}
        return {"database": query.get("database"), "type": "native", "native": native}
    inner: dict[str, Any] | None = None
    for stage in stages:
        own = _stage(stage)
        if inner is not None:
            own["source-query"] = inner
        inner = own
    return {"database": query.get("database"), "type": "query", "query": inner or {}}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    found = list(value or ())
    if not all(isinstance(one, Mapping) for one in found):
        raise TypeError("expected objects")
    return found


def _stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    if "native" in stage:
        return {"native": stage["native"], "template-tags": stage.get("template-tags") or {}}
    uuids = {
        clause[1].get("lib/uuid"): number
        for number, clause in enumerate(stage.get("aggregation") or ())
        if isinstance(clause, list) and len(clause) > 1 and isinstance(clause[1], Mapping)
    }
    legacy_stage: dict[str, Any] = {}
    for key, value in stage.items():
        if key == "lib/type":
            continue
        if key == "source-card":
            legacy_stage["source-table"] = f"card__{value}" if isinstance(value, int) else value
        elif key == "filters":
            clauses = [_clause(one, uuids) for one in value or ()]
            if clauses:
                legacy_stage["filter"] = ["and", *clauses] if len(clauses) > 1 else clauses[0]
        elif key == "expressions":
            legacy_stage["expressions"] = {
                _name(one, number): _clause(one, uuids) for number, one in enumerate(value or ())
            }
        elif key == "joins":
            legacy_stage["joins"] = [_join(one) for one in _objects(value)]
        elif key in ("aggregation", "breakout", "fields", "order-by"):
            legacy_stage[key] = [_clause(one, uuids) for one in value or ()]
        else:
            legacy_stage[key] = value
    return legacy_stage


def _name(clause: Any, number: int) -> str:
    options = clause[1] if isinstance(clause, list) and len(clause) > 1 else None
    return str(options.get("lib/expression-name") if isinstance(options, Mapping) else f"expression_{number}")


def _join(join: Mapping[str, Any]) -> dict[str, Any]:
    inner = as_legacy({"stages": join.get("stages")})
    legacy_join: dict[str, Any] = {"alias": join.get("alias"), "strategy": join.get("strategy")}
    query = inner.get("query")
    if isinstance(query, dict) and set(query) <= {"source-table"}:
        legacy_join.update(query)
    else:
        legacy_join["source-query"] = query if query is not None else inner.get("native")
        native = inner.get("native")
        if native is not None:
            legacy_join["source-query"] = {"native": native["query"], "template-tags": native["template-tags"]}
    conditions = [_clause(one, {}) for one in join.get("conditions") or ()]
    legacy_join["condition"] = ["and", *conditions] if len(conditions) != 1 else conditions[0]
    fields = join.get("fields")
    legacy_join["fields"] = [_clause(one, {}) for one in fields] if isinstance(fields, list) else fields
    return legacy_join


def _clause(clause: Any, uuids: Mapping[Any, int]) -> Any:
    """Return a clause with its options behind its arguments."""
    if not isinstance(clause, list):
        return clause
    if not clause or not isinstance(clause[0], str):
        return [_clause(one, uuids) for one in clause]
    options = clause[1] if len(clause) > 1 and isinstance(clause[1], Mapping) else None
    arguments = [_clause(one, uuids) for one in clause[2 if options is not None else 1 :]]
    head = clause[0]
    if options is None:
        return [head, *arguments]
    kept = {key: value for key, value in options.items() if key not in ("lib/uuid", "lib/expression-name")}
    if head == "field":
        return ["field", *arguments, {key: _clause(value, uuids) for key, value in kept.items()}]
    if head == "aggregation" and arguments and arguments[0] in uuids:
        return ["aggregation", uuids[arguments[0]]]
    if head in ("case", "if"):
        default = [{"default": arguments[1]}] if len(arguments) > 1 else []
        return [head, arguments[0] if arguments else [], *default]
    named = {"name": kept["name"]} if kept.get("name") else {}
    if named and head not in ("expression", "segment"):
        return ["aggregation-options", [head, *arguments], named]
    return [head, *arguments]

"""What the settings of an adapter add to the MERGE of later builds: conditions, values that are computed, deletions.

https://github.com/duckdb/dbt-duckdb#merge-strategy
https://docs.getdbt.com/reference/resource-configs/databricks-configs#the-merge-strategy
https://docs.getdbt.com/reference/resource-configs/athena-configs#iceberg
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lineage_ingest.dbt.artifacts.manifest_nodes import Config

__all__ = ["DEST", "SOURCE", "aliases_of", "clauses_of", "has_clauses"]

DEST, SOURCE = "DBT_INTERNAL_DEST", "DBT_INTERNAL_SOURCE"
"""What dbt calls the table, and the rows of the model's query."""
_OTHER_STRATEGIES = frozenset(("append", "delete+insert", "insert_overwrite", "replace_where"))
"""Strategies that make no MERGE."""


def aliases_of(config: Config, adapter: str | None) -> tuple[str, str]:
    """Return what the table and the rows of the query are called in conditions."""
    usual = ("target", "src") if adapter == "athena" else (DEST, SOURCE)
    given = (config.target_alias, config.source_alias)
    dest, source = (one if isinstance(one, str) and one else other for one, other in zip(given, usual, strict=True))
    return dest, source


def has_clauses(config: Config) -> bool:
    """Return whether settings add anything to the MERGE of a model."""
    return next(clauses_of(config, SOURCE, None), None) is not None


def clauses_of(config: Config, source: str, key: str | None) -> Iterator[str]:
    """Yield the clauses of a MERGE. `source` is the alias of the query's rows, `key` a column that can be inserted."""
    if config.incremental_strategy in _OTHER_STRATEGIES:
        return
    for clause in (config.merge_update_condition, config.matched_condition, config.update_condition):
        yield from _clause("matched", clause, "delete")
    for clause in (config.merge_insert_condition, config.not_matched_condition, config.insert_condition):
        yield from _insert(clause, source, key)
    if config.delete_condition:
        yield from _clause("matched", config.delete_condition, "delete")
    yield from _update("matched", config.merge_update_condition, config.merge_update_set_expressions)
    if isinstance(config.not_matched_by_source_action, str):
        head = _condition(config.not_matched_by_source_condition)
        yield f"when not matched by source{head} then {config.not_matched_by_source_action.strip()}"
    clauses = config.merge_clauses if isinstance(config.merge_clauses, Mapping) else {}
    for clause in _objects(clauses.get("when_matched")):
        update = clause.get("update")
        condition = clause.get("condition")
        yield from _clause("matched", condition, "delete")
        yield from _update("matched", condition, update.get("set_expressions") if isinstance(update, Mapping) else None)
    for clause in _objects(clauses.get("when_not_matched")):
        yield from _not_matched(clause, source, key)


def _not_matched(clause: Mapping[str, Any], source: str, key: str | None) -> Iterator[str]:
    """Yield a clause of DuckDB for rows of one side only."""
    condition, insert = clause.get("condition"), clause.get("insert")
    if str(clause.get("by") or "").lower() == "source":
        if clause.get("action") == "delete":
            yield f"when not matched by source{_condition(condition)} then delete"
        yield from _clause("not matched by source", condition, "delete")
        yield from _update("not matched by source", condition, clause.get("set_expressions"))
    elif isinstance(insert, Mapping) and (columns := _texts(insert.get("columns"))):
        values = ", ".join(_texts(insert.get("values")))
        head = f"when not matched{_condition(condition)} then"
        yield f"{head} insert ({', '.join(columns)}) values ({values})"  # noqa: S608  it is never executed
    else:
        yield from _insert(condition, source, key)


def _clause(kind: str, condition: Any, action: str) -> Iterator[str]:
    """Yield a clause, if a condition decides which rows it is for; without one, the match itself says it."""
    if head := _condition(condition):
        yield f"when {kind}{head} then {action}"


def _insert(condition: Any, source: str, key: str | None) -> Iterator[str]:
    """Yield what a condition on new rows decides: no row of the table is in sight there."""
    action = "insert *"
    if key is not None:
        action = f"insert ({key}) values ({source}.{key})"  # noqa: S608  it is never executed
    yield from _clause("not matched", condition, action)


def _update(kind: str, condition: Any, expressions: Any) -> Iterator[str]:
    """Yield the clause that computes columns, by their names."""
    if isinstance(expressions, Mapping) and expressions:
        listed = ", ".join(f"{name} = {text}" for name, text in expressions.items())
        yield f"when {kind}{_condition(condition)} then update set {listed}"


def _condition(value: Any) -> str:
    """Return a condition, or several that all must hold, as a clause has it."""
    texts = _texts(value)
    return f" and ({') and ('.join(texts)})" if texts else ""


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    listed = value if isinstance(value, Sequence) else ()
    return tuple(str(one) for one in listed if isinstance(one, str | int | float))


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []

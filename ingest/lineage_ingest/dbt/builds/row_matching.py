"""Which rows of a table a later build replaces, and which rows it reads: statements beside a model's own query.

An incremental model with a key replaces the rows that its query gives again; a snapshot closes those whose columns have
changed. So the columns that are compared decide which rows there are. A model that dbt builds in batches of time reads
the rows of the batch only, of every input that has an event time.

https://docs.getdbt.com/docs/build/incremental-strategy
https://docs.getdbt.com/docs/build/incremental-microbatch
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lineage_ingest.dbt.artifacts.manifest_nodes import Config, DbtNode, ResourceType
from lineage_ingest.dbt.builds.merge_clauses import DEST, SOURCE, aliases_of, clauses_of, has_clauses

__all__ = ["batch_query", "deciding_columns", "matching_statement"]

_NAME = re.compile(r"[^\W\d]\w*|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]")
_END = re.compile(r"(?:\s|;|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)+$")
_ADDS_BY_DEFAULT = frozenset(("spark", "trino", "athena", "glue"))
"""Adapters whose incremental models use no key unless a strategy is configured."""
_NEVER = "1 = 0"
"""By what a MERGE without a key finds rows."""


def matching_statement(query: str, node: DbtNode, adapter: str | None) -> str | None:
    """Return a MERGE that states by which columns a build finds the rows of its table; None if it finds none.

    >>> config = {"materialized": "incremental", "unique_key": "id", "incremental_strategy": "merge"}
    >>> data = {"unique_id": "m", "resource_type": "model", "name": "m", "relation_name": "wh.m", "config": config}
    >>> print(matching_statement("select id, a from t", DbtNode.model_validate(data), "postgres"))
    merge into wh.m as DBT_INTERNAL_DEST using (
    select id, a from t
    ) as DBT_INTERNAL_SOURCE on DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id
    when matched then delete
    """
    if node.relation_name is None:
        return None
    config = node.config
    is_snapshot = node.resource_type == ResourceType.SNAPSHOT
    dest, source = (DEST, SOURCE) if is_snapshot else aliases_of(config, adapter)
    keys: Sequence[str] = _texts(config.unique_key)
    if not is_snapshot:
        keys = _keys_of_builds(config, keys, adapter)
    conditions = [_equal(key, node.relation_name, dest, source) for key in keys]
    clauses = ["when matched then delete"]
    if is_snapshot:
        conditions += _changed(config) if keys else ()
    else:
        if not keys and has_clauses(config):
            conditions.append(_NEVER)
        if conditions or config.incremental_strategy == "replace_where":
            conditions += _predicates(config, node.relation_name, dest, source)
        plain = next((key.strip() for key in keys if _NAME.fullmatch(key.strip())), None)
        clauses += clauses_of(config, source, plain)
    if not conditions:
        return None
    listed = "\n  and ".join(conditions)
    body = _END.sub("", query)
    return "\n".join(
        (f"merge into {node.relation_name} as {dest} using (\n{body}\n) as {source} on {listed}", *clauses)
    )


def deciding_columns(config: Config, adapter: str | None) -> tuple[str, ...]:
    """Return the columns by which later builds find rows; `""` stands for those in conditions, which may be any.

    >>> deciding_columns(Config(unique_key="id", matched_condition="DBT_INTERNAL_SOURCE.x > 1"), "databricks")
    ('id', '')
    """
    keys = tuple(_keys_of_builds(config, _texts(config.unique_key), adapter))
    has_conditions = has_clauses(config) or _texts(config.incremental_predicates or config.predicates)
    return (*keys, "") if has_conditions else keys


def _keys_of_builds(config: Config, keys: Sequence[str], adapter: str | None) -> Sequence[str]:
    """Return the columns by which an incremental model finds the rows that it replaces."""
    strategy = config.incremental_strategy
    if strategy == "insert_overwrite":
        return _partitions(config)
    if strategy == "microbatch":  # dbt merges by the key where there is one, else it deletes the batch
        return keys or _texts(config.event_time)
    if strategy == "append" or (strategy is None and adapter in _ADDS_BY_DEFAULT):
        return ()
    if strategy == "replace_where":  # by its predicates alone
        return ()
    return _texts(config.merge_on_using_columns) or keys


def _partitions(config: Config) -> Sequence[str]:
    """Return the columns of the partitions; BigQuery's are objects with a field."""
    partition_by = config.partition_by
    if isinstance(partition_by, Mapping):
        partition_by = partition_by.get("field")
    return _texts(partition_by)


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, Sequence) else ()


def _equal(key: str, relation: str, dest: str, source: str) -> str:
    if _NAME.fullmatch(key.strip()):
        return f"{source}.{key.strip()} = {dest}.{key.strip()}"
    return f"exists (select 1 from {relation} where ({key}) = {_of_source(key, source)})"  # noqa: S608  it is never executed


def _of_source(expression: str, source: str) -> str:
    """Return an expression over the columns of the query's rows."""
    return f"(select {expression} from (select {source}.*) as changed)"  # noqa: S608  it is never executed


def _predicates(config: Config, relation: str, dest: str, source: str) -> Iterator[str]:
    """Yield the conditions on the rows that may be replaced; without alias, they are on the table's own columns."""
    for predicate in _texts(config.incremental_predicates or config.predicates):
        if re.search(rf"\b(?:{re.escape(dest)}|{re.escape(source)})\s*\.", predicate, re.IGNORECASE):
            yield f"({predicate})"
        else:
            yield f"exists (select 1 from {relation} where {predicate})"  # noqa: S608  it is never executed


def _changed(config: Config) -> Iterator[str]:
    """Yield the condition under which a snapshot takes a row as changed."""
    if config.strategy == "check":
        columns = _texts(config.check_cols)
        if columns in ((), ("all",)):
            yield f"({SOURCE}.*) is distinct from ({DEST}.*)"
        else:
            changes = (f"{SOURCE}.{one} is distinct from {DEST}.{one}" for one in columns)
            yield f"({' or '.join(changes)})"
    elif config.updated_at is not None:
        name = config.snapshot_meta_column_names.get("dbt_valid_from") or "dbt_valid_from"
        is_name = _NAME.fullmatch(config.updated_at)
        yield f"{DEST}.{name} < " + (
            f"{SOURCE}.{config.updated_at}" if is_name else _of_source(config.updated_at, SOURCE)
        )


def batch_query(query: str, node: DbtNode, inputs: Sequence[DbtNode]) -> str:
    """Return the query of one batch: each input that has an event time is filtered by it, as dbt does.

    >>> data = {"unique_id": "t", "resource_type": "model", "name": "t", "relation_name": "wh.t"}
    >>> given = DbtNode.model_validate({**data, "config": {"event_time": "at"}})
    >>> model = DbtNode.model_validate({**data, "config": {"incremental_strategy": "microbatch"}})
    >>> batch_query("select a from wh.t", model, [given])
    'select a from (select * from wh.t where at >= current_timestamp) _dbt_et_filter_subq_t'
    """
    if node.config.incremental_strategy != "microbatch" or "_dbt_et_filter_subq" in query:
        return query
    for one in inputs:
        name, column = one.relation_name, one.config.event_time
        if not name or not column:
            continue
        filtered = f"(select * from {name} where {column} >= current_timestamp)"  # noqa: S608  it is never executed
        whole = re.compile(
            rf"(?<![\w.\"`\]]){re.escape(name)}(?![\w.\"`(])(\s+(?:as\s+)?(?P<alias>[^\W\d]\w*|[\"`\[]))?",
            re.IGNORECASE,
        )

        def put(found: re.Match[str], filtered: str = filtered, short: str = one.name) -> str:
            following = found.group(1) or ""
            alias = (found.group("alias") or "").lower()
            if alias and alias not in _AFTER_A_TABLE:
                return f"{filtered}{following}"
            return f"{filtered} _dbt_et_filter_subq_{short}{following}"

        query = whole.sub(put, query)
    return query


_AFTER_A_TABLE = frozenset(
    ("where", "join", "inner", "left", "right", "full", "cross", "natural", "on", "using", "group", "order", "having",
     "limit", "union", "except", "intersect", "window", "qualify", "lateral", "pivot", "unpivot", "tablesample", "for",
     "asof", "semi", "anti", "fetch", "offset", "sample", "final", "prewhere", "array", "global", "any", "minus")
)  # fmt: skip
"""Words that may follow a table's name and are no alias."""

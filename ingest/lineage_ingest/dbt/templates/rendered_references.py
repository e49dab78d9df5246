"""What dbt's options make of a reference in compiled SQL: a table of another environment, or a part of a table.

`--defer` reads the tables of another environment in place of those that are not built here
(https://docs.getdbt.com/reference/node-selection/defer). `--empty` reads no rows, `--sample` those of some days
(https://docs.getdbt.com/docs/build/sample-flag): a model's definition has neither.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode

__all__ = ["deferred_relations", "names_relation", "needed_relations", "replace_relation", "whole_relations"]

_PART = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|\w+)"
_LAST = re.compile(rf"{_PART}\Z")
_MOMENT = r"(?:\w+ ?\(?)?'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00:00'(?:::\w+| as \w+)?\)?"
"""A time as dbt writes it, in the form of any adapter."""
_IN_NAMES = re.compile(r"[\w.]")
_WHOLE = r"\(select \* from "
_NOT_BEFORE = r"(?<![\w.\"`\]])"
_NOT_AFTER = r"(?![\w.\"`(])"


def needed_relations(node: DbtNode, nodes: Mapping[str, DbtNode]) -> Iterator[DbtNode]:
    """Yield the nodes whose relations a node's SQL reads: ephemeral models are in its SQL."""
    waiting, seen = list(node.depends_on.nodes), set[str]()
    while waiting:
        key = waiting.pop(0)
        needed = nodes.get(key)
        if needed is None or key in seen:
            continue
        seen.add(key)
        if needed.is_ephemeral:
            waiting += needed.depends_on.nodes
        else:
            yield needed


def names_relation(sql: str, relation: str) -> bool:
    """Return whether SQL has the name of a relation, and not as the end or beginning of another one.

    >>> names_relation("select * from dev_sales.orders", "sales.orders")
    False
    >>> names_relation("select * from sales.orders", "sales.orders")
    True
    """
    start = sql.find(relation)
    while start >= 0:
        before, after = sql[start - 1 : start], sql[start + len(relation) : start + len(relation) + 1]
        if not _IN_NAMES.fullmatch(before) and not (after.isalnum() or after == "_"):
            return True
        start = sql.find(relation, start + 1)
    return False


def replace_relation(sql: str, relation: str, other: str) -> str:
    """Return SQL with another relation in place of one."""
    return re.sub(rf"(?<![\w.]){re.escape(relation)}(?!\w)", lambda _: other, sql)


def deferred_relations(
    sql: str, needed: Collection[DbtNode], known: Collection[str], elsewhere: Mapping[str, str]
) -> Iterator[tuple[DbtNode, str]]:
    """Yield the nodes that a model needs and in place of which its compiled SQL reads another relation, with that one.

    `known` are the relations of the project, `elsewhere` those of the environment that dbt may have deferred to, by
    unique id. Without that, it is a relation of the same name elsewhere that the project does not know.

    >>> data = {"unique_id": "model.shop.t", "resource_type": "model", "name": "t", "relation_name": '"dev"."t"'}
    >>> node = DbtNode.model_validate(data)
    >>> [found for _, found in deferred_relations('select * from "prod"."t"', [node], ['"dev"."t"'], {})]
    ['"prod"."t"']
    """
    for node in needed:
        own = node.relation_name
        if not own or names_relation(sql, own):
            continue
        other = elsewhere.get(node.unique_id)
        if other is not None and other not in known and names_relation(sql, other):
            yield node, other
            continue
        last = _LAST.search(own)
        parts = len(re.findall(rf"{_PART}\.", own[: last.start()])) if last is not None else 0
        if last is None or not parts:
            continue
        found = set(re.findall(rf"{_NOT_BEFORE}(?:{_PART}\.){{{parts}}}{re.escape(last[0])}{_NOT_AFTER}", sql))
        if len(found) == 1 and not found & {*known}:
            yield node, found.pop()


def whole_relations(sql: str, raw_code: str, needed: Collection[DbtNode]) -> str:
    """Return compiled SQL with whole relations in place of what `--empty` and `--sample` made of them.

    >>> data = {"unique_id": "model.shop.t", "resource_type": "model", "name": "t", "relation_name": '"dev"."t"'}
    >>> node = DbtNode.model_validate(data)
    >>> whole_relations('select a from (select * from "dev"."t" where false limit 0) x', "", [node])
    'select a from "dev"."t" x'
    """
    if "(select * from " not in sql:
        return sql
    for node in needed:
        if node.relation_name:
            for form in _part_forms(node, raw_code):
                sql = form.sub(lambda found: found["relation"], sql)
    return sql


def _part_forms(node: DbtNode, raw_code: str) -> Iterator[re.Pattern[str]]:
    """Yield what the options make of a relation, apart from what a template says itself."""
    table = re.escape(node.identifier or node.alias or node.name)
    beginning = rf"{_WHOLE}(?P<relation>(?:{_PART}\.)*{re.escape(_last_part(str(node.relation_name)))})"
    if "where false limit 0" not in raw_code:
        yield re.compile(rf"{beginning} where false limit 0\)(?: _dbt_limit_subq_{table})?")
    if node.config.event_time:
        column = rf"[\"`\[]?{re.escape(node.config.event_time)}[\"`\]]?"
        bound = rf"(?:cast\()?{column}(?: as \w+\))? (?:>=|<) {_MOMENT}"
        if not re.search(rf"where\s+{column}\s*[<>]", raw_code):
            whole = rf"{beginning} where {bound}(?: and {bound})?\)(?: _dbt_et_filter_subq_{table})?"
            yield re.compile(whole)


def _last_part(relation: str) -> str:
    found = _LAST.search(relation)
    return found[0] if found is not None else relation

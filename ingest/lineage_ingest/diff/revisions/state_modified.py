"""What dbt's selector `state:modified+` chooses, for comparison.

A node is modified if its text, its settings, its relation, a macro that it needs, or a seed's checksum differ, or if it
is new; `+` adds all that depends on it. https://docs.getdbt.com/reference/node-selection/state-selection
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_ingest.diff.revisions.manifest_json import ManifestJson

__all__ = ["state_modified_plus"]

_BUILT = frozenset(("model", "seed", "snapshot"))


def state_modified_plus(base: ManifestJson, head: ManifestJson) -> list[str]:
    """Return the unique ids of the models, seeds and snapshots that `dbt ls -s state:modified+` chooses, sorted."""
    nodes = {**head.nodes, **head.section("sources")}
    old = {**base.nodes, **base.section("sources")}
    chosen = {key for key, node in nodes.items() if _is_modified(old.get(key), node) or _macros_differ(base, head, key)}
    children: dict[str, list[str]] = {}
    for key in nodes:
        for parent in head.needs(key):
            children.setdefault(parent, []).append(key)
    stack = list(chosen)
    while stack:
        for child in children.get(stack.pop(), ()):
            if child not in chosen:
                chosen.add(child)
                stack.append(child)
    return sorted(key for key in chosen if nodes[key].get("resource_type") in _BUILT)


def _is_modified(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> bool:
    return old is None or list(_compared(old)) != list(_compared(new))


def _compared(node: Mapping[str, Any]) -> Iterator[object]:
    """Yield what dbt compares of a node."""
    config = node.get("config") if isinstance(node.get("config"), Mapping) else {}
    unrendered = node.get("unrendered_config")
    yield node.get("raw_code") if node.get("resource_type") != "seed" else node.get("checksum")
    yield unrendered if isinstance(unrendered, Mapping) and unrendered else config
    yield [node.get(name) for name in ("fqn", "resource_type", "version", "latest_version", "deprecation_date")]
    yield [config.get(name) if isinstance(config, Mapping) else None for name in ("database", "schema", "alias")]
    contract = node.get("contract")
    yield contract.get("checksum") if isinstance(contract, Mapping) else None
    persist = config.get("persist_docs") if isinstance(config, Mapping) else None
    if isinstance(persist, Mapping) and persist.get("relation"):
        yield node.get("description")
    if isinstance(persist, Mapping) and persist.get("columns"):
        columns = node.get("columns")
        yield [(name, one.get("description")) for name, one in columns.items()] if isinstance(columns, Mapping) else []


def _macros_differ(base: ManifestJson, head: ManifestJson, key: str) -> bool:
    return key in base.nodes and key in head.nodes and base.macros_of(key) != head.macros_of(key)

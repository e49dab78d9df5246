"""The macros that a model calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode

__all__ = ["called_macros", "macros_below"]


def called_macros(node: DbtNode, macros: Mapping[str, Any], left_out: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the macros of a manifest that a node calls, and those that they call, without those of some packages."""
    return macros_below(node.depends_on.macros, macros, left_out)


def macros_below(
    first: Collection[str], macros: Mapping[str, Any], left_out: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the macros with these unique ids, and those that they call, without those of some packages."""
    waiting, seen = list(first), set[str]()
    while waiting:
        name = waiting.pop()
        macro = macros.get(name)
        if name in seen or not isinstance(macro, Mapping) or str(macro.get("package_name")) in left_out:
            continue
        seen.add(name)
        yield macro
        needs = macro.get("depends_on")
        found = needs.get("macros") if isinstance(needs, Mapping) else None
        waiting += [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

"""Questions to a store about a column or table by its short name."""

from __future__ import annotations

from lineage.traversal import Answer, Target, TraversalOptions, impact, root_cause
from lineage.traversal.lineage_reader import LineageReader
from tests.traversal.fake_store import key


def target(name: str) -> Target:
    """Return the target that `shop.orders#id` or `shop.orders` names."""
    table, mark, column = name.partition("#")
    return Target(key(name), name.replace("#", "."), key(table), column if mark else None)


def downstream(store: LineageReader, name: str, options: TraversalOptions | None = None) -> Answer:
    """Return the impact of the named thing."""
    return impact(store, target(name), options)


def upstream(store: LineageReader, name: str, options: TraversalOptions | None = None) -> Answer:
    """Return the root causes of the named thing."""
    return root_cause(store, target(name), options)


def brief(answer: Answer) -> dict[str, tuple[int, str]]:
    """Return for each reached column its hops and by what it is reached: `C`, `R` or `CR`."""
    return {
        each.key.removeprefix("ns/"): (each.hops, "".join(sorted(str(kind)[0] for kind in each.influence)))
        for each in answer.columns
    }

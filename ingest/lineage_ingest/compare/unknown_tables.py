"""Compose what an export states through tables that the graph does not have, such as temporary tables.

We compose these away; a product lists them. Without this, `orders → tmp → daily` would state nothing of what we know.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace

from lineage.model.names import dataset_of, is_column_key
from lineage_ingest.compare.graph_names import is_related, root_of
from lineage_ingest.compare.opinions import Opinion, strongest

__all__ = ["compose_unknown_tables"]

_MAX_EDGES = 2_000_000
"""Maximum number of composed edges; beyond it, the rest is left out and reported."""
_MAX_LENGTH = 20
"""Maximum number of unknown tables in a row."""

Edges = Mapping[tuple[str, str], Opinion]


def compose_unknown_tables(
    edges: Edges, is_known: Callable[[str], bool]
) -> tuple[dict[tuple[str, str], Opinion], bool]:
    """Return the edges that lead from known to known tables through unknown ones, and whether some were left out.

    A step may write a whole struct of which the next reads a field, or the other way round.
    """
    out_of: dict[str, list[tuple[str, str, Opinion]]] = defaultdict(list)
    starts: list[tuple[str, str, Opinion]] = []
    for (source, target), statement in edges.items():
        if not is_column_key(source) or not is_column_key(target):
            continue
        if not is_known(source):
            out_of[root_of(source)].append((source, target, statement))
        elif not is_known(target):
            starts.append((source, target, statement))
    composed: dict[tuple[str, str], Opinion] = {}
    for source, first, statement in starts:
        seen = {(first, statement.influence)}
        waiting: list[tuple[str, Opinion, tuple[str, ...]]] = [(first, statement, (dataset_of(first),))]
        while waiting:
            middle, before, through = waiting.pop()
            for read, target, after in out_of.get(root_of(middle), ()):
                if not is_related(read, middle):
                    continue
                both = _both(before, after, through)
                if is_known(target):
                    known = composed.get((source, target))
                    if known is None and len(composed) >= _MAX_EDGES:
                        return composed, True
                    if known is None or strongest(known.influence, both.influence) != known.influence:
                        composed[source, target] = both
                elif (target, both.influence) not in seen and len(through) < _MAX_LENGTH:
                    seen.add((target, both.influence))
                    waiting.append((target, both, (*through, dataset_of(target))))
    return composed, False


def _both(before: Opinion, after: Opinion, through: tuple[str, ...]) -> Opinion:
    """Return a statement for two steps: influence if one of them is; the proof is that of the last."""
    influences = (before.influence, after.influence)
    influence = True if True in influences else None if None in influences else False
    how = before.how | after.how
    return replace(after, influence=influence, how=how, through=through)

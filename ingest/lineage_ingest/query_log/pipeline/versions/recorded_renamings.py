"""Which renames of a log the graph records; tables of other renames have their last name throughout."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lineage_ingest.query_log.pipeline.versions.names_of_parts import TableId
from lineage_ingest.query_log.pipeline.versions.versions import Renaming

__all__ = ["recorded_renamings"]


def recorded_renamings(
    renamings: Sequence[Renaming], before: Collection[TableId], again: Collection[TableId]
) -> list[Renaming]:
    """Return the renames to record, in order; none if no table of before the log is renamed.

    Args:
        renamings: all of them, in order of time.
        before: tables that existed before the log.
        again: tables that the log renamed, dropped and made again as they were. They count as one table, which a
            recorded rename would move with what was made later: where names are shared with such a one, only the
            renames of earlier tables are recorded.
    """
    if not any((one.namespace, one.version) in before for one in renamings):
        return []
    shared = _connected_names(renamings, {(one.namespace, one.version) for one in renamings} & set(again))
    return [
        one for one in renamings if (one.namespace, one.version) in before or (one.namespace, one.table) not in shared
    ]


def _connected_names(renamings: Iterable[Renaming], versions: Collection[TableId]) -> set[TableId]:
    """Return the names that these versions had, and those that renames connect with them."""
    neighbours: dict[TableId, set[TableId]] = {}
    waiting: list[TableId] = []
    for one in renamings:
        both = (one.namespace, one.table), (one.namespace, one.other)
        neighbours.setdefault(both[0], set()).add(both[1])
        neighbours.setdefault(both[1], set()).add(both[0])
        if (one.namespace, one.version) in versions:
            waiting += both
    names: set[TableId] = set()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += neighbours[name]
    return names

"""The definitions of a project that may differ between two revisions: those that are edited, and all downstream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from lineage.catalog.mentioned_tables import TextsByWords
from lineage_ingest.diff.definitions.table_definitions import ProjectRevision, TableDefinition

__all__ = ["affected_definitions"]


def affected_definitions(base: ProjectRevision, head: ProjectRevision) -> set[str]:
    """Return the keys of all definitions that an edit may affect, of either revision.

    Whether one reads another is decided by the words of its SQL, which is not parsed: some are too many.
    """
    if base.naming != head.naming:
        return {*base.definitions, *head.definitions}
    keys = base.definitions.keys() ^ head.definitions.keys()
    keys |= {key for key, one in base.definitions.items() if key not in keys and not one.is_same(head.definitions[key])}
    names = {name for name in base.tables.keys() | head.tables.keys() if base.tables.get(name) != head.tables.get(name)}
    sides = [(side, _LikelyReaders(side.definitions.values())) for side in (base, head)]
    left = list(keys)
    while names or left:
        names.update(side.definitions[key].name for key in left for side, _ in sides if key in side.definitions)
        left = [key for name in names for _, readers in sides for key in readers.of(name) if key not in keys]
        keys.update(left)
        names = set()
    return keys


class _LikelyReaders:
    """The definitions that may read a table."""

    def __init__(self, definitions: Collection[TableDefinition]) -> None:
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for one in definitions:
            for name in one.reads:
                self._by_name[name].add(one.key)
        of_sql = ((one.key, f"{one.text} {one.later_text or ''}") for one in definitions if one.relation is None)
        self._texts = TextsByWords(of_sql)

    def of(self, name: str) -> set[str]:
        """Return the keys of those whose SQL may name a table, or that are known to read it."""
        return self._texts.naming(name) | self._by_name.get(name, set())

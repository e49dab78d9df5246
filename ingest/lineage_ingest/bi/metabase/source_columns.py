"""The columns of what a query reads, and which of them a reference means.

A reference to a field may name the join that it comes from, also a join inside the query that is read. Only the join
distinguishes two columns of one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from lineage.frozen import frozen
from lineage_ingest.bi.metabase.metadata import as_id

__all__ = ["NO_COLUMNS", "Origin", "SourceColumns", "origin_of"]

Origin: TypeAlias = tuple[Any, str | None]
"""A field (its id or name), and the alias of the join or the foreign key that it comes by."""


@frozen
class SourceColumns:
    """Columns in order, none if they are not known; `origins` has the column that a field has become."""

    names: tuple[str, ...] = ()
    origins: Mapping[Origin, str] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Iterable[tuple[str, Iterable[Origin]]]) -> SourceColumns:
        """Return the columns of names with their origins; the first column of an origin counts."""
        names, origins = [], dict[Origin, str]()
        for name, listed in columns:
            names.append(name)
            for origin in listed:
                origins.setdefault(origin, name)
        return cls(tuple(names), origins)

    def origins_of(self, name: str) -> list[Origin]:
        """Return the fields that a column comes from."""
        return [origin for origin, own in self.origins.items() if own == name]

    def named(self, origin: Origin, name: str) -> str | None:
        """Return the column that a reference means: by its origin, else by its name; None if there is none.

        `Products__title` is how Metabase calls the column `title` of the join `Products`.

        >>> columns = SourceColumns(("id", "id_2"), {(1, None): "id", (7, "Products"): "id_2"})
        >>> columns.named((7, "Products"), "id"), columns.named((7, None), "id"), columns.named((1, None), "ID")
        ('id_2', 'id_2', 'id')
        """
        if origin in self.origins:
            return self.origins[origin]
        if not isinstance(origin[0], str):
            same = {
                own for (one, alias), own in self.origins.items() if one == origin[0] and origin[1] in (None, alias)
            }
            if len(same) == 1:
                return same.pop()
        alias = f"{origin[1]}__" if origin[1] else ""
        fold = {f"{own_alias}__{one}".casefold(): own for (one, own_alias), own in self.origins.items() if own_alias}
        fold.update((one.casefold(), one) for one in self.names)
        for wanted in (f"{alias}{name}", name, name.rpartition("__")[2]):
            if wanted.casefold() in fold:
                return fold[wanted.casefold()]
        return None


NO_COLUMNS = SourceColumns()


def origin_of(clause: Any) -> Origin | None:
    """Return the field that a clause refers to; None for any other clause.

    >>> origin_of(["field", 7, {"join-alias": "P"}]), origin_of(["field", 8, {"source-field": 3}]), origin_of(["sum"])
    ((7, 'P'), (8, 'fk 3'), None)
    """
    if not (isinstance(clause, list) and len(clause) > 1):
        return None
    head, rest = str(clause[0]).lower().replace("_", "-"), clause[1:]
    if head in ("datetime-field", "binning-strategy"):
        return origin_of(rest[0]) if isinstance(rest[0], list) else (as_id(rest[0]), None)
    if head == "joined-field" and len(rest) == 2:
        inner = origin_of(rest[1]) if isinstance(rest[1], list) else (as_id(rest[1]), None)
        return (inner[0], str(rest[0])) if inner is not None else None
    if head == "fk->" and len(rest) == 2:
        source, target = ((origin_of(one) or (None, None))[0] if isinstance(one, list) else as_id(one) for one in rest)
        return target, f"fk {source}"
    if head not in ("field", "field-id", "field-literal"):
        return None
    options: Mapping[str, Any] = next((one for one in rest if isinstance(one, Mapping)), {})
    alias = options.get("join-alias")
    if alias is None and options.get("source-field") is not None:
        alias = f"fk {as_id(options['source-field'])}"
    return as_id(rest[0]), None if alias is None else str(alias)

"""One table's schema, and the error of a catalog that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from lineage.model.statement import ColumnSchema

__all__ = ["CatalogError", "TableSchema"]


class CatalogError(ValueError):
    """A catalog that cannot be read: what is wrong, and where."""


@dataclass(frozen=True)
class TableSchema:
    """A table's columns in order. `inferred`: concluded from use, so there may be more.

    `learnt`: an earlier ingest stated them. Such a table is found by its full name only, and what is ingested now
    counts before it, so that the same input says the same whatever the store holds. `exact`: it is found by its full
    name only; a statement of the same input made it or used it by that name.
    """

    name: str
    columns: tuple[ColumnSchema, ...]
    inferred: bool = False
    learnt: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", dict.fromkeys(column.name for column in self.columns))

    @property
    def names(self) -> dict[str, None]:
        """The columns' names in order."""
        names: dict[str, None] = self.__dict__["_names"]
        return names

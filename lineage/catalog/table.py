"""The schema of one table, and the error for a catalog that cannot be read."""

from __future__ import annotations

from lineage.frozen import frozen
from lineage.model.statement import ColumnSchema

__all__ = ["CatalogError", "TableSchema"]


class CatalogError(ValueError):
    """A catalog that cannot be read; the message has the cause and the position."""


@frozen(slots=False)
class TableSchema:
    """A table's columns in order. `inferred`: derived from usage, so there may be more columns.

    `learnt`: known from an earlier ingest. Such a table matches by its full name only, and the current input takes
    precedence, so that the same input gives the same result whatever the store contains. `exact`: it matches by its
    full name only; a statement of the same input created it or used it by that name.
    """

    name: str
    columns: tuple[ColumnSchema, ...]
    inferred: bool = False
    learnt: bool = False
    exact: bool = False

    @property
    def names(self) -> dict[str, str | None]:
        """The columns' names in order, with their types. A catalog has many tables that are never looked up."""
        names: dict[str, str | None] | None = self.__dict__.get("_names")
        if names is None:
            names = {column.name: column.data_type for column in self.columns}
            object.__setattr__(self, "_names", names)
        return names

"""The keys of tables and columns that a product names, by the rules by which ingests make them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from lineage.model.names import ColumnPath, Naming, column_key, dataset_key, split_location, split_name

__all__ = ["ProductNames"]


class ProductNames:
    """Makes keys from names in a product's export. Names there are resolved already: each part is exact."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self.table = lru_cache(maxsize=20_000)(self._table)
        self.column = lru_cache(maxsize=200_000)(self._column)

    def _table(self, name: str) -> str:
        """Return the key of the dataset with this dotted name, or of the file at this location."""
        location = split_location(name)
        if location is not None:
            return dataset_key(*location)
        return self.table_of([part for part, _ in split_name(name)])

    def table_of(self, parts: Sequence[str]) -> str:
        """Return the key of the dataset whose name has these parts, outermost first."""
        fold = self.naming.dialect.fold_table
        name = self.naming.qualify([str(fold(part, quoted=True)) for part in parts])
        return dataset_key(self.naming.dataset_namespace, str(name))

    def _column(self, table: str, name: str) -> str:
        """Return the key of a top-level column of a table, both as the product names them."""
        return self.column_of(self.table(table), (name,))

    def column_of(self, table_key: str, path: Sequence[str]) -> str:
        """Return the key of a column or nested field of the dataset with this key."""
        fold = self.naming.dialect.fold_column
        return column_key(table_key, str(ColumnPath(tuple(str(fold(part, quoted=True)) for part in path))))

"""Lineage of SQL text, resolved with the schemas of a store. Nothing is stored or executed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineage.model.statement import StatementLineage
from lineage.store.protocol import GraphStore
from lineage.store.values import ColumnHead, StoredDataset
from lineage.traversal import AmbiguousNameError, UnknownNameError, resolve_table

if TYPE_CHECKING:
    from lineage.catalog import Catalog

__all__ = ["Preview", "preview"]


@dataclass(frozen=True, slots=True)
class Preview:
    """Statements, their text with literals masked, and the keys of the targets that the graph has."""

    statements: list[StatementLineage]
    masked: str
    target_keys: list[str | None]


def preview(
    store: GraphStore, sql: str, dialect: str, *, database: str | None, schema: str | None, seconds: float
) -> Preview:
    """Return the lineage of the statements of a text.

    Raises:
        UnknownDialectError: no dialect has that name.
        StoreError: the store could not be read.
    """
    # The service loads the extraction when it is first needed: it takes a quarter of a second.
    from lineage.catalog import Catalog  # noqa: PLC0415
    from lineage.sql import Budget, extract_script, mask_literals  # noqa: PLC0415

    budget = Budget(seconds=seconds)

    def resolved(catalog: Catalog | None) -> list[StatementLineage]:
        return extract_script(
            sql, dialect, catalog, default_database=database, default_schema=schema, budget=budget
        )  # fmt: skip

    # A first pass finds the tables whose schemas are needed.
    statements = resolved(None)
    names = {name for one in statements for name in (*one.sources, one.target) if name}
    catalog = Catalog.from_store(_SomeTables(store, names), dialect)
    if len(catalog):
        statements = resolved(catalog)
    return Preview(statements, mask_literals(sql, dialect), [_key_of(store, one.target) for one in statements])


def _key_of(store: GraphStore, target: str | None) -> str | None:
    if target is None:
        return None
    try:
        return resolve_table(store, target).key
    except AmbiguousNameError as error:
        return error.candidates[0]
    except UnknownNameError:
        return None


class _SomeTables:
    """The tables of some names in a store, as a catalog reads them."""

    def __init__(self, store: GraphStore, names: set[str]) -> None:
        self._store = store
        self._datasets = {found.key: found for name in names for found in store.find_datasets(name)}

    def datasets(self) -> list[StoredDataset]:
        """Return the datasets of the names."""
        return list(self._datasets.values())

    def column_heads(self, datasets: Collection[str]) -> list[ColumnHead]:
        """Return the columns of datasets."""
        return self._store.column_heads(datasets)

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
    from lineage.sql.outline.cte_steps import QueryStep
    from lineage.sql.outline.query_outline import OutlinedStatement

__all__ = ["Preview", "preview"]


@dataclass(frozen=True, slots=True)
class Preview:
    """Statements, their steps by way of CTEs, their text with literals masked, and the keys of targets in the graph."""

    statements: list[StatementLineage]
    steps: list[tuple[QueryStep, ...] | None]
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
    from lineage.sql import Budget, mask_literals  # noqa: PLC0415
    from lineage.sql.extraction import options_for  # noqa: PLC0415
    from lineage.sql.outline.cte_steps import cte_steps  # noqa: PLC0415
    from lineage.sql.outline.outlined_text import outline_text  # noqa: PLC0415

    options = options_for(
        dialect, default_database=database, default_schema=schema, budget=Budget(seconds=seconds)
    )  # fmt: skip

    def resolved(catalog: Catalog | None) -> list[OutlinedStatement]:
        return outline_text(sql, options, catalog)

    # A first pass finds the tables whose schemas are needed.
    statements = resolved(None)
    names = {name for one in statements for name in (*one.lineage.sources, one.lineage.target) if name}
    catalog = Catalog.from_store(_SomeTables(store, names), dialect)
    if len(catalog):
        statements = resolved(catalog)
    keys = [_key_of(store, one.lineage.target) for one in statements]
    steps = [cte_steps(one) for one in statements]
    return Preview([one.lineage for one in statements], steps, mask_literals(sql, dialect), keys)


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

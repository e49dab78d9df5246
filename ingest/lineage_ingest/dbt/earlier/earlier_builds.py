"""What tables have from earlier builds: their columns, where later builds depend on these, and edges into them.

Snapshots, and incremental models with `on_schema_change: append_new_columns`, never drop a column; by default an
incremental model takes no new ones. Both hold until a full refresh.
https://docs.getdbt.com/docs/build/incremental-models#what-if-the-columns-of-my-incremental-model-change
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from lineage.model.batch import EdgeRecord
from lineage.model.names import column_key, column_text
from lineage.model.statement import ColumnSchema
from lineage.store.protocol import GraphStore
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType
from lineage_ingest.dbt.artifacts.target_folder import Artifacts
from lineage_ingest.dbt.project import DbtModel
from lineage_ingest.dbt.table_columns import TableColumns

__all__ = ["earlier_edges", "read_table_columns"]


def read_table_columns(
    models: Collection[DbtModel], artifacts: Artifacts, store: GraphStore, key_of: Callable[[str], str]
) -> dict[str, TableColumns]:
    """Return the columns that the tables of some models had, by the model's key, where later builds depend on them.

    They are those in catalog.json if it is of the same command as the manifest, else those that the store knows. What
    the command has built anew depends on nothing.

    Raises:
        StoreError: the store could not be read.
    """
    last = artifacts.last_run
    anew = last.built if last is not None and last.is_full_refresh else frozenset()
    kept = {one.given.key: _keeps(one.table.node) for one in models}
    wanted = [one for one in models if kept[one.given.key] is not None and one.given.key not in anew]
    columns_by_model: dict[str, tuple[ColumnSchema, ...]] = {}
    asked: dict[str, str] = {}
    for model in wanted:
        key = model.given.key
        if artifacts.is_catalog_of_same_run and key in artifacts.catalog:
            columns_by_model[key] = model.table.complete
        else:
            asked[key_of(model.given.table)] = key
    columns_by_model |= {asked[dataset]: columns for dataset, columns in _stored(store, asked)}
    return {key: TableColumns(columns, bool(kept[key])) for key, columns in columns_by_model.items()}


def _stored(store: GraphStore, datasets: Collection[str]) -> Iterator[tuple[str, tuple[ColumnSchema, ...]]]:
    heads = store.datasets(sorted(datasets)) if datasets else []
    known = [one.key for one in heads if one.schema_known and one.dropped_at is None]
    columns: dict[str, list[ColumnSchema]] = {key: [] for key in known}
    for one in store.columns(known) if known else ():
        if one.parent is None and not one.inferred and one.dropped_at is None:
            columns[one.dataset].append(ColumnSchema(one.spelled_name, one.data_type))
    return ((key, tuple(listed)) for key, listed in columns.items() if listed)


def _keeps(node: DbtNode) -> bool | None:
    """Return whether later builds drop no column (True), add none (False), or take those of the SQL (None)."""
    if node.resource_type == ResourceType.SNAPSHOT:
        return True
    if node.config.materialized != "incremental" or node.config.full_refresh is True:
        return None
    return {None: False, "ignore": False, "append_new_columns": True}.get(node.config.on_schema_change)


def earlier_edges(store: GraphStore, kept: Mapping[str, tuple[str, Collection[ColumnSchema]]]) -> Iterator[EdgeRecord]:
    """Yield the edges into the columns that tables keep; `kept` has the dataset and its columns by the model's job.

    Raises:
        StoreError: the store could not be read.
    """
    targets = {column_key(dataset, column_text(one.name)) for dataset, columns in kept.values() for one in columns}
    for edge in store.edges_of(sorted(kept)) if kept else ():
        if edge.target in targets:
            yield EdgeRecord(
                edge.source, edge.target, edge.kind, edge.job, kept[edge.job][0], edge.subtypes, edge.masking,
                edge.limited, edge.ambiguous, (), edge.partly_masking,
            )  # fmt: skip

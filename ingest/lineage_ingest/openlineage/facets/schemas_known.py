"""Columns of datasets: from events, or from the graph for datasets without a schema in the event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from lineage.export.openlineage import DATASET_FACET
from lineage.store.protocol import GraphStore
from lineage_ingest.openlineage.dataset_ids import dataset_id_of
from lineage_ingest.openlineage.run_state import Facets, RunState, facet_of

__all__ = ["NO_SCHEMAS", "Schemas", "is_whole", "stored_schemas", "tables_of_sql"]

Schemas = Mapping[str, tuple[tuple[str, str | None], ...]]
"""Columns with their types, by the key of their dataset."""

NO_SCHEMAS: Schemas = {}


def is_whole(facets: Facets) -> bool:
    """Return whether the facet `schema` lists all columns, as from an agent that queries the engine.

    An agent that reads descriptions (dbt) lists some of the columns, without types. Our own export has a flag for it.
    """
    fields = facet_of(facets, "schema").get("fields") or ()
    ours = facet_of(facets, DATASET_FACET)
    if "schemaKnown" in ours:
        return bool(fields) and bool(ours["schemaKnown"])
    return bool(fields) and all(one.get("type") for one in fields)


def tables_of_sql(state: RunState) -> Iterator[str]:
    """Yield the keys of the datasets of a job with SQL for which the event lacks the full schema."""
    if state.facet("job.sql").get("query"):
        for (namespace, name), facets in (*state.inputs.items(), *state.outputs.items()):
            if not is_whole(facets):
                yield dataset_id_of(namespace, name, exact=state.is_ours).key


def stored_schemas(store: GraphStore, datasets: Iterable[str]) -> Schemas:
    """Return the stored schemas of these datasets (by key), without columns inferred from use.

    Raises:
        StoreError: the store could not be read.
    """
    asked = sorted(set(datasets))
    if not asked:
        return {}
    known = [dataset.key for dataset in store.datasets(asked) if dataset.schema_known]
    columns: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for column in store.columns(known) if known else ():
        if column.parent is None and not column.inferred:
            columns[column.dataset].append((column.spelled_name, column.data_type))
    return {key: tuple(names) for key, names in columns.items()}

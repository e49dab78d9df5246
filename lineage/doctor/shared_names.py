"""Whether sources that mean one table call it by one name: where they do not, lineage ends between them."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.doctor.finding import Finding, Health
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredDataset

__all__ = ["examine_names"]

_AT_ONCE = 2_000
_TABLES = frozenset((DatasetKind.TABLE, DatasetKind.VIEW))


def examine_names(store: GraphStore) -> Iterator[Finding]:
    """Yield tables of one name in several namespaces or spellings, and how many tables have no known schema."""
    first: dict[str, StoredDataset] = {}
    by_case: list[tuple[str, str]] = []
    by_namespace: list[tuple[str, str]] = []
    tables = unknown = 0
    for table in _tables(store):
        tables += 1
        unknown += not table.schema_known
        other = first.setdefault(table.name.casefold(), table)
        if other is not table:
            same = other.namespace == table.namespace
            (by_case if same else by_namespace).append((_said(other, same), _said(table, same)))
    if by_case:
        message = f"{_are(len(by_case))} twice, in two spellings, such as {' and '.join(by_case[0])}"
        hint = "if they are one, ingest both sources with the dialect of the database (--dialect)"
        yield Finding(Health.WARNING, "names", message, hint)
    if by_namespace:
        message = f"{_are(len(by_namespace))} in two namespaces, such as {' and '.join(by_namespace[0])}"
        hint = "if they are one, ingest both sources with the same --namespace: else lineage ends between them"
        yield Finding(Health.WARNING, "names", message, hint)
    if tables and unknown > tables / 2:
        message = f"the columns of {unknown:,} of {tables:,} tables are known from queries alone"
        hint = "`lineage ingest database` reads their schemas, so that `SELECT *` and unqualified columns are resolved"
        yield Finding(Health.WARNING, "names", message, hint)


def _tables(store: GraphStore) -> Iterator[StoredDataset]:
    for keys in _batches(store.dataset_keys()):
        yield from (one for one in store.datasets(keys) if one.kind in _TABLES and one.dropped_at is None)


def _batches(keys: list[str]) -> Iterator[list[str]]:
    return (keys[at : at + _AT_ONCE] for at in range(0, len(keys), _AT_ONCE))


def _said(table: StoredDataset, by_name: bool) -> str:
    name = table.spelling or table.name
    return name if by_name or not table.namespace else f"{name} in {table.namespace}"


def _are(number: int) -> str:
    return "1 table is there" if number == 1 else f"{number:,} tables are there"

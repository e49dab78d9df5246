"""Datasets and columns of events by the keys that all ways in use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lineage.model.dialects import Dialect, Folding
from lineage.model.names import ColumnPath, Naming, column_key, dataset_key, parse_table_name
from lineage.model.namespaces import STORAGE, dialect_of, normal_place, preferred_key, scheme_of
from lineage.model.statement import DatasetKind

__all__ = ["DatasetId", "dataset_id_of", "dataset_id_with_symlinks"]

_KINDS = {"kafka": DatasetKind.TOPIC, "pubsub": DatasetKind.TOPIC, **dict.fromkeys(STORAGE, DatasetKind.FILE)}


@dataclass(frozen=True, slots=True)
class DatasetId:
    """A dataset by namespace and name as the graph has them; `exact` names are taken as they stand.

    `quoted` are those names of its columns that are no paths of nested fields, though they read so (`a.b`).
    """

    namespace: str
    name: str
    dialect: Dialect | None = None
    exact: bool = False
    quoted: frozenset[str] = frozenset()
    key: str = field(init=False, compare=False, repr=False)
    """The key of the dataset's node."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", dataset_key(self.namespace, self.name))

    @property
    def kind(self) -> DatasetKind:
        """What its namespace says that it is."""
        return _KINDS.get(scheme_of(self.namespace), DatasetKind.TABLE)

    def fold(self, name: str) -> str:
        """Return the name of a column or field in the case that the dataset's dialect gives it."""
        return name if self.dialect is None or self.exact else self.dialect.fold_column(name)

    def column(self, field: str) -> str:
        """Return the key of a column's node; `field` is its name, or the path of a nested field."""
        folding = Folding.KEEP if self.dialect is None or self.exact else self.dialect.column
        return _column_key(self.key, field, folding, field in self.quoted)


@lru_cache(maxsize=20_000)
def _column_key(dataset: str, field: str, folding: Folding, is_name: bool) -> str:
    """Return the key of a column's node. An event names each of its columns several times."""
    path = ColumnPath((field,)) if is_name else ColumnPath.parse(field)
    return column_key(dataset, str(ColumnPath(tuple(map(folding.apply, path.parts)))))


@lru_cache(maxsize=50_000)
def dataset_id_of(namespace: str, name: str, *, exact: bool = False) -> DatasetId:
    """Return the dataset that an event names, in the spelling and case that SQL of its warehouse gives it.

    >>> dataset_id_of("postgresql://DB", "Shop.public.Orders").key
    'postgres://db:5432/shop.public.orders'
    >>> dataset_id_of("snowflake://org-acct", "shop.public.orders").name
    'SHOP.PUBLIC.ORDERS'
    >>> dataset_id_of("s3a://lake", "/raw/Orders/").key
    's3://lake/raw/Orders'
    """
    if exact:
        return DatasetId(namespace, name, dialect_of(namespace), exact=True)
    namespace, name = normal_place(namespace, name)
    dialect = dialect_of(namespace)
    if dialect is None:
        return DatasetId(namespace, name)
    folded = Naming(dialect, namespace).qualify(parse_table_name(name, dialect)) if "/" not in name else name
    return DatasetId(namespace, folded or name, dialect)


def dataset_id_with_symlinks(
    namespace: str, name: str, identifiers: Iterable[Mapping[str, Any]], *, exact: bool = False
) -> tuple[DatasetId, list[tuple[str, str]]]:
    """Return the dataset that an event names, by the preferred of its names, and pairs of keys that name it.

    `identifiers` are those of the facet `symlinks`, further names of the same data: the table of a catalog whose path
    is given, or the path. In our own export they are names that a dataset once had.
    """
    dataset_id = dataset_id_of(namespace, name, exact=exact)
    if exact or not identifiers:
        return dataset_id, []
    dataset_ids = {
        one.key: one for one in (dataset_id, *(dataset_id_of(one["namespace"], one["name"]) for one in identifiers))
    }
    key = preferred_key(dataset_ids)
    return dataset_ids[key], [(key, other) for other in sorted(dataset_ids) if other != key]

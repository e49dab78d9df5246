"""Keys of datasets and columns in events, the same as those from SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from lineage.frozen import frozen
from lineage.model.dialect import Dialect, Folding
from lineage.model.names import ColumnPath, Naming, column_key, dataset_key, parse_table_name, split_location
from lineage.model.namespaces import STORAGE, dialect_of, normal_place, preferred_key, scheme_of
from lineage.model.statement import DatasetKind

__all__ = ["ABSENT_PARTS", "DatasetId", "dataset_id_of", "dataset_id_with_symlinks"]

ABSENT_PARTS = re.compile(r"(?:(?:None|null)\.)+(?=[^/]+$)")
"""The beginning of a table's name whose database or schema a client does not know, and writes as text all the same."""
_KINDS = {"kafka": DatasetKind.TOPIC, "pubsub": DatasetKind.TOPIC, **dict.fromkeys(STORAGE, DatasetKind.FILE)}


@frozen
class DatasetId:
    """A dataset by its namespace and name in the graph; `exact` names are not normalized.

    `quoted` are the column names that look like paths of nested fields (`a.b`) but are not.
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
        """The kind of dataset, by its namespace."""
        return _KINDS.get(scheme_of(self.namespace), DatasetKind.TABLE)

    def fold(self, name: str) -> str:
        """Return the name of a column or field, folded to the case of the dataset's dialect."""
        return name if self.dialect is None or self.exact else self.dialect.fold_column(name)

    def column(self, field: str) -> str:
        """Return the key of a column's node; `field` is its name, or the path of a nested field."""
        folding = Folding.KEEP if self.dialect is None or self.exact else self.dialect.column
        return _column_key(self.key, field, folding, field in self.quoted)


@lru_cache(maxsize=20_000)
def _column_key(dataset: str, field: str, folding: Folding, is_name: bool) -> str:
    """Return the key of a column's node; cached, since an event names each column several times."""
    path = ColumnPath((field,)) if is_name else ColumnPath.parse(field)
    return column_key(dataset, str(ColumnPath(tuple(map(folding.apply, path.parts)))))


@lru_cache(maxsize=50_000)
def dataset_id_of(namespace: str, name: str, *, exact: bool = False) -> DatasetId:
    """Return the dataset that an event names, normalized and folded as in SQL of its warehouse.

    >>> dataset_id_of("postgresql://DB", "Shop.public.Orders").key
    'postgres://db:5432/shop.public.orders'
    >>> dataset_id_of("snowflake://org-acct", "shop.public.orders").name
    'SHOP.PUBLIC.ORDERS'
    >>> dataset_id_of("s3a://lake", "/raw/Orders/").key
    's3://lake/raw/Orders'
    >>> dataset_id_of("postgres://db", "sap.sapsr3./BIC/PMATERIAL").name
    'sap.sapsr3."/BIC/PMATERIAL"'
    """
    if exact:
        return DatasetId(namespace, name, dialect_of(namespace), exact=True)
    namespace, name = normal_place(namespace, name)
    if absent := ABSENT_PARTS.match(name):
        name = name[absent.end() :]
    dialect = dialect_of(namespace)
    if dialect is None:
        return DatasetId(namespace, name)
    if split_location(name):  # a later part may be a table's name with a slash, as SAP's `db.sapsr3./BIC/PMATERIAL`
        return DatasetId(namespace, name, dialect)
    folded = Naming(dialect, namespace).qualify(parse_table_name(name, dialect))
    return DatasetId(namespace, folded or name, dialect)


def dataset_id_with_symlinks(
    namespace: str, name: str, identifiers: Iterable[Mapping[str, Any]], *, exact: bool = False
) -> tuple[DatasetId, list[tuple[str, str]]]:
    """Return the dataset that an event names, by its preferred name, and pairs of keys that name it.

    `identifiers` are those of the facet `symlinks`, other names of the same data: the catalog table of a path, or the
    path of a table. In our own export they are former names of the dataset.
    """
    dataset_id = dataset_id_of(namespace, name, exact=exact)
    if exact or not identifiers:
        return dataset_id, []
    dataset_ids = {
        one.key: one for one in (dataset_id, *(dataset_id_of(one["namespace"], one["name"]) for one in identifiers))
    }
    key = preferred_key(dataset_ids)
    return dataset_ids[key], [(key, other) for other in sorted(dataset_ids) if other != key]

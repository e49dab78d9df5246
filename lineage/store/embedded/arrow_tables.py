"""Rows for ladybug's COPY as Arrow tables. Importing Arrow takes longer than most commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lineage.store.cypher.schema import Properties, PropertyType

__all__ = ["arrow_table"]

_ARROW = {
    PropertyType.TEXT: pa.string(),
    PropertyType.TEXTS: pa.list_(pa.string()),
    PropertyType.INTEGER: pa.int64(),
    PropertyType.INTEGERS: pa.list_(pa.int64()),
    PropertyType.NUMBER: pa.float64(),
    PropertyType.FLAG: pa.bool_(),
    PropertyType.TIME: pa.timestamp("us"),
    PropertyType.DAY: pa.date32(),
}


def arrow_table(columns: Mapping[str, Sequence[Any]], types: Properties) -> pa.Table:
    """Return a table of these columns, with the types of properties."""
    return pa.table({name: pa.array(columns[name], _ARROW[kind]) for name, kind in types.items()})

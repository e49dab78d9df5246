"""Merges rows of the same run into one row with the first non-null value of each column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.reading import coercion

__all__ = ["merged"]


def merged(table: Any, key: str) -> Any:
    """Return a table with one row per value of the key column; rows with a null key are unchanged.

    >>> merged(pa.table({"id": ["a", "a", None], "text": [None, "SELECT 1", "x"]}), "id").to_pylist()
    [{'id': 'a', 'text': 'SELECT 1'}, {'id': None, 'text': 'x'}]
    """
    keys = coercion.texts(table.column(key).combine_chunks())
    given = pc.is_valid(keys)
    keyed = table.filter(given)
    numbers = pa.array(range(keyed.num_rows), pa.int64())
    nowhere = pa.scalar(None, pa.int64())
    # Aggregate the row index of each column's first value, not the value: this works for every type.
    places = {
        str(i): pc.if_else(pc.is_valid(keyed.column(i)), numbers, nowhere) for i in range(len(keyed.column_names))
    }
    grouped = (
        pa.table({"key": keys.filter(given), **places})
        .group_by("key", use_threads=False)
        .aggregate([(name, "min") for name in places])
    )
    firsts = [keyed.column(i).take(grouped.column(f"{i}_min")) for i in range(len(keyed.column_names))]
    one_each = pa.Table.from_arrays(firsts, schema=table.schema)
    return pa.concat_tables([one_each, table.filter(pc.invert(given))])

"""Tables as Arrow IPC blocks, one row each: Spark moves some hundred blocks between workers instead of their rows.

Spark would convert each row twice; Arrow, in the workers, sums and sorts the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "BLOCK_SCHEMA",
    "BUCKETS",
    "bucket_of",
    "partition_by_bucket",
    "tables",
    "tables_by_bucket",
    "to_blocks",
    "unpack",
]

BUCKETS = 64
"""Number of buckets; all rows of a session or a template are in one. A power of two."""

BLOCK_SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("bucket", pa.int64()),
        pa.field("rows", pa.int64()),
        pa.field("packed", pa.binary()),
    ]
)
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def to_blocks(found: Iterable[tuple[str, int, pa.Table]]) -> Iterator[pa.RecordBatch]:
    """Yield tables, each of a kind and for a bucket, as batches of `BLOCK_SCHEMA`; empty ones are left out."""
    for kind, bucket, table in found:
        if table.num_rows:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema, options=_OPTIONS) as writer:
                writer.write_table(table)
            values = (kind, bucket, table.num_rows, sink.getvalue().to_pybytes())
            columns = [pa.array([value], field.type) for value, field in zip(values, BLOCK_SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=BLOCK_SCHEMA)


def tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the tables in batches that have the column `packed`."""
    for batch in batches:
        for packed in batch.column("packed"):
            yield unpack(packed.as_buffer())


def unpack(packed: bytes | pa.Buffer) -> pa.Table:
    """Return the table in a block."""
    with pa.ipc.open_stream(packed) as reader:
        return reader.read_all()


def tables_by_bucket(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.Table]]:
    """Yield the tables of one bucket after the other, from batches of `BLOCK_SCHEMA` sorted by bucket."""
    pending: list[pa.Table] = []
    current: int | None = None
    for batch in batches:
        for bucket, table in zip(batch.column("bucket").to_pylist(), tables([batch]), strict=True):
            if bucket != current and pending:
                yield pending
                pending = []
            current = bucket
            pending.append(table)
    if pending:
        yield pending


def bucket_of(numbers: pa.ChunkedArray, names: pa.ChunkedArray | None = None) -> pa.Array:
    """Return each row's bucket: by its name where it has one, else by its number."""
    by_number = pc.bit_wise_and(numbers, BUCKETS - 1)
    if names is None:
        return by_number
    encoded = names.combine_chunks().dictionary_encode()
    known = [crc32(name.encode("utf-8", "surrogatepass")) & (BUCKETS - 1) for name in encoded.dictionary.to_pylist()]
    return pc.coalesce(pa.array(known, pa.int64()).take(encoded.indices), by_number)


def partition_by_bucket(table: pa.Table, buckets: pa.Array) -> Iterator[tuple[int, pa.Table]]:
    """Yield a table's rows by their bucket."""
    order = pc.sort_indices(buckets)
    rows = table.take(order)
    start = 0
    for entry in pc.value_counts(buckets.take(order)).to_pylist():
        yield entry["values"], rows.slice(start, entry["counts"])
        start += entry["counts"]

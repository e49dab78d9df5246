"""Packs record batches of the log schema for Spark's storage: each batch is one binary value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["PACKED", "pack_blocks", "unpack_blocks"]

PACKED = "log binary, rows bigint, bytes bigint, continued array<string>"
_SCHEMA = pa.schema(
    [("log", pa.binary()), ("rows", pa.int64()), ("bytes", pa.int64()), ("continued", pa.list_(pa.string()))]
)


def pack_blocks(
    batches: Iterable[Any], normalise: Callable[[Iterable[Any]], Iterator[Any]], open_sessions: frozenset[str]
) -> Iterator[Any]:
    """Yield packed batches of the log schema, each with the open sessions that occur in it."""
    wanted = pa.array(sorted(open_sessions), pa.string())
    for batch in normalise(batches):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        value = sink.getvalue()
        own = batch.column("session").unique()
        continued = own.filter(pc.is_in(own, value_set=wanted)).to_pylist()
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([value.to_pybytes()], pa.binary()),
                pa.array([batch.num_rows], pa.int64()),
                pa.array([value.size], pa.int64()),
                pa.array([continued], pa.list_(pa.string())),
            ],
            schema=_SCHEMA,
        )


def unpack_blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the batches of the log schema that are packed in the column `log`."""
    for batch in batches:
        for value in batch.column("log"):
            with pa.ipc.open_stream(value.as_buffer()) as reader:
                yield from reader

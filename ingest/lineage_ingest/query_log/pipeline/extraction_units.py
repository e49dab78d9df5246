"""The unit of extraction: a template, or statements of a session that depend on each other."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from lineage.frozen import frozen
from lineage_ingest.query_log.pipeline.versions.versions import Bindings

__all__ = [
    "PART_TYPE",
    "ExtractionUnit",
    "LogStatement",
    "StatedColumn",
    "session_block_key",
    "units_from",
    "work_batches",
]

_TEXT = pa.string()
PART_TYPE = pa.struct(
    [
        pa.field("text", _TEXT),
        pa.field("fingerprint", _TEXT),
        pa.field("dialect", _TEXT),
        pa.field("database", _TEXT),
        pa.field("schema", _TEXT),
        pa.field("destination", _TEXT),
        pa.field("truncated", pa.bool_()),
        pa.field("appends", pa.bool_()),
        pa.field(
            "stated",
            pa.list_(
                pa.struct(
                    [(n, _TEXT) for n in ("target_table", "target_column", "source_table", "source_column")],
                )
            ),
        ),
    ]
)
"""A template's sample, as Arrow data between the stages."""


_UNBOUND = Bindings()


class StatedColumn(NamedTuple):
    """A column and one of its sources (None: a constant), as listed in the log."""

    target_table: str
    target_column: str
    source_table: str | None
    source_column: str | None


@frozen
class LogStatement:
    """A statement (or a script) of the log, with the default database and schema that complete its names."""

    text: str
    fingerprint: str
    dialect: str
    database: str | None = None
    schema: str | None = None
    destination: str | None = None
    truncated: bool = False
    appends: bool = False
    """Whether the statement keeps the other rows of its destination."""
    stated: tuple[StatedColumn, ...] | None = None
    search_path: tuple[str, ...] = ()
    """The schemas searched after the default one; empty for a template on its own."""
    bindings: Bindings = _UNBOUND
    """The versions that its names refer to, for names that several tables have had."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> LogStatement:
        """Return the statement in a value of `PART_TYPE`."""
        stated = row["stated"]
        listed = None if stated is None else tuple(StatedColumn(**edge) for edge in stated)
        return cls(**{**row, "stated": listed})

    def within(
        self, database: str | None, schema: str | None, search_path: tuple[str, ...], bindings: Bindings | None
    ) -> LogStatement:
        """Return the statement with other defaults, and with the versions that its names refer to."""
        if (database, schema, search_path) == (self.database, self.schema, self.search_path) and bindings is None:
            return self
        bound = bindings or _UNBOUND
        return replace(self, database=database, schema=schema, search_path=search_path, bindings=bound)


@frozen
class ExtractionUnit:
    """Parts that are resolved together, in execution order, with the times of the first and last run.

    Times are microseconds since 1970. `overlay` has the columns, by table, where they differ for this unit from the
    catalog because the table was redefined later; None: the columns are unknown.
    """

    key: int
    parts: tuple[LogStatement, ...]
    first: int | None
    last: int | None
    spans: tuple[tuple[int | None, int | None], ...] = ()
    """The times of the first and last run of each part, if there are several parts."""
    overlay: Mapping[str, tuple[str, ...] | None] | None = None

    def span(self, part: int) -> tuple[int | None, int | None]:
        """Return the times of a part's first and last run."""
        return self.spans[part] if self.spans else (self.first, self.last)


def session_block_key(members: Iterable[tuple[object, ...]]) -> int:
    """Return the key of a session block: a hash of its members' identities (template, database, schema, …)."""
    digest = hashlib.blake2b(repr(tuple(members)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


_WORK = pa.schema([pa.field("key", pa.int64()), pa.field("unit", pa.binary())])


def work_batches(units: Iterable[ExtractionUnit], size: int = 256) -> Iterator[Any]:
    """Yield units as record batches for the workers."""
    held: list[ExtractionUnit] = []
    for unit in units:
        held.append(unit)
        if len(held) >= size:
            yield _batch(held)
            held = []
    if held:
        yield _batch(held)


def units_from(batch: Any) -> Iterator[ExtractionUnit]:
    """Yield the units in a record batch that `work_batches` made."""
    for packed in batch.column("unit"):
        yield pickle.loads(packed.as_buffer())  # our own, made by `work_batches` in this run


def _batch(units: list[ExtractionUnit]) -> Any:
    keys = pa.array([unit.key for unit in units], pa.int64())
    return pa.RecordBatch.from_arrays([keys, pa.array([pickle.dumps(u) for u in units], pa.binary())], schema=_WORK)

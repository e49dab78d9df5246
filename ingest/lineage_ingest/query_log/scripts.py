"""Scripts that a log lists in addition to their statements: each statement must count once.

A row with `is_script` counts only if no row of the log, in any file and at any position, has it as its parent. A log
that was exported without the statements (`WHERE parent_job_id IS NULL`) contains only scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Problem

__all__ = ["IDS_SCHEMA", "count_scripts_once", "mark_unknown", "script_ids", "within"]

IDS_SCHEMA = pa.schema([pa.field("id", pa.string()), pa.field("is_parent", pa.bool_())])
"""Statement ids: those of parents (`is_parent`), and those of scripts."""

Normalise = Callable[[Iterable[Any]], Iterator[Any]]


def count_scripts_once(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield all batches of a log, in the log schema, without the scripts whose statements are in it."""
    parents: set[str] = set()
    held: list[Any] = []
    for batch in batches:
        parents.update(_parents(batch))
        scripts = _is_script(batch)
        if pc.any(scripts, min_count=0).as_py():
            held.append(batch.filter(scripts))
            batch = batch.filter(pc.invert(scripts))  # noqa: PLW2901
        if batch.num_rows:
            yield batch
    value_set = pa.array(sorted(parents), pa.string())
    for batch in held:
        alone = batch.filter(pc.invert(pc.is_in(batch.column("statement_id"), value_set)))
        if alone.num_rows:
            yield alone


def script_ids(batches: Iterable[Any], normalise: Normalise) -> Iterator[Any]:
    """Yield the ids of scripts and of parents in a part of a log, as batches of `IDS_SCHEMA`."""
    for batch in normalise(batches):
        parents = pa.array(list(_parents(batch)), pa.string())
        scripts = batch.column("statement_id").filter(_is_script(batch)).drop_null()
        ids = pa.concat_arrays([parents, scripts])
        if len(ids):
            is_parent = pa.array([True] * len(parents) + [False] * len(scripts), pa.bool_())
            yield pa.RecordBatch.from_arrays([ids, is_parent], schema=IDS_SCHEMA)


def within(batches: Iterable[Any], normalise: Normalise, shared: Any) -> Iterator[Any]:
    """Yield a source's rows in the log schema, without scripts whose statements are in the log.

    `shared` is a Spark broadcast variable: the ids of the scripts without statements in the log.
    """
    for batch in normalise(batches):
        identity = batch.column("statement_id")
        alone = pc.or_(pc.is_null(identity), pc.is_in(identity, shared.value))
        kept = batch.filter(pc.or_(pc.invert(_is_script(batch)), alone))
        if kept.num_rows:
            yield kept


def mark_unknown(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches in which scripts have a problem: a stream may still deliver their statements."""
    for batch in batches:
        scripts = _is_script(batch)
        if not pc.any(scripts, min_count=0).as_py():
            yield batch
            continue
        index = batch.schema.get_field_index("problem")
        problem = pc.coalesce(
            batch.column(index), pc.if_else(scripts, str(Problem.SCRIPT), pa.scalar(None, pa.string()))
        )
        yield batch.set_column(index, batch.schema.field(index), problem)


def _is_script(batch: Any) -> Any:
    return batch.column("is_script")


def _parents(batch: Any) -> set[str]:
    return set(batch.column("parent_id").unique().drop_null().to_pylist())

"""The stage "normalise": converts a source's rows to rows of the log schema, in-process and on Spark.

On Spark: `read.mapInArrow(partial(normalize_rows, source=source, clustered=True), …)`. If the source has an `assembly`,
the rows of each group must be adjacent: call `read.repartition(*by).sortWithinPartitions(*by)` first. Files whose rows
depend on the order of lines (`reading.placed`), and files that Spark has no reader for (`reading.kind` is `records`),
are read with `read_log_file` in a worker, one file at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.reading.coercion import texts
from lineage_ingest.query_log.reading.file_reports import without_reports
from lineage_ingest.query_log.sources.runs import starts
from lineage_ingest.query_log.sources.source import Source

__all__ = ["assemble_rows", "normalize_rows"]

_ROWS = 8_192
_BYTES = 64_000_000  # maximum size of rows that are assembled at once


def normalize_rows(batches: Iterable[Any], source: Source, *, clustered: bool = False) -> Iterator[Any]:
    """Yield the record batches of a source's rows as batches of the log schema.

    Args:
        batches: record batches of the source's columns.
        source: the source of the rows.
        clustered: for a source with an `assembly`: True if the rows of each group are adjacent (in any order), which
            needs memory for the largest group only; False if they can be anywhere, which keeps all rows in memory.
    """
    reports: list[Any] = []
    rows = without_reports(iter(batches), reports)
    if source.assembly is None:
        for batch in rows:
            yield from _of_schema(source, batch)
    else:
        for table in assemble_rows(rows, source, clustered=clustered):
            for batch in table.combine_chunks().to_batches(max_chunksize=_ROWS):
                yield from _of_schema(source, batch)
    yield from reports


def assemble_rows(batches: Iterable[Any], source: Source, *, clustered: bool = False) -> Iterator[Any]:
    """Yield tables in which each group of rows is merged into one row by the source's assembly.

    Args:
        batches: record batches of the source's columns.
        source: the source of the rows.
        clustered: as for `normalize_rows`.
    """
    held: list[Any] = []
    if not clustered:
        for tables in _bounded_groups([pa.Table.from_batches([batch]) for batch in batches], source):
            yield source.assemble(_join_tables(tables))
        return
    for batch in batches:
        table = pa.Table.from_batches([batch])
        cut = _last_start(table, source) if _comparable(held, table) else 0
        if cut:
            yield source.assemble(_join_tables([*held, table.slice(0, cut)]))
            held = [table.slice(cut)]
        else:
            held.append(table)
    if held:
        yield source.assemble(_join_tables(held))


def _bounded_groups(tables: list[Any], source: Source) -> Iterator[list[Any]]:
    """Yield lists of tables with complete groups of rows, partitioned by a hash of the group to limit their size."""
    assert source.assembly is not None
    turns = sum(table.nbytes for table in tables) // _BYTES + 1
    if turns == 1:
        if tables:
            yield tables
        return
    hands: list[list[Any]] = [[] for _ in range(turns)]
    while tables:
        table = tables.pop(0)
        turn = _turns(table, source, turns)
        order = pc.sort_indices(turn)
        table, turn = table.take(order), turn.take(order)
        places = pc.indices_nonzero(starts(turn)).to_pylist()
        for start, end in zip(places, [*places[1:], table.num_rows], strict=True):
            hands[turn[start].as_py()].append(table.slice(start, end - start))
    while hands:
        if hand := hands.pop():
            yield hand


def _turns(table: Any, source: Source, turns: int) -> Any:
    """Return a partition number below `turns` for each row, the same for all rows of a group."""
    assert source.assembly is not None
    names = {name.lower(): name for name in table.column_names}
    keys = [pc.fill_null(texts(_flat(table.column(names[n]))), "") for n in source.assembly.by if n in names]
    if not keys:
        return pa.repeat(pa.scalar(0, pa.int64()), table.num_rows)
    joined = pc.binary_join_element_wise(*keys, "\0").dictionary_encode()
    numbers = [crc32(key.encode()) % turns for key in joined.dictionary.to_pylist()]
    return pa.array(numbers, pa.int64()).take(joined.indices)


def _comparable(held: list[Any], table: Any) -> bool:
    """Return whether a table has the same columns as the tables before it (the next file may have others)."""
    return not held or held[-1].schema.names == table.schema.names


def _last_start(table: Any, source: Source) -> int:
    """Return the index at which the table's last group begins; 0 if it is the only one."""
    assert source.assembly is not None
    names = {name.lower(): name for name in table.column_names}
    keys = [_flat(table.column(names[name])) for name in source.assembly.by if name in names]
    if not keys or table.num_rows == 0:
        return 0
    return int(pc.indices_nonzero(starts(*keys))[-1].as_py())


def _join_tables(tables: list[Any]) -> Any:
    return pa.concat_tables(tables, promote_options="permissive")


def _flat(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _of_schema(source: Source, batch: Any) -> Iterator[Any]:
    made = source.normalise(batch)
    if made.num_rows:
        yield made

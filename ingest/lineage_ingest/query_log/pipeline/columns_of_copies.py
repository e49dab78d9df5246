"""The columns of tables that a rename copies (`kept_backups.py`), where no schema lists them: those known from use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key
from lineage_ingest.query_log.pipeline.copied_tables import StatingJob
from lineage_ingest.query_log.pipeline.earlier import Earlier

__all__ = ["state_columns_of_copies"]

_STAR = "*"


def state_columns_of_copies(
    jobs: Iterable[StatingJob],
    copied: Iterable[tuple[str, str]],
    columns: Callable[[str], Iterable[str]],
    earlier: Earlier,
    before: Iterable[str],
) -> None:
    """Add an edge from each known column to jobs that copy tables of unknown schema.

    `copied` are the keys of tables and of their copies, `columns` returns the columns that the log knows of a table,
    and `before` are the tables that existed before the log.
    """
    stars = {(column_key(table, _STAR), column_key(to, _STAR)): (table, to) for table, to in copied}
    if not stars:
        return
    listed = list(jobs)
    copies = [
        (job, edge, *stars[edge.source, edge.target])
        for job in listed
        for edge in job.stated()
        if (edge.source, edge.target) in stars
    ]
    found = {table: dict.fromkeys(columns(table)) for _, _, table, _ in copies}
    there = sorted(found.keys() & set(before))
    stated = [edge for job in listed for edge in job.stated()] if found else []
    for edge in (*stated, *(earlier.edges_into(there) if there else ())):
        for key in (edge.source, edge.target):
            if is_column_key(key) and dataset_of(key) in found:
                found[dataset_of(key)][split_column_key(key)[1]] = None
    for job, edge, table, to in copies:
        for path in found[table]:
            job.state(replace(edge, source=column_key(table, path), target=column_key(to, path)))

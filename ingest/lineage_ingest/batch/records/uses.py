"""The datasets and columns that each statement reads and writes."""

from __future__ import annotations

from collections.abc import Callable

from lineage.frozen import frozen
from lineage.model.names import column_key, column_text
from lineage.model.statement import ColumnRef, StatementLineage
from lineage_ingest.batch.renamed_tables import LaterNames, is_gone, table_after

__all__ = ["Use", "use_of"]

_STAR = "*"


@frozen
class Use:
    """Keys of the datasets and columns that a statement of a job reads and writes. `source` names its text."""

    source: str
    job: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def use_of(
    statement: StatementLineage,
    source: str,
    job: str,
    target: str | None,
    later: LaterNames,
    key_of: Callable[[str], str],
) -> Use:
    """Return what a statement reads and writes; `target` is the key of the dataset that it writes."""
    writes = () if target is None else (target, *_written_columns(statement, target, later))
    return Use(source, job, _reads(statement, later, key_of), writes)


def _reads(statement: StatementLineage, later: LaterNames, key_of: Callable[[str], str]) -> tuple[str, ...]:
    keys = {name: key_of(later.table(name)) for name in statement.sources}
    reads = dict.fromkeys(keys.values())
    for table, column in dict.fromkeys((*(edge.source for edge in statement.edges), *statement.returned)):
        if table is not None and column != _STAR:
            key = keys.get(table) or key_of(later.table(table))
            if not is_gone(path := later.column(table, column)):
                reads[column_key(key, path)] = None
    return tuple(reads)


def _written_columns(statement: StatementLineage, target: str, later: LaterNames) -> dict[str, None]:
    columns = (edge.target.column for edge in statement.edges if isinstance(edge.target, ColumnRef))
    table = str(table_after(statement))
    paths = (*map(column_text, statement.output_columns), *columns)
    named = dict.fromkeys(later.column(table, path) for path in paths)
    return dict.fromkeys(column_key(target, name) for name in named if name != _STAR and not is_gone(name))

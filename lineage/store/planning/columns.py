"""Columns and nested fields: made when something names them, completed and let go by schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from lineage.model.batch import ColumnRecord
from lineage.model.names import ColumnPath, column_key
from lineage.model.spelling import spelling_of
from lineage.store.planning.graph_state import GraphState
from lineage.store.planning.observations import UNOBSERVED
from lineage.store.planning.validity import retire_at
from lineage.store.values import StoredColumn

__all__ = ["complete_column", "ensure_column", "remove_columns", "with_parents"]

_FOR_EVER = datetime.max.replace(tzinfo=UTC)
_AS_THEY_ARE: Mapping[str, str] = {}


def with_parents(path: str) -> Iterator[str]:
    """Yield the path of a column and those of all fields that it lies in, the innermost first.

    >>> list(with_parents('address."zip.code"'))
    ['address."zip.code"', 'address']
    """
    yield path
    inner = ColumnPath.parse(path).parent
    while inner is not None:
        yield str(inner)
        inner = inner.parent


def ensure_column(
    state: GraphState,
    dataset: str,
    path: str,
    at: datetime,
    first: datetime | None = None,
    spellings: Mapping[str, str] = _AS_THEY_ARE,
) -> None:
    """Make the column, and the fields it lies in, where they are not known. Lineage later than its end revives it.

    It is named from `first` (`at`, without) until `at`. `spellings` are how paths are written: as long as no schema has
    the column, as what first names it writes it.
    """
    first = first or at
    for inner in with_parents(path):
        key = column_key(dataset, inner)
        known = state.columns.get(key)
        if known is None:
            above = ColumnPath.parse(inner).parent
            state.columns[key] = StoredColumn(
                key=key,
                dataset=dataset,
                path=inner,
                data_type=None,
                ordinal=None,
                inferred=True,
                parent=column_key(dataset, str(above)) if above else None,
                first_seen=first,
                spelling=spelling_of(inner, spellings.get(inner)),
            )
            continue
        if known.dropped_at is not None and known.dropped_at < at:
            known = state.columns[key] = replace(known, dropped_at=None)
        if known.first_seen is not None and first < known.first_seen:
            by_reference = not _authority(known)
            written = spelling_of(inner, spellings.get(inner)) if by_reference else known.spelling
            state.columns[key] = replace(known, first_seen=first, spelling=written)


def complete_column(state: GraphState, dataset: str, record: ColumnRecord, at: datetime, *, late: bool) -> None:
    """Bring what a record says into its column. An inferred column becomes a known one, never the other way."""
    key = column_key(dataset, record.path)
    spellings = {record.path: record.spelling} if record.spelling is not None else _AS_THEY_ARE
    ensure_column(state, dataset, record.path, at, record.since, spellings)
    known = state.columns[key]
    stated, kept = (record.data_type, record.ordinal), (known.data_type, known.ordinal)
    first, second = (kept, stated) if late or (record.inferred and not known.inferred) else (stated, kept)
    ordinal = first[1] if first[1] is not None else second[1]
    state.columns[key] = replace(
        known,
        data_type=first[0] if first[0] is not None else second[0],
        ordinal=ordinal,
        last_ordinal=known.last_ordinal if ordinal is None else None,
        inferred=known.inferred and record.inferred,
        aliases=tuple(dict.fromkeys((*known.aliases, *(one for one in record.aliases if one != record.path)))),
        spelling=_spelling(known, record, late=late),
        dropped_at=known.dropped_at if late or record.inferred else None,
    )
    if not record.inferred:
        for inner in with_parents(record.path):
            above = state.columns[column_key(dataset, inner)]
            state.columns[above.key] = replace(above, inferred=False)


def _spelling(known: StoredColumn, record: ColumnRecord, *, late: bool) -> str | None:
    """Return how a column's path is written: a schema counts before a query that defines it, that before references."""
    said = _authority(record)
    if said > _authority(known) or (said == _authority(known) and said and not late):
        return spelling_of(known.path, record.spelling)
    return known.spelling


def _authority(column: StoredColumn | ColumnRecord) -> int:
    """Return whether a schema has a column (2), a query that defines the dataset (1), or it is only used (0)."""
    return 2 if not column.inferred else int(column.ordinal is not None)


def remove_columns(state: GraphState, gone: Mapping[str, datetime]) -> None:
    """Part with columns that whole schemas no longer have, by key with the schema's time.

    Their lineage ends then. What is stated at that time or later keeps a column, and so does lineage of one that only
    lineage ever named: no schema had it, so none can say that it is gone. Those that a schema had, or with a past, stay
    in the graph, marked. The state must hold all lineage of these columns.
    """
    if not gone:
        return
    last_used = _end_lineage(state, gone)
    parents = {column.parent for column in state.columns.values()}
    for key, at in gone.items():
        column, used = state.columns[key], last_used.get(key)
        if used is not None and used > at:
            if column.ordinal is not None and not column.inferred:
                state.columns[key] = column.without_ordinal()
            continue
        # One that a schema had is kept for who reads what was there then: a log that comes again.
        is_kept = not column.inferred or column.description is not None or column.tags
        if used is None and key not in state.bound_columns and key not in parents and not is_kept:
            del state.columns[key]
        elif column.dropped_at is None:
            state.columns[key] = replace(column.without_ordinal(), dropped_at=at)


def _end_lineage(state: GraphState, gone: Mapping[str, datetime]) -> dict[str, datetime]:
    """End what was last stated before a schema without the column; return when each column was last used."""
    last_used: dict[str, datetime] = {}
    for pair in list(state.histories):
        for key in {pair.source, pair.target} & gone.keys():
            history, at = state.histories[pair], gone[key]
            if history[-1].last_seen < at and not state.columns[key].inferred:
                history = state.histories[pair] = retire_at(history, at, UNOBSERVED)
            used = _FOR_EVER if history[-1].live else history[-1].last_seen
            last_used[key] = max(used, last_used.get(key, used))
    return last_used

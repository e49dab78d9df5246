"""Columns and nested fields: made when something names them, completed and let go by schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from lineage.model.batch import ColumnRecord
from lineage.model.names import ColumnPath, column_key
from lineage.store.planning.periods import end_at
from lineage.store.planning.state import State
from lineage.store.planning.timeline import UNOBSERVED
from lineage.store.protocol import StoredColumn

__all__ = ["complete_column", "ensure_column", "let_go", "with_parents"]

_FOR_EVER = datetime.max.replace(tzinfo=UTC)


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


def ensure_column(state: State, dataset: str, path: str, at: datetime, first: datetime | None = None) -> None:
    """Make the column, and the fields it lies in, where they are not known. Lineage later than its end revives it.

    It is named from `first` (`at`, without) until `at`.
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
            )
            continue
        if known.dropped_at is not None and known.dropped_at < at:
            known = state.columns[key] = replace(known, dropped_at=None)
        if known.first_seen is not None and first < known.first_seen:
            state.columns[key] = replace(known, first_seen=first)


def complete_column(state: State, dataset: str, record: ColumnRecord, at: datetime, *, late: bool) -> None:
    """Bring what a record says into its column. An inferred column becomes a known one, never the other way."""
    ensure_column(state, dataset, record.path, at, record.since)
    key = column_key(dataset, record.path)
    known = state.columns[key]
    told, kept = (record.data_type, record.ordinal), (known.data_type, known.ordinal)
    first, second = (kept, told) if late or (record.inferred and not known.inferred) else (told, kept)
    state.columns[key] = replace(
        known,
        data_type=first[0] if first[0] is not None else second[0],
        ordinal=first[1] if first[1] is not None else second[1],
        inferred=known.inferred and record.inferred,
        aliases=tuple(dict.fromkeys((*known.aliases, *(one for one in record.aliases if one != record.path)))),
        dropped_at=known.dropped_at if late or record.inferred else None,
    )
    if not record.inferred:
        for inner in with_parents(record.path):
            above = state.columns[column_key(dataset, inner)]
            state.columns[above.key] = replace(above, inferred=False)


def let_go(state: State, gone: Mapping[str, datetime]) -> None:
    """Part with columns that whole schemas no longer have, by key with the schema's time.

    Their lineage ends then. What is stated at that time or later keeps a column, and so does lineage of one that only
    lineage ever named: no schema had it, so none can say that it is gone. Those with a past stay in the graph, marked.
    The state must hold all lineage of these columns.
    """
    if not gone:
        return
    last_used = _end_lineage(state, gone)
    parents = {column.parent for column in state.columns.values()}
    for key, at in gone.items():
        column, used = state.columns[key], last_used.get(key)
        if used is not None and used > at:
            if column.ordinal is not None and not column.inferred:
                state.columns[key] = replace(column, ordinal=None)
            continue
        described = column.description is not None or column.tags
        if used is None and key not in state.bound_columns and key not in parents and not described:
            del state.columns[key]
        elif column.dropped_at is None:
            state.columns[key] = replace(column, ordinal=None, dropped_at=at)


def _end_lineage(state: State, gone: Mapping[str, datetime]) -> dict[str, datetime]:
    """End what was last stated before a schema without the column; return when each column was last used."""
    last_used: dict[str, datetime] = {}
    for pair in list(state.histories):
        for key in {pair.source, pair.target} & gone.keys():
            history, at = state.histories[pair], gone[key]
            if history[-1].last_seen < at and not state.columns[key].inferred:
                history = state.histories[pair] = end_at(history, at, UNOBSERVED)
            used = _FOR_EVER if history[-1].live else history[-1].last_seen
            last_used[key] = max(used, last_used.get(key, used))
    return last_used

"""Columns and nested fields: created when they are first referenced, completed and removed by schemas."""

from __future__ import annotations

from collections import Counter
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

__all__ = ["complete_column", "ensure_column", "is_unsupported", "remove_columns", "with_parents"]

_FOR_EVER = datetime.max.replace(tzinfo=UTC)
_AS_THEY_ARE: Mapping[str, str] = {}


def with_parents(path: str) -> Iterator[str]:
    """Yield the path of a column and those of the fields that contain it, innermost first.

    >>> list(with_parents('address."zip.code"'))
    ['address."zip.code"', 'address']
    """
    yield path
    if "." not in path:  # most are columns: this is called several times for each
        return
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
    *,
    used: bool = False,
) -> None:
    """Create the column and the fields that contain it, unless they exist. A reference after its drop revives it.

    It is then known by use only, as if no schema had ever had it: stating the schema without it again ends nothing. If
    it is `used`, by lineage, one of the same moment does so, too: such a column is not removed either.

    It is referenced from `first` (default: `at`) until `at`. `spellings` are paths as written: until a schema has the
    column, the spelling of its first reference is used.
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
        if known.dropped_at is not None and (known.dropped_at < at or (used and known.dropped_at == at)):
            known = state.columns[key] = replace(known, dropped_at=None, inferred=True)
        if known.first_seen is not None and first < known.first_seen:
            by_reference = not _authority(known)
            written = spelling_of(inner, spellings.get(inner)) if by_reference else known.spelling
            state.columns[key] = replace(known, first_seen=first, spelling=written)


def is_unsupported(state: GraphState, dataset: str, record: ColumnRecord, at: datetime) -> bool:
    """Return whether the known schema of a dataset outweighs the record of a column at `at`.

    A column that was dropped before does not come back, nor does a field of it, because a statement names it, or a
    description has it: both may be out of date. Lineage brings it back (`ensure_column`), a query that defines the
    dataset, and usage. What is only described is not added either.
    """
    known = state.columns.get(column_key(dataset, record.path))
    if record.described and (known is None or known.dropped_at is not None):
        return True
    if not record.inferred or record.ordinal is not None:
        return False
    around = (state.columns.get(column_key(dataset, inner)) for inner in with_parents(record.path))
    return any(one is not None and one.dropped_at is not None and one.dropped_at < at for one in around)


def complete_column(state: GraphState, dataset: str, record: ColumnRecord, at: datetime, *, late: bool) -> None:
    """Update a column from a record. An inferred column may become a known one, never the reverse."""
    key = column_key(dataset, record.path)
    if key not in state.columns and "." not in record.path:
        state.columns[key] = _new_column(key, dataset, record, at)
        return
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
            if above.inferred:
                state.columns[above.key] = replace(above, inferred=False)


def _new_column(key: str, dataset: str, record: ColumnRecord, at: datetime) -> StoredColumn:
    """Return a column that is no field, as its first record describes it: most columns of a first ingest."""
    return StoredColumn(
        key=key,
        dataset=dataset,
        path=record.path,
        data_type=record.data_type,
        ordinal=record.ordinal,
        inferred=record.inferred,
        parent=None,
        aliases=tuple(dict.fromkeys(one for one in record.aliases if one != record.path)),
        first_seen=record.since or at,
        spelling=spelling_of(record.path, record.spelling),
    )


def _spelling(known: StoredColumn, record: ColumnRecord, *, late: bool) -> str | None:
    """Return the spelling of a column's path: a schema precedes a defining query, which precedes references."""
    said = _authority(record)
    if said > _authority(known) or (said == _authority(known) and said and not late):
        return spelling_of(known.path, record.spelling)
    return known.spelling


def _authority(column: StoredColumn | ColumnRecord) -> int:
    """Return 2 if a schema has the column, 1 if a query that defines the dataset has it, 0 if it is only referenced."""
    return 2 if not column.inferred else int(column.ordinal is not None)


def remove_columns(state: GraphState, gone: Mapping[str, datetime]) -> None:
    """Remove columns (by key, with the schema's time) that complete schemas no longer have.

    Their lineage is retired at that time. A column stays, known by use, if lineage is observed at that time or later,
    or if only lineage ever referred to it: no schema had it, so no schema can remove it. Columns that a schema had, or
    that have history, stay in the graph and are marked as dropped. The state must contain all lineage of these columns.
    """
    if not gone:
        return
    last_used = _end_lineage(state, gone)
    parents = Counter(column.parent for column in state.columns.values())
    bound = state.bound_columns | {used.of for used in state.usage.values()}
    for key in sorted(gone, key=len, reverse=True):  # fields before what contains them, which may then go as well
        at = gone[key]
        column, used = state.columns[key], last_used.get(key)
        if used is not None and used > at:
            if column.parent is not None:  # what contains a field is used with it
                last_used[column.parent] = max(used, last_used.get(column.parent, used))
            if not column.inferred:
                state.columns[key] = replace(column.without_ordinal(), inferred=True)
            continue
        # A column that a schema had is kept for queries about that time, and for logs that are ingested again.
        is_kept = not column.inferred or column.description is not None or column.tags
        if used is None and key not in bound and not parents[key] and not is_kept:
            del state.columns[key]
            parents[column.parent] -= 1
        elif column.dropped_at is None or column.ordinal is not None:
            state.columns[key] = replace(column.without_ordinal(), dropped_at=column.dropped_at or at)


def _end_lineage(state: GraphState, gone: Mapping[str, datetime]) -> dict[str, datetime]:
    """Retire lineage last seen before the schema without the column; return when each column was last used."""
    last_used: dict[str, datetime] = {}
    for pair in list(state.histories):
        for key in {pair.source, pair.target} & gone.keys():
            history, at = state.histories[pair], gone[key]
            if history[-1].last_seen < at and not state.columns[key].inferred:
                history = state.histories[pair] = retire_at(history, at, UNOBSERVED)
            used = _FOR_EVER if history[-1].live else history[-1].last_seen
            last_used[key] = max(used, last_used.get(key, used))
    return last_used

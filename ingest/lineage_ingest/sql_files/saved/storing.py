"""Store the batch of an ingest: what is stated as the last ingest stated it is only seen again."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from lineage.model.batch import LineageBatch
from lineage.store.planning.chunking.unchanged import changed_part
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.batch.star_expansion import expand_stars
from lineage_ingest.sql_files.saved.known_files import KnownFiles, are_settled, fields_of_edges
from lineage_ingest.sql_files.saved.restated_changes import with_known_times
from lineage_ingest.sql_files.saved.saved_batch import (
    BatchState,
    BatchStateFiles,
    Unchanged,
    can_be_seen_again,
    is_newest,
    state_of,
    unchanged_since,
)
from lineage_ingest.sql_files.saved.stored_schemas import StoredSchemas

__all__ = ["store_batch"]


def store_batch(
    store: GraphStore,
    batch: LineageBatch,
    stated: BatchStateFiles | None,
    before: BatchState | None,
    *,
    project: str,
    schemas: StoredSchemas,
    files: KnownFiles | None,
) -> tuple[AppliedChanges, int | None]:
    """Store a batch; return what has changed, and the number of files that were stored; None if all were.

    `before` is what the last ingest of the project stated, which `stated` has; the batch is compared with it, and
    replaces it there, if the ingest writes nothing else (`alone`). What names a table that others have seen since is
    stored as well. A batch that renames or drops is always stored as a whole, and so is the next one. Tables about
    whose columns something is to be decided are stored again, too: `schemas` are those from before the ingest. `files`
    are kept for the next ingest, if nothing is to be decided then.

    Raises:
        StoreError: the store could not be read or written. Ingest again: nothing is lost or doubled.
    """
    is_comparable = stated is not None and not batch.changes
    batch = replace(batch, changes=with_known_times(store, batch.changes))
    now = state_of(batch) if is_comparable else None
    fields = fields_of_edges(batch)
    unsettled = {one.key for one in batch.datasets if not schemas.is_settled(one, fields.get(one.key, ()))}
    unchanged = _unchanged(store, before, now, unsettled, schemas)
    is_repeatable = now is not None and is_newest(store, batch)
    applied = _apply(store, batch, unchanged)
    described = (record.key for record in batch.datasets if record.schema_known)
    for opened in expand_stars(store, described, batch.run.at):
        applied += store.apply(opened)
        is_repeatable = False  # the store has more than was stated
    if stated is not None and now is not None and is_repeatable:
        if files is not None and are_settled(batch, schemas, unchanged.datasets if unchanged is not None else ()):
            now = replace(now, files=files)
        stated.write(store.last_session, project, now)
    return applied, _files_to_store(batch, unchanged)


def _unchanged(
    store: GraphStore,
    before: BatchState | None,
    now: BatchState | None,
    unsettled: Set[str],
    schemas: StoredSchemas,
) -> Unchanged | None:
    """Return what need not be stored again; None if everything is to be."""
    if before is None or now is None or before.at >= now.at:
        return None
    unchanged = unchanged_since(before, now).without(schemas.seen_after(before.at), now)
    unchanged = replace(unchanged, datasets=unchanged.datasets - unsettled)
    return unchanged if unchanged.jobs and can_be_seen_again(store, unchanged) else None


def _apply(store: GraphStore, batch: LineageBatch, unchanged: Unchanged | None) -> AppliedChanges:
    if unchanged is None:
        return store.apply(batch)
    store.see_again(unchanged.jobs, unchanged.datasets, unchanged.since, batch.run.at)
    return store.apply(changed_part(batch, unchanged.jobs, unchanged.datasets))


def _files_to_store(batch: LineageBatch, unchanged: Unchanged | None) -> int | None:
    if unchanged is None:
        return None
    return len({job.file_key for job in batch.jobs if job.key not in unchanged.jobs})

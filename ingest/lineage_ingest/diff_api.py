"""Compare two revisions of a project: the Python API of `lineage diff`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from lineage.garbage_collection import seldom_collecting
from lineage.store import GraphStore
from lineage_ingest.api import opened_store
from lineage_ingest.diff.project_diff import ProjectDiff, diff_projects
from lineage_ingest.diff.revisions.revisions import RevisionOptions, read_revisions

__all__ = ["diff_revisions"]


def diff_revisions(
    base: str | Path,
    head: str | Path,
    *,
    store: GraphStore | str | Path | None = None,
    options: RevisionOptions | None = None,
    pii_tag: str = "pii",
    progress: Callable[[str, int, int | None], None] | None = None,
) -> ProjectDiff:
    """Return what a change of a dbt project, or of a folder of SQL files, does to each column. Nothing is executed.

    Args:
        base: the side before the change: dbt's target folder, a folder of SQL, or either at a revision of git
            (`main:models`).
        head: the side after the change, likewise.
        store: an open store, or the address of one: the graph before the change, with the readers. None: they are
            unknown.
        options: dialect, schemas, names.
        pii_tag: the tag of columns with personal data, in dbt and in the store.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: a side is neither a folder nor a revision, or the two are of different kinds.
        GitRevisionError: git does not know a revision.
        NoManifestError: a manifest cannot be read.
        NoSqlFilesError: a folder has no SQL files.
        StoreError: the store could not be read.
    """
    with seldom_collecting(), tempfile.TemporaryDirectory(prefix="lineage-diff-") as work:
        sides = read_revisions(str(base), str(head), options or RevisionOptions(), Path(work))
        with nullcontext() if store is None else opened_store(store, read_only=True) as opened:
            return diff_projects(*sides, opened, pii_tag=pii_tag, progress=progress)

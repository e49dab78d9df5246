"""The dialect of files for which none is given: as they were ingested before, else as their project says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from lineage.model.batch import JobKind
from lineage.model.files import Environment, FileKey, beginning
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection
from lineage_ingest.sql_files.files.discovery import find_sql_files
from lineage_ingest.sql_files.files.projects import FoundBy, Project, ProjectFinder
from lineage_ingest.sql_files.files.sources import Sources

__all__ = ["guess_dialect"]

_STATED = {
    "target/manifest.json": re.compile(rb'"adapter_type": *"(\w+)"'),
    ".sqlfluff": re.compile(rb"^dialect *= *(\w+)", re.MULTILINE),
}
"""Files of a project that name its dialect, with where."""
_FIRST_BYTES = 65_536  # a manifest begins with its metadata


def guess_dialect(paths: Iterable[Path], store: GraphStore | None, project: str | None) -> tuple[str, str]:
    """Return the dialect of the files under these paths, and a notice that says where it is from.

    Raises:
        NoSqlFilesError: a path does not exist.
        StoreError: the store could not be read.
    """
    sources = Sources(find_sql_files(paths), (), Environment("ansi"), ProjectFinder())
    readings = sources.readings() if project is None else [(Project(project, None, FoundBy.OPTION), "")]
    files = tuple(beginning(one.name, path) for one, path in readings)
    heads = store.select_jobs(JobSelection(files=files, kinds=(JobKind.SQL_FILE,))) if store is not None else ()
    keys = {FileKey.parse(str(head.file_key)) for head in heads}
    own = {(one.name, one.path_of(file)) for one, _ in readings for file in sources.found.files}
    before = {key.environment.dialect for key in keys if project or (key.project, key.path) in own} - {"ansi"}
    if len(before) == 1:
        return (dialect := before.pop()), f"no dialect given: {dialect}, as these files were ingested before"
    for folder in sources.found.named[:1]:
        for name, stated in ((f"{one}/{name}", name) for one in (folder, *folder.parents) for name in _STATED):
            found = _stated_in(Path(name), _STATED[stated])
            if found is not None:
                return found, f"no dialect given: {found}, that of {name}"
    return "ansi", "no dialect given: ansi; give --dialect if the files are of a product"


def _stated_in(file: Path, pattern: re.Pattern[bytes]) -> str | None:
    try:
        with file.open("rb") as opened:
            found = pattern.search(opened.read(_FIRST_BYTES))
    except OSError:
        return None
    if found is None:
        return None
    from lineage_ingest.dbt.relation_names import dialect_of_adapter  # noqa: PLC0415  few projects are of dbt

    return dialect_of_adapter(found[1].decode())

"""Attribution of statements to jobs and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from lineage.frozen import frozen
from lineage.model.batch import JobKind, file_job_key
from lineage.model.statement import StatementLineage

__all__ = ["Attribute", "Attribution", "FileOrigin", "of_files"]


@frozen
class Attribution:
    """The job that a statement belongs to, and when it ran."""

    key: str
    kind: JobKind
    source: str | None
    first_seen: datetime
    last_seen: datetime
    file_key: str | None = None


Attribute = Callable[[StatementLineage, str | None], Attribution]
"""Takes a statement (its `source` names the text) and its target's key; returns its attribution."""


@frozen
class FileOrigin:
    """A file: its display name and its key."""

    source: str
    key: str


def of_files(at: datetime, files: Mapping[str, FileOrigin] | None = None) -> Attribute:
    """Return the attribution of statements in files: one job for each target of a file.

    `files` are the files by the names of their texts; without them, the name of the text identifies the file.
    """

    def attribute(statement: StatementLineage, target: str | None) -> Attribution:
        source = statement.source or ""
        if files is None:
            return Attribution(file_job_key(source, target), JobKind.SQL_FILE, source, at, at)
        file = files[source]
        return Attribution(file_job_key(file.key, target), JobKind.SQL_FILE, file.source, at, at, file.key)

    return attribute

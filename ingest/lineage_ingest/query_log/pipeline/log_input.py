"""The location of a log: local or remote files, or a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from lineage.frozen import frozen
from lineage_ingest.query_log.reading.log_files import find_log_files, size_of
from lineage_ingest.query_log.sources import Source

__all__ = ["Jdbc", "LogInput"]

_REMOTE = "://"


@frozen
class Jdbc:
    """A database that contains the log."""

    url: str
    since: datetime
    query: str | None = None
    """Replaces the source's own query."""
    properties: Mapping[str, str] = field(default_factory=dict)


@frozen
class LogInput:
    """The source of a log and its location: files, folders and patterns, or a database."""

    source: Source
    paths: tuple[str, ...] = ()
    jdbc: Jdbc | None = None

    @property
    def name(self) -> str:
        """The log's name in diagnostics and ingest runs."""
        return f"{self.source.name} log"

    @property
    def is_remote(self) -> bool:
        """Whether only Spark can read it."""
        return self.jdbc is not None or any(_REMOTE in path for path in self.paths)

    def size(self) -> int:
        """Return the total size of its files in bytes."""
        return sum(size_of(path, self.source) for path in find_log_files(self.paths, self.source))

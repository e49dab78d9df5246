"""The embedded store: one SQLite file, with checksums of its pages, which several processes may use at once."""

from lineage.store.sqlite.backend import SqliteBackend

__all__ = ["SqliteBackend"]

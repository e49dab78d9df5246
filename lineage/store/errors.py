"""The errors of stores.

StoreError
├── StoreUnreachableError    no server answers, or the file cannot be opened
│   ├── StoreAccessError     wrong password, or no permission on the path
│   ├── StoreLockedError     another process writes to the embedded store
│   └── StoreDamagedError    the file is damaged, or no lineage store
├── StoreSchemaError         the graph was written by another version of this program
├── StoreTimeoutError        a query exceeded its time limit
└── StoreWriteError          a batch could not be written; nothing of it was stored
    └── StoreFullError       the disk of the embedded store is full
"""

from __future__ import annotations

__all__ = [
    "StoreAccessError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreSchemaError",
    "StoreTimeoutError",
    "StoreUnreachableError",
    "StoreWriteError",
]


class StoreError(Exception):
    """Base class of store errors; `hint` suggests what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class StoreUnreachableError(StoreError):
    """No server answers at the address, or the file cannot be opened; `server` is the product that does not answer."""

    def __init__(self, message: str, hint: str | None = None, server: str | None = None) -> None:
        super().__init__(message, hint)
        self.server = server


class StoreAccessError(StoreUnreachableError):
    """The store refuses access: wrong password, or no permission on the path."""


class StoreLockedError(StoreUnreachableError):
    """Another process has the embedded store open for writing."""


class StoreDamagedError(StoreUnreachableError):
    """The file is damaged, or no lineage store. Nothing was written over."""


class StoreSchemaError(StoreError):
    """The schema of the graph is newer than this program supports, or older, and it is only to be read."""

    @classmethod
    def older(cls, address: str, version: int, supported: int) -> StoreSchemaError:
        """Return the error of a graph that has to be migrated, which reading does not do."""
        return cls(
            f"{address} has schema version {version}, and this program reads {supported}: an earlier one wrote it",
            "`lineage store upgrade` migrates it, and so does the next ingest; a file is copied before that, "
            "a Neo4j database is not",
        )


class StoreTimeoutError(StoreError):
    """A query exceeded its time limit and was cancelled."""

    def __init__(self) -> None:
        super().__init__("the time limit was exceeded", "ask for fewer hops or columns, or raise the limit")


class StoreWriteError(StoreError):
    """A batch could not be written. Nothing of it was stored."""


class StoreFullError(StoreWriteError):
    """The disk is full, or the file may not grow. Reads still work; writes work again once there is space."""

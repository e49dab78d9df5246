"""What a store raises.

StoreError
├── StoreUnreachableError    no server answers, or the file cannot be opened
│   ├── StoreAccessError     wrong password, or no permission on the path
│   └── StoreLockedError     another process writes to the embedded store
├── StoreSchemaError         the graph was written by a newer version of this program
├── StoreTimeoutError        reading took longer than it may
└── StoreWriteError          a batch could not be written; nothing of it was stored
    └── StoreFullError       the disk of the embedded store is full
"""

from __future__ import annotations

__all__ = [
    "StoreAccessError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreSchemaError",
    "StoreTimeoutError",
    "StoreUnreachableError",
    "StoreWriteError",
]


class StoreError(Exception):
    """Something about a store; `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class StoreUnreachableError(StoreError):
    """No server answers at the address, or the file cannot be opened."""


class StoreAccessError(StoreUnreachableError):
    """The store is there and refuses: a wrong password, or a path without permission."""


class StoreLockedError(StoreUnreachableError):
    """Another process has the embedded store open for writing."""


class StoreSchemaError(StoreError):
    """The graph's schema is newer than this program knows."""


class StoreTimeoutError(StoreError):
    """Reading took longer than it may; it was ended."""

    def __init__(self) -> None:
        super().__init__("the time limit is over", "ask for fewer hops or fewer columns, or allow more time")


class StoreWriteError(StoreError):
    """A batch could not be written. Nothing of it was stored."""


class StoreFullError(StoreWriteError):
    """The disk is full, or a limit on the size of files is reached. Reading goes on, and writing once there is room."""

"""Errors of live databases. No message has a password.

CatalogError
└── DatabaseError            a database that cannot be read; `hint` says what to do
    ├── DatabaseAddressError     the address is malformed
    ├── DatabaseUnreachableError no connection
    └── DriverMissingError       the package that connects is not installed
"""

from __future__ import annotations

from lineage.catalog.table import CatalogError

__all__ = ["DatabaseAddressError", "DatabaseError", "DatabaseUnreachableError", "DriverMissingError"]


class DatabaseError(CatalogError):
    """A database that cannot be read."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class DatabaseAddressError(DatabaseError):
    """An address that is no database's."""


class DatabaseUnreachableError(DatabaseError):
    """A database to which there is no connection."""


class DriverMissingError(DatabaseError):
    """The package that connects to a database is not installed."""

"""How errors become messages and exit codes."""

from __future__ import annotations

from lineage.catalog import CatalogError
from lineage.catalog.database.errors import DatabaseUnreachableError
from lineage.cli.listing import note
from lineage.model.dialects import UnknownDialectError
from lineage.neo4j_server.errors import ServerError, ServerStartError
from lineage.sql.script.worker_pool import WorkerError
from lineage.store.errors import StoreError, StoreFullError, StoreUnreachableError
from lineage.traversal import NameLookupError

__all__ = ["explain_failure"]

INPUT_ERRORS, WRONG_USE, UNREACHABLE = 1, 2, 3


def explain_failure(error: Exception) -> int | None:
    """Print an error and its hint, and return the exit code; None for an unexpected error."""
    if isinstance(error, StoreError):
        code = UNREACHABLE if isinstance(error, StoreUnreachableError | StoreFullError) else INPUT_ERRORS
    elif isinstance(error, WorkerError):
        code = INPUT_ERRORS
    elif isinstance(error, ServerError):
        code = UNREACHABLE if isinstance(error, ServerStartError) else INPUT_ERRORS
    elif isinstance(error, DatabaseUnreachableError):
        code = UNREACHABLE
    elif isinstance(error, NameLookupError | UnknownDialectError | CatalogError):
        code = WRONG_USE
    else:
        return None
    note(f"error: {error}", "red")
    if hint := getattr(error, "hint", None):
        note(hint)
    return code

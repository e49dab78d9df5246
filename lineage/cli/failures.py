"""How errors become messages and exit codes."""

from __future__ import annotations

import re

import typer

from lineage.catalog import CatalogError
from lineage.catalog.database.errors import DatabaseUnreachableError
from lineage.model.dialects import UnknownDialectError
from lineage.neo4j_server.errors import ServerError, ServerStartError
from lineage.screen.layout import wrap
from lineage.screen.listing import console, note
from lineage.store.errors import StoreError, StoreFullError, StoreUnreachableError
from lineage.traversal import NameLookupError
from lineage.worker_pool import WorkerError

__all__ = ["explain_failure", "fit_message"]

_EXAMPLE = re.compile(r"^Example[^:]*: (.+?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_FORMATS = re.compile(r"does not match the formats .*")
INPUT_ERRORS, WRONG_USE, UNREACHABLE = 1, 2, 3


def fit_message(error: typer.BadParameter) -> None:
    """Wrap the message of an error about an argument at words, as it is printed: after `Error: ` and the argument."""
    example = _EXAMPLE.search(error.ctx.command.help or "") if error.ctx is not None and not error.message else None
    if example is not None:  # an argument is missing
        error.message = f"For example: {' '.join(example[1].split())}"
    begin = f"Error: {error.format_message().removesuffix(error.message)}"
    error.message = _FORMATS.sub("is no time: write 2026-01-31, or 2026-01-31 08:00", error.message)
    error.message = error.message.removeprefix("Value error, ")  # what checks values says of each
    text = "\n".join(wrap(begin + error.message, console(stderr=True).width))  # a line ends where a space was
    error.message = text[len(begin) :] if text[len(begin) - 1] == " " else "\n" + text[len(begin) :]


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

"""Logs without SQL: the protocol's library logs whole messages, and errors may quote what they could not read."""

from __future__ import annotations

import logging
import sys

__all__ = ["kind_and_place", "log_quietly", "logger"]

logger = logging.getLogger("lineage_editor")


def log_quietly(level: int = logging.WARNING) -> None:
    """Log to standard error: of this package only, since what the libraries log may contain the text of documents."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False
    for name in ("pygls", "asyncio", "sqlglot"):
        silent = logging.getLogger(name)
        silent.handlers[:] = [logging.NullHandler()]
        silent.propagate = False


def kind_and_place(error: BaseException) -> str:
    """Return the kind of an error and where it was raised, without its message.

    >>> kind_and_place(ValueError("SELECT 'secret'"))
    'ValueError'
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} at {trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"

"""Check for the optional dependencies of the service."""

from __future__ import annotations

import importlib.util

import typer

__all__ = ["check_installed"]


def check_installed(*modules: str) -> None:
    """Check that these can be imported.

    Raises:
        typer.BadParameter: one is missing; the message says how to install it.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise typer.BadParameter(
            f"this needs {', '.join(missing)}, which is not installed: pip install '.[server]' in a checkout of lineage"
        )

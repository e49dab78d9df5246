"""Whether what the service needs beside the library is installed."""

from __future__ import annotations

import importlib.util

import typer

__all__ = ["check_installed"]


def check_installed(*modules: str) -> None:
    """Check that these can be imported.

    Raises:
        typer.BadParameter: one is missing; how to install it is said.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise typer.BadParameter(
            f"this needs {', '.join(missing)}, which is not installed: pip install 'lineage-graph[server]'"
        )

"""Options of commands that ask a store. They load nothing of the extraction of SQL, so that answers come at once."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from lineage.screen.formats import OutputFormat

__all__ = ["FormatOption", "LockTimeoutOption", "RowsOption", "StoreOption"]

FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="Output format.")]
RowsOption = Annotated[int, typer.Option("--rows", min=0, help="Maximum number of rows to show; 0 shows all.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="Path of an embedded store, bolt://… (Neo4j) or http://… (a running service). Default: ./lineage.db.",
        envvar="LINEAGE_STORE",
    ),
]


def _wait_for_writers(seconds: float | None) -> None:
    if seconds is not None:  # a variable, so that processes of an ingest's own wait as long
        os.environ["LINEAGE_LOCK_TIMEOUT"] = str(seconds)


LockTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--lock-timeout",
        help="Seconds to wait while another process writes to the store's file. Default: 60.",
        metavar="SECONDS",
        min=0,
        envvar="LINEAGE_LOCK_TIMEOUT",
        callback=_wait_for_writers,
        expose_value=False,
    ),
]
"""Of commands that write. It has no value for them: the store asks for the variable."""

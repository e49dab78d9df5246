"""Options of commands that ask a store. They load nothing of the extraction of SQL, so that answers come at once."""

from __future__ import annotations

from typing import Annotated

import typer

from lineage.cli.listing import OutputFormat

__all__ = ["FormatOption", "StoreOption"]

FormatOption = Annotated[OutputFormat, typer.Option("--format", "-f", help="Output format.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="Path of an embedded store, bolt://… (Neo4j) or http://… (a running service). Default: ./lineage.db.",
        envvar="LINEAGE_STORE",
    ),
]

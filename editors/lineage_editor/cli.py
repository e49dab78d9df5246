"""`lineage lsp`. The protocol's library is imported when it runs, so that other commands start fast."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Annotated

import typer

from lineage.cli.options import CatalogOption, DatabaseOption, GuessedDialectOption, SchemaOption
from lineage.cli.store_options import StoreOption

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(short_help="Run the language server for editors.")
def lsp(
    store: StoreOption = None,
    dialect: GuessedDialectOption = None,
    catalog: CatalogOption = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the tables, where the store has several.")] = "",
    default_database: DatabaseOption = None,
    default_schema: SchemaOption = None,
    explorer: Annotated[
        str | None,
        typer.Option(help="Address of a running `lineage serve`, for 'open in the explorer'.", metavar="URL"),
    ] = None,
) -> None:
    """Run the language server for SQL files, on standard input and output. Editors start it themselves.

    Hover shows where a column comes from and goes to; go to definition follows it through stars, CTEs and files;
    diagnostics, completion, and "who breaks if this column is renamed or dropped?" as a code action.

    Files that the store has read keep their dialect and names; --dialect and the others are for the rest. Without
    a store, only the open files are known.

    Example: lineage lsp --store lineage.db --explorer http://127.0.0.1:8000
    """
    if importlib.util.find_spec("pygls") is None:
        raise typer.BadParameter(
            "this needs pygls, which is not installed: pip install '.[lsp]' in a checkout of lineage"
        )
    from lineage_editor.language_server import make_server  # noqa: PLC0415
    from lineage_editor.quiet_logging import log_quietly  # noqa: PLC0415
    from lineage_editor.settings import EditorSettings  # noqa: PLC0415

    log_quietly()
    settings = EditorSettings(
        store, dialect, namespace, default_database, default_schema, tuple(catalog or ()), explorer
    )
    # The protocol has standard output to itself: what anything prints goes to standard error.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    make_server(settings).start_io(stdout=channel)

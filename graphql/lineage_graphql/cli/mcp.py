"""`lineage mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from lineage.cli.options import StoreOption
from lineage.store import open_store
from lineage_graphql.installed import check_installed

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(short_help="Let AI assistants ask, over the Model Context Protocol.")
def mcp(
    store: StoreOption = None,
    http: Annotated[
        int | None, typer.Option("--http", min=1, max=65535, help="Serve HTTP on this port of 127.0.0.1; else stdio.")
    ] = None,
) -> None:
    """Let AI assistants ask the graph: search, impact, root cause, paths, evidence. Nothing is changed.

    An assistant starts it by itself; it needs the command `lineage mcp --store PATH`, for instance:

    {"mcpServers": {"lineage": {"command": "lineage", "args": ["mcp", "--store", "lineage.lbug"]}}}
    """
    check_installed("mcp")
    # Loaded when it runs: other commands stay quick.
    from lineage_graphql.assistant.server import make_server  # noqa: PLC0415

    with open_store(store, read_only=True) as opened:
        server = make_server(opened)
        if http is None:
            server.run("stdio")
        else:
            server.run("streamable-http", host="127.0.0.1", port=http)

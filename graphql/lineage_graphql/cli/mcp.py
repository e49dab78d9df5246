"""`lineage mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from lineage.cli.store_options import StoreOption
from lineage.store import open_store
from lineage_graphql.installed import check_installed

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(short_help="Run an MCP server for AI assistants.")
def mcp(
    store: StoreOption = None,
    http: Annotated[
        int | None,
        typer.Option("--http", min=1, max=65535, help="Serve HTTP on this port of 127.0.0.1, not stdio."),
    ] = None,
) -> None:
    """Run an MCP (Model Context Protocol) server: search, impact, root cause, paths, evidence. It is read-only.

    Assistants start the server themselves. Configure the command `lineage mcp --store PATH`, for example:

    {"mcpServers": {"lineage": {"command": "lineage", "args": ["mcp", "--store", "lineage.db"]}}}
    """
    check_installed("mcp")
    # Imported here so that other commands start fast.
    from lineage_graphql.assistant.server import make_server  # noqa: PLC0415

    with open_store(store, read_only=True) as opened:
        server = make_server(opened)
        if http is None:
            server.run("stdio")
        else:
            server.run("streamable-http", host="127.0.0.1", port=http)

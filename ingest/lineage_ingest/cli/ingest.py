"""`lineage ingest`: one command per source of lineage, imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from lineage.cli.commands import as_command

__all__ = ["app"]

_COMMANDS = {
    "log": "lineage_ingest.cli.log:log",
    "openlineage": "lineage_ingest.cli.openlineage:openlineage",
    "dbt": "lineage_ingest.cli.dbt:dbt",
    "sql": "lineage_ingest.cli.sql:sql",
    "postgres": "lineage_ingest.cli.postgres:postgres",
    "duckdb": "lineage_ingest.cli.database_files:duckdb",
    "sqlite": "lineage_ingest.cli.database_files:sqlite",
    "bi": "lineage_ingest.cli.bi:bi",
}


class _Sources(TyperGroup):
    """The commands of `lineage ingest`: reading logs takes a second to import, which the others need not wait for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command, imported if necessary."""
        if cmd_name in _COMMANDS and cmd_name not in self.commands:
            module, _, attribute = _COMMANDS[cmd_name].partition(":")
            self.add_command(as_command(cmd_name, getattr(import_module(module), attribute)), cmd_name)
        return self.commands.get(cmd_name)


app = typer.Typer(
    cls=_Sources,
    help="Ingest lineage from SQL files, dbt projects, query logs, databases and OpenLineage events.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def ingest() -> None:
    """Ingest lineage from SQL files, dbt projects, query logs, databases and OpenLineage events."""

"""`lineage ingest`: one command per source of lineage, imported when it is used."""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from lineage.cli.registry import as_command
from lineage.garbage_collection import seldom_collecting

__all__ = ["app"]

_COMMANDS = {
    "sql": ("lineage_ingest.cli.sql:sql", "SQL files, resolved against each other."),
    "dbt": ("lineage_ingest.cli.dbt:dbt", "A dbt project, from what dbt has written."),
    "log": ("lineage_ingest.cli.log:log", "A query log: lineage, and who used what."),
    "postgres": ("lineage_ingest.cli.postgres:postgres", "A PostgreSQL database, from its catalog."),
    "duckdb": ("lineage_ingest.cli.database_files:duckdb", "A DuckDB file, from its catalog."),
    "sqlite": ("lineage_ingest.cli.database_files:sqlite", "An SQLite file, from its catalog."),
    "bi": ("lineage_ingest.cli.bi:bi", "Dashboards: what the tool has exported."),
    "openlineage": ("lineage_ingest.cli.openlineage:openlineage", "OpenLineage events, of files or Kafka."),
}
"""By name, the function of each command, and its line in the help of `lineage ingest`."""


class _Sources(TyperGroup):
    """The commands of `lineage ingest`: reading logs takes a second to import, which the others need not wait for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command, imported if necessary."""
        if cmd_name in _COMMANDS and cmd_name not in self.commands:
            function, summary = _COMMANDS[cmd_name]
            module, _, attribute = function.partition(":")
            with seldom_collecting():  # what is imported stays
                imported = import_module(module)
            command = as_command(cmd_name, getattr(imported, attribute))
            command.short_help = summary
            self.add_command(command, cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        """Return the command to run; an error about an unknown one suggests similar names."""
        if args and args[0] not in _COMMANDS and Path(args[0]).exists():
            ctx.fail(f"{args[0]!r} is a path; did you mean `lineage ingest sql {shlex.quote(args[0])}`?")
        if args and args[0] not in _COMMANDS:
            for name in _COMMANDS:
                self.commands.setdefault(name, TyperCommand(name))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Sources,
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def ingest() -> None:
    """Ingest lineage from SQL files, dbt projects, query logs, databases, dashboards and OpenLineage events.

    Example: lineage ingest sql models/ --dialect postgres --catalog schema.sql
    """

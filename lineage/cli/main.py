"""The command line `lineage`. A command is imported when it is used; errors become exit codes."""

from __future__ import annotations

import gc
import logging
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import lineage.cli.wall_clock  # noqa: F401  its time begins
from lineage import __version__
from lineage.cli.registry import SUMMARIES, command_names, load_command
from lineage.garbage_collection import seldom_collecting
from lineage.model.text.visible_text import VisibleFormatter
from lineage.screen.output_encoding import accept_any_encoding

__all__ = ["app", "run"]


class _Commands(TyperGroup):
    """The commands of this package and of entry points."""

    _listing = False

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names of all commands."""
        return command_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command, imported if necessary; while help lists all commands, only its summary."""
        if cmd_name not in self.commands:
            if self._listing and cmd_name in SUMMARIES:
                return TyperCommand(cmd_name, help=SUMMARIES[cmd_name])
            with seldom_collecting():  # what is imported stays
                loaded = load_command(cmd_name)
            if loaded is None:
                return None
            self.add_command(loaded, cmd_name)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        """Return the command to run; an error about an unknown one suggests similar names."""
        names = command_names()
        if args and args[0] not in names:
            for name in names:
                self.commands.setdefault(name, TyperCommand(name))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; the lines of an error about its arguments fit the terminal."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader of the pipe, such as `head`, has all that it wants
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except typer.BadParameter as error:
            from lineage.cli.failures import fit_message  # noqa: PLC0415  imported late, as below

            fit_message(error)
            raise
        return result

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with the list of commands."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the commands that start with `incomplete`, each with its summary."""
        self._listing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._listing = False


app = typer.Typer(
    name="lineage",
    cls=_Commands,
    epilog="Exit status: 0 success, 1 some of the input failed, 2 usage error, 3 the store is unavailable.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes take as long to load as all the rest
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lineage {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Column-level data lineage: what depends on this column, and where does it come from?

    Example: lineage ingest sql models/ --dialect postgres, then lineage impact shop.orders.amount
    """


def run() -> None:
    """Run the command line and exit with its exit code."""
    if logging.lastResort is not None:  # prints warnings where logging is not configured
        logging.lastResort.setFormatter(VisibleFormatter())
    accept_any_encoding()
    try:
        app(prog_name="lineage")
    except Exception as error:
        # Imported late: the error classes import the stores and the parser.
        from lineage.cli.failures import explain_failure  # noqa: PLC0415

        code = explain_failure(error)
        if code is None:
            raise
        sys.exit(code)
    finally:
        if "duckdb" not in sys.modules:  # its binding reports each of its objects that is not collected as a leak
            gc.freeze()  # or the collector would go through every object before the process ends

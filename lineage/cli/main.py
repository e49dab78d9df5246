"""`lineage`: the command line as a whole, and how errors become exit codes. A command is loaded when it is used."""

from __future__ import annotations

import logging
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lineage import __version__
from lineage.cli.commands import SUMMARIES, command_names, load_command
from lineage.model.visible_text import VisibleFormatter

__all__ = ["app", "run"]


class _Commands(TyperGroup):
    """The commands of this package, and those that others add."""

    _listing = False

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names of all commands."""
        return command_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command, loaded if need be; while all are listed, only what the list shows of it."""
        if cmd_name not in self.commands:
            if self._listing and cmd_name in SUMMARIES:
                return TyperCommand(cmd_name, help=SUMMARIES[cmd_name])
            loaded = load_command(cmd_name)
            if loaded is None:
                return None
            self.add_command(loaded, cmd_name)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        """Return the command that is called; the error about an unknown one names the nearest of all commands."""
        names = command_names()
        if args and args[0] not in names:
            for name in names:
                self.commands.setdefault(name, TyperCommand(name))
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, which lists all commands."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the commands that begin so, each with its line of help."""
        self._listing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._listing = False


app = typer.Typer(
    name="lineage",
    cls=_Commands,
    help="Column-level data lineage: what depends on this column, and where does it come from?",
    epilog="Exit codes: 0 done, 1 done with errors in the input, 2 wrong use, 3 the store cannot be reached.",
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
    """Column-level data lineage: what depends on this column, and where does it come from?"""


def run() -> None:
    """Run the command line; end the process with the exit code."""
    if logging.lastResort is not None:  # what prints warnings where nobody set logging up
        logging.lastResort.setFormatter(VisibleFormatter())
    try:
        app(prog_name="lineage")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe, such as `head`, has seen enough
    except Exception as error:
        # The classes of errors are loaded here: before, that would load the stores and the parser for every command.
        from lineage.cli.failures import explain_failure  # noqa: PLC0415

        code = explain_failure(error)
        if code is None:
            raise
        sys.exit(code)

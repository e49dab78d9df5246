"""`lineage`: the commands, and how errors become exit codes."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import entry_points
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from lineage import __version__
from lineage.catalog import CatalogError
from lineage.cli import ask, export, extract, forget, neo4j, prune, runs, usage
from lineage.cli.listing import note
from lineage.model.dialects import UnknownDialectError
from lineage.model.visible_text import VisibleFormatter
from lineage.store.errors import StoreError, StoreUnreachableError
from lineage.traversal import NameLookupError

__all__ = ["app", "run"]

INPUT_ERRORS, WRONG_USE, UNREACHABLE = 1, 2, 3


class _Commands(TyperGroup):
    """The commands of this package, and those that others add, which are loaded when they are asked for."""

    _added: ClassVar = {point.name: point for point in entry_points(group="lineage.commands")}

    # Typer brings a click of its own, whose types are private.
    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands: those of this package, then the others."""
        return [*super().list_commands(ctx), *sorted(self._added)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, loaded if need be."""
        known = super().get_command(ctx, cmd_name)
        if known is None and cmd_name in self._added:
            known = typer.main.get_command(self._added[cmd_name].load())
            known.name = cmd_name
            self.add_command(known, cmd_name)
        return known


app = typer.Typer(
    name="lineage",
    cls=_Commands,
    help="Column-level data lineage: what depends on this column, and where does it come from?",
    epilog="Exit codes: 0 done, 1 done with errors in the input, 2 wrong use, 3 the store cannot be reached.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lineage {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and end.")
    ] = False,
) -> None:
    """Column-level data lineage: what depends on this column, and where does it come from?"""


app.command()(extract.extract)
app.command()(extract.tables)
app.command()(ask.impact)
app.command("root-cause")(ask.root_cause)
app.command()(ask.path)
app.command()(usage.usage)
app.command()(runs.runs)
app.command()(prune.prune)
app.command()(forget.forget)
app.add_typer(neo4j.app, name="neo4j")
app.add_typer(export.app, name="export")


def run() -> None:
    """Run the command line; end the process with the exit code."""
    if logging.lastResort is not None:  # what prints warnings where nobody set logging up
        logging.lastResort.setFormatter(VisibleFormatter())
    try:
        app(prog_name="lineage")
    except StoreError as error:
        _fail(error, error.hint, UNREACHABLE if isinstance(error, StoreUnreachableError) else INPUT_ERRORS)
    except (NameLookupError, UnknownDialectError, CatalogError) as error:
        _fail(error, getattr(error, "hint", None), WRONG_USE)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe, such as `head`, has seen enough


def _fail(error: Exception, hint: str | None, code: int) -> None:
    note(f"error: {error}", "red")
    if hint:
        note(hint)
    sys.exit(code)

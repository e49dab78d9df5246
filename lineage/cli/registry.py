"""The commands by name, with the summaries of `lineage --help`, so that listing them imports none.

Other packages and third parties add commands through the entry-point group `lineage.commands`. A command without a
summary here is imported for its help.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

__all__ = ["SUMMARIES", "as_command", "command_names", "load_command"]

_OWN = {
    "extract": "lineage.cli.commands.extract:extract",
    "tables": "lineage.cli.commands.extract:tables",
    "impact": "lineage.cli.commands.ask:impact",
    "root-cause": "lineage.cli.commands.ask:root_cause",
    "path": "lineage.cli.commands.ask:path",
    "search": "lineage.cli.commands.browse:search",
    "show": "lineage.cli.commands.browse:show",
    "columns": "lineage.cli.commands.browse:columns",
    "jobs": "lineage.cli.commands.jobs:jobs",
    "diagnostics": "lineage.cli.commands.jobs:diagnostics",
    "usage": "lineage.cli.commands.usage:usage",
    "tag": "lineage.cli.commands.tag:app",
    "pii": "lineage.cli.commands.pii:app",
    "unused": "lineage.cli.commands.unused:unused",
    "runs": "lineage.cli.commands.runs:runs",
    "prune": "lineage.cli.commands.prune:prune",
    "forget": "lineage.cli.commands.forget:forget",
    "store": "lineage.cli.commands.store_file:app",
    "doctor": "lineage.cli.commands.doctor:doctor",
    "neo4j": "lineage.cli.commands.neo4j:app",
    "export": "lineage.cli.commands.export:app",
}

SUMMARIES = {
    "extract": "Show the column lineage of SQL, without storing it.",
    "tables": "Show the tables that SQL reads and writes.",
    "impact": "What depends on this column or table?",
    "root-cause": "Where does this column or table come from?",
    "path": "How does one column reach another, and which SQL proves it?",
    "compare": "Compare lineage with what a product states itself.",
    "diff": "What does a pull request change, and who reads it?",
    "search": "Find tables and columns by part of their name.",
    "show": "Show a table: its columns, jobs and neighbours.",
    "columns": "List the columns of a table.",
    "jobs": "List the jobs that lineage comes from, or show a job's SQL.",
    "diagnostics": "List what could not be resolved, and why.",
    "usage": "Who used this column or table, how often and when?",
    "tag": "Say which columns hold personal data, and of which class.",
    "pii": "Where does personal data go, who reads it, how to erase it?",
    "unused": "Which tables can be dropped, in which order, and how sure?",
    "runs": "What was ingested, when, and how much was resolved?",
    "prune": "Retire ad-hoc lineage not seen since a date.",
    "forget": "Retire the lineage of a project, file, job or namespace.",
    "store": "Verify, back up, restore and compact the store's file.",
    "doctor": "What is wrong with this installation and store?",
    "neo4j": "Run a local Neo4j server, without Docker.",
    "export": "Write the graph as a page, a diagram, JSON or events.",
    "demo": "Ingest a week of a clinical database's log and explore it.",
    "follow": "Follow a query log that keeps growing.",
    "ingest": "Ingest SQL, dbt, logs, databases, dashboards, events.",
    "lsp": "Run the language server for editors (hover, definitions …).",
    "mcp": "Serve AI assistants over the Model Context Protocol.",
    "serve": "Serve GraphQL, and receive OpenLineage events.",
    "token": "Manage the service's API tokens.",
}
"""Short enough for a line of 80 columns."""


def command_names() -> list[str]:
    """Return the names of all commands: those of this package first, then the others sorted."""
    return [*_OWN, *sorted(point.name for point in entry_points(group="lineage.commands"))]


def load_command(name: str) -> Any:
    """Return the command of that name; None if there is none.

    Its type is Typer's bundled click command, which is private.
    """
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        found = getattr(import_module(module), attribute)
    else:
        points = [point for point in entry_points(group="lineage.commands") if point.name == name]
        if not points:
            return None
        found = points[0].load()
    return as_command(name, found)


def as_command(name: str, application: Any) -> Any:
    """Return the command of a function or an application, under a name."""
    if not isinstance(application, typer.Typer):
        alone = typer.Typer()
        alone.command(name)(application)
        application = alone
    # The help of every command looks like `lineage --help`.
    application.rich_markup_mode, application._add_completion = None, False
    command = typer.main.get_command(application)
    command.name = name
    _add_json_option(command)
    _name_values(command)
    return command


def _name_values(command: Any) -> None:
    """Show values in the help as manuals do: `NAME`, `[FILE...]`, `N`."""
    for inner in getattr(command, "commands", {}).values():
        _name_values(inner)
    for param in command.params:
        if param.param_type_name == "argument":
            param.metavar = (param.metavar or param.name).upper()
            shown = param.metavar + ("..." if param.nargs != 1 else "")
            param._usage_display_name = partial(str, shown if param.required else f"[{shown}]")
            param.display_type_rich = lambda ctx: ""  # noqa: ARG005  the library's signature
        elif param.metavar is None and not param.is_flag:
            kind = param.type_descriptor
            names = ("N", kind.is_ranged), ("TIME", kind.is_datetime), ("PATH", kind.is_path)
            values = "|".join(str(getattr(one, "value", one)) for one in kind.choices or ())
            number = "N" if kind.annotation in (int, float) else "TEXT"
            param.metavar = values or next((name for name, is_it in names if is_it), number)


_JSON = typer.Typer(add_completion=False)
"""Its only option is copied to other commands."""


@_JSON.command()
def _with_json(
    _: Annotated[bool, typer.Option("--json", help="Short for --format json.", is_eager=True)] = False,
) -> None:
    """Do nothing."""


def _add_json_option(command: Any) -> None:
    """Give each command with `--format`, and the commands of a group, the option `--json`: short for --format json."""
    for inner in getattr(command, "commands", {}).values():
        _add_json_option(inner)
    numbers = [number for number, param in enumerate(command.params) if "--format" in param.opts]
    if not numbers:
        return
    chosen = command.params[numbers[0]].name

    def choose(ctx: Any, _param: Any, wanted: bool) -> None:
        if wanted:  # the default of --format is read after this option, which is eager
            ctx.default_map = {**(ctx.default_map or {}), chosen: "json"}

    [option] = typer.main.get_command(_JSON).params
    option.expose_value, option.callback = False, choose
    command.params.insert(numbers[0] + 1, option)

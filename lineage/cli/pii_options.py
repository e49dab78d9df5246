"""Options that the commands of `lineage pii` share, and what they name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lineage.governance.breakers import Breakers, read_breakers
from lineage.governance.yaml_files import GovernanceFileError
from lineage.screen.listing import note
from lineage.sql.resolve.calls.functions import FunctionsFileError, ValueFunctions, value_functions
from lineage.store import GraphStore

__all__ = ["BreakersOption", "ClassOption", "FunctionsOption", "breakers_of", "functions_of"]

ClassOption = Annotated[list[str] | None, typer.Option("--class", help="Only this class of data. Repeatable.")]
FunctionsOption = Annotated[
    list[Path] | None,
    typer.Option("--functions", help="TOML file with your own functions ([partial]). Repeatable.", metavar="FILE"),
]
BreakersOption = Annotated[
    Path | None,
    typer.Option("--breakers", help="YAML file of what makes values anonymous.", metavar="FILE"),
]


def breakers_of(file: Path | None, store: GraphStore) -> Breakers | None:
    """Return the breakers of a file, and name those that nothing is known of; exit with 2 if the file is wrong."""
    try:
        found = read_breakers(file, store) if file is not None else None
    except GovernanceFileError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(2) from error
    for name in found.unknown if found is not None else ():
        note(f"breaker without effect: {name} is not known", "yellow")
    return found


def functions_of(files: list[Path] | None) -> ValueFunctions:
    """Return the functions that leave a part of a value, with those of the files; exit with 2 if one is wrong."""
    try:
        return value_functions(files or ())
    except (FunctionsFileError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--functions") from error

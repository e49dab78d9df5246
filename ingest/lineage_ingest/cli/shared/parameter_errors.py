"""Errors of the Python API's options, as errors of the command line."""

from __future__ import annotations

import typer

from lineage_ingest.options import OptionError

__all__ = ["bad_parameter", "parse_pairs"]

_FLAG_OF = {
    "paths": "PATHS",
    "target": "TARGET_DIR",
    "kind": "KIND",
    "mapping": "--map",
    "time_formats": "--time-format",
    "jdbc": "--jdbc-url",
}
"""Command-line names of options of the Python API, where the two differ."""


def bad_parameter(error: OptionError) -> typer.BadParameter:
    """Return the command-line error for an invalid option of the Python API."""
    flag = _FLAG_OF.get(error.option) or f"--{error.option.replace('_', '-')}"
    return typer.BadParameter(str(error), param_hint=flag)


def parse_pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """Return texts of the form NAME=VALUE as a dictionary.

    Raises:
        typer.BadParameter: one has another form.
    """
    pairs = [text.partition("=") for text in given or ()]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise typer.BadParameter(f"expected NAME=VALUE, got {name!r}", param_hint=option)
    return {name.strip(): value for name, _, value in pairs}

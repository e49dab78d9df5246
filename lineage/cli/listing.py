"""Printing listings: as a table for people, as JSON or CSV for programs. Colour and width only on a terminal.

What is printed comes from SQL, logs and events of others: characters that steer a terminal are made visible. CSV keeps
all else as it is, also what a spreadsheet would take for a formula: it is data for programs.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from lineage.model.visible_text import visible, visible_line

__all__ = ["OutputFormat", "console", "counted", "note", "print_listing", "print_object"]

_WIDE = 1000


class OutputFormat(StrEnum):
    """How a listing is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class _Console(Console):
    """A console that shows steering characters, wherever they stand; its own are no text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def console(*, stderr: bool = False) -> Console:
    """Return a console; into a file or a pipe, lines are as long as they need to be."""
    stream = sys.stderr if stderr else sys.stdout
    return _Console(file=stream, highlight=False, soft_wrap=True, width=None if stream.isatty() else _WIDE)


def note(text: str, style: str | None = None) -> None:
    """Print a line for people beside the answer: to the standard error stream."""
    console(stderr=True).print(visible(text), style=style, markup=False)


def counted(number: int, what: str) -> str:
    """Return a number of things, in the singular where it is one.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def print_listing(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    output: OutputFormat,
    *,
    title: str | None = None,
    styles: dict[str, str] | None = None,
) -> None:
    """Print rows under named columns. JSON gives a list of objects, CSV a header and a line a row."""
    if output is OutputFormat.JSON:
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2, default=str))
        return
    if output is OutputFormat.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([visible(_cell(value)) for value in row] for row in rows)
        return
    listed = [[visible_line(_cell(value)) for value in row] for row in rows]
    out = console()
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, title_style="bold")
    for position, name in enumerate(columns):
        numeric = bool(listed) and all(row[position].isdigit() for row in listed)
        style = (styles or {}).get(name)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", style=style)
    for row in listed:
        table.add_row(*map(Text, row))  # a text has no markup
    out.print(table)


def print_object(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, default=str))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(item) for item in value)
    return str(value)

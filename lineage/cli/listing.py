"""Print listings: as a table for people, as JSON or CSV for programs. Colour and width apply to terminals only.

Output contains text from SQL, logs and events, so control characters are escaped. CSV is data for programs: nothing
else is escaped, not even what a spreadsheet would run as a formula.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from lineage.cli.json_text import json_text
from lineage.cli.layout import Look, cell_text, lay_out, wrap
from lineage.model.visible_text import visible

__all__ = ["Look", "OutputFormat", "console", "counted", "line_width", "note", "print_listing", "print_object", "say"]

_WIDE = 1000


class OutputFormat(StrEnum):
    """Output formats."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class _Console(Console):
    """A console that escapes control characters in text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def line_width(stream: TextIO) -> int | None:
    """Return the maximum length of a line: COLUMNS, else the width of the terminal; None for a file or pipe."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None


def console(*, stderr: bool = False) -> Console:
    """Return a console that does not wrap lines."""
    stream = sys.stderr if stderr else sys.stdout
    return _Console(file=stream, highlight=False, soft_wrap=True, width=line_width(stream) or _WIDE)


def say(
    text: str, style: str = "", *, subject: str = "", stderr: bool = False, default_width: int | None = None
) -> None:
    """Print a line for people, wrapped at words. A `subject` at its beginning is highlighted.

    `default_width` is the maximum length of a line in a file or pipe; None for any length.
    """
    width = line_width(sys.stderr if stderr else sys.stdout) or default_width
    out = console(stderr=stderr)
    text, subject = visible(text), visible(subject)
    for line in text.split("\n"):
        for part in wrap(line, width):
            shown = Text(part, style)
            if subject and part.startswith(subject):
                shown.stylize("bold cyan", 0, len(subject))
            out.print(shown)


def note(text: str, style: str | None = None) -> None:
    """Print a line for people to standard error."""
    say(text, style or "", stderr=True)


def counted(number: int, what: str) -> str:
    """Return a number and a noun, in the plural unless the number is 1.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def print_listing(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    output: OutputFormat,
    look: Look | None = None,
    *,
    default_width: int | None = None,
) -> None:
    """Print rows under named columns. JSON prints a list of objects, CSV a header and one line per row.

    `default_width` is the width of a table in a file or pipe; None for any width.
    """
    if output is OutputFormat.JSON:
        print(json_text([dict(zip(columns, row, strict=True)) for row in rows]))
        return
    if output is OutputFormat.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([visible(cell_text(value)) for value in row] for row in rows)
        return
    out = console()
    for line in lay_out(columns, list(rows), look or Look(), line_width(sys.stdout) or default_width):
        out.print(line)


def print_object(value: Any) -> None:
    """Print a value as JSON."""
    print(json_text(value))

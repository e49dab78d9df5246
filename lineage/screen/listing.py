"""Print lines for people. Colour is for terminals only.

Output contains text from SQL, logs and events, so control characters are escaped.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from lineage.model.text.visible_text import visible
from lineage.screen.layout import wrap

__all__ = ["console", "counted", "is_file", "note", "say"]

_FILE_WIDTH = 80
"""Width for standard output that is a file or pipe."""
_LOG_WIDTH = 1000
"""Width for standard error that is a file or pipe of its own: a message is one line, as in a log."""


class _Console(Console):
    """A console that escapes control characters in text."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command line to end: rich would exit with 1."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def _line_width(stream: TextIO) -> int | None:
    """Return the maximum length of a line: COLUMNS, else the width of the terminal; None for a file or pipe."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None


def _is_shared() -> bool:
    """Return whether messages and output go to one file or pipe, as with `2>&1`: somebody reads them together."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False


def is_file() -> bool:
    """Return whether standard output is a file or pipe."""
    return _line_width(sys.stdout) is None


def console(*, stderr: bool = False) -> Console:
    """Return a console that does not wrap lines; its width is what they should fit."""
    stream = sys.stderr if stderr else sys.stdout
    width = _line_width(stream) or (_LOG_WIDTH if stderr and not _is_shared() else _FILE_WIDTH)
    return _Console(file=stream, highlight=False, soft_wrap=True, width=width)


def say(text: str, style: str = "", *, subject: str = "", stderr: bool = False, is_command: bool = False) -> None:
    """Print a line for people, wrapped at words. A `subject` in it is highlighted.

    A command is not wrapped, so that it can be copied.
    """
    out = console(stderr=stderr)
    width = None if is_command else out.width
    text, subject = visible(text), visible(subject)
    for line in text.split("\n"):
        for part in wrap(line, width):
            shown = Text(part, style)
            if subject and (found := re.search(rf"(?<![\w.]){re.escape(subject)}(?![\w.])", part)):
                shown.stylize("bold cyan", *found.span())
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

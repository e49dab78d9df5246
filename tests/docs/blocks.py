"""Reads the code blocks of a Markdown page, each with the marker before it.

A marker is an HTML comment on the line before the block:

    <!-- file: NAME -->             the block is written to this file, then used by later blocks
    <!-- exit: 1 -->                the command ends with this status
    <!-- parsed only: REASON -->    the commands are checked by the command line's own parser, not run
    <!-- tested by: PATH -->        that test runs the block; it names the page
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MARKERS", "Block", "commands", "read_blocks"]

MARKERS = ("file", "exit", "parsed only", "tested by")

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>[^\n]*?) -->\n)?^(?P<indent> *)```(?P<language>[a-z]*)\n(?P<text>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced code block."""

    language: str
    text: str
    line: int
    heading: str
    """The heading that it stands under."""
    marker: str = ""
    """What the comment before it is: one of MARKERS, or nothing."""
    value: str = ""
    """What the comment says behind the colon."""


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    text, blocks = page.read_text(encoding="utf-8"), []
    for found in _BLOCK.finditer(text):
        marker, _, value = (found["marker"] or "").partition(": ")
        headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text[: found.start()], flags=re.S | re.M), re.M)
        indent = len(found["indent"])
        body = "".join(line[indent:] if line.strip() else line for line in found["text"].splitlines(keepends=True))
        line = text.count("\n", 0, found.start("language")) + 1
        blocks.append(Block(found["language"], body, line, headings[-1] if headings else "", marker, value))
    return blocks


def commands(text: str) -> list[str]:
    """Return the commands of a shell block: continued lines joined, comments and empty lines left out.

    >>> commands("lineage runs  # all of them\\nlineage diff\\n")
    ['lineage runs', 'lineage diff']
    """
    lines = re.sub(r"\\\n", " ", text).splitlines()
    found = (re.sub(r"(^|\s+)# .*$", "", line).strip() for line in lines)
    return [line for line in found if line]

"""Offsets in a text and the positions of editors: lines and, mostly, UTF-16 code units."""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol.types import Position, PositionEncodingKind, Range

from lineage.model.diagnostics import Span

__all__ = ["TextPositions"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_UNIT_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class TextPositions:
    """The lines of a text; columns count the units of an encoding, as the protocol negotiates it.

    >>> found = TextPositions("a\\n\\U0001f600 b")
    >>> found.position(4), found.offset(Position(1, 3))
    (1:3, 4)
    """

    def __init__(self, text: str, encoding: PositionEncodingKind | str = PositionEncodingKind.Utf16) -> None:
        self._text = text
        self._codec, self._bytes = _UNIT_BYTES[str(getattr(encoding, "value", encoding))]
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._ends = [*(end.start() for end in ends), len(text)]

    def offset(self, position: Position) -> int:
        """Return the offset of a position; one beyond its line or the text is taken back to the end."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self._ends[position.line]
        line = self._text[start:end]
        if line.isascii():
            return min(start + position.character, end)
        data = line.encode(self._codec)[: position.character * self._bytes]
        return start + len(data.decode(self._codec, "ignore"))

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset]
        units = len(before) if before.isascii() else len(before.encode(self._codec)) // self._bytes
        return Position(line, units)

    def range(self, span: Span) -> Range:
        """Return the range of a span."""
        return Range(self.position(span.start), self.position(span.end))

"""Output on terminals and pipes that are not UTF-8."""

from __future__ import annotations

import codecs
import io
import sys

__all__ = ["accept_any_encoding"]

_NEAREST = {"→": "->", "…": "...", "─": "-", "│": "|", "├": "+", "└": "+", "·": ";", "•": "*", "≤": "<=", "≥": ">="}
"""What layouts write instead of characters that the encoding lacks; any other one is escaped, as Python writes it."""


def accept_any_encoding() -> None:
    """Make standard output and error write what their encoding lacks in another way, instead of failing."""
    codecs.register_error("lineage.nearest", _nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="lineage.nearest")


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    escaped = (_NEAREST.get(one) or one.encode("ascii", "backslashreplace").decode() for one in text)
    return "".join(escaped), error.end

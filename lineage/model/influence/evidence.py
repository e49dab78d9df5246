"""Evidence for edges: the spans in a job's SQL that prove an edge, and their positions in its file.

A proof is a chain of spans: where the source is read, then where each intermediate result is read, up to the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import le
from typing import NamedTuple, TypeAlias

__all__ = [
    "MAX_READS",
    "Chain",
    "SourcePosition",
    "chain_text",
    "chains_from",
    "is_sound",
    "spans_of",
    "position_in_source",
]

Chain: TypeAlias = tuple[int, ...]
"""The start and end of each span of a proof in turn, in code points of the job's SQL."""

MAX_READS = 8
"""Of a source that a statement reads more often, so many proofs are kept: whoever finds as many may lack some."""

_CHAIN = re.compile(r"\d+-\d+(?: \d+-\d+)*")


class SourcePosition(NamedTuple):
    """Where a statement of a job's SQL begins: `offset` in that SQL, `line` and `column` (from 1) in its file.

    The line is 0 if the statement is from another file.
    """

    offset: int
    line: int
    column: int


def spans_of(chain: Chain) -> list[tuple[int, int]]:
    """Return the spans (start, end) of a proof, in order.

    >>> spans_of((7, 12, 30, 43))
    [(7, 12), (30, 43)]
    """
    return list(zip(chain[::2], chain[1::2], strict=True))


def is_sound(chain: Chain) -> bool:
    """Return whether all spans of a chain are valid: none is negative or ends before it starts."""
    if len(chain) == 2:  # most are
        return 0 <= chain[0] <= chain[1]
    return bool(chain) and len(chain) % 2 == 0 and min(chain) >= 0 and all(map(le, chain[::2], chain[1::2]))


def chain_text(chain: Chain) -> str:
    """Return a chain in its stored form.

    >>> chain_text((7, 12, 30, 43))
    '7-12 30-43'
    """
    if len(chain) == 2:
        return f"{chain[0]}-{chain[1]}"
    return " ".join(map("{}-{}".format, chain[::2], chain[1::2]))


def chains_from(texts: Sequence[str] | None) -> tuple[Chain, ...]:
    """Return the chains parsed from their stored form; invalid ones (of an older version) are skipped.

    >>> chains_from(["7-12 30-43", "-1-0"])
    ((7, 12, 30, 43),)
    """
    return tuple(chain for text in texts or () if (chain := _chain_from(text)) is not None)


def _chain_from(text: str) -> Chain | None:
    start, _, end = text.partition("-")
    if start.isdecimal() and end.isdecimal():  # most are one span
        return int(start), int(end)
    return tuple(map(int, text.replace("-", " ").split(" "))) if _CHAIN.fullmatch(text) else None


def position_in_source(sql: str, positions: Iterable[SourcePosition], start: int) -> tuple[int, int] | None:
    """Return the line and column in the job's file of a span that begins at offset `start` of its SQL.

    None if the position of the SQL in the file is unknown.

    >>> position_in_source("SELECT a;\\nSELECT b", [SourcePosition(0, 3, 9), SourcePosition(10, 5, 1)], 17)
    (5, 8)
    """
    last = max((one for one in positions if one.offset <= start), default=None)
    if last is None or not last.line:
        return None
    newlines = sql.count("\n", last.offset, start)
    column = start - sql.rfind("\n", 0, start) if newlines else last.column + start - last.offset
    return last.line + newlines, column

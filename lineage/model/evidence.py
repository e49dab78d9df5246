"""Where the SQL of a job proves an edge: the places in its text, and where its file has them.

A proof is a chain of places: where a source is read, then where what that gives is read in turn, up to the output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

__all__ = ["Chain", "SourcePosition", "chain_text", "chains_from", "is_sound", "places_of", "position_in_source"]

Chain: TypeAlias = tuple[int, ...]
"""The start and end of each place of a proof in turn, in code points of the job's SQL."""

_CHAIN = re.compile(r"\d+-\d+(?: \d+-\d+)*")


class SourcePosition(NamedTuple):
    """Where a statement of a job's SQL begins: `offset` in that SQL, `line` and `column`, from 1, in its file.

    The line of a statement of another file is 0.
    """

    offset: int
    line: int
    column: int


def places_of(chain: Chain) -> list[tuple[int, int]]:
    """Return the places (start, end) of a proof, in its order.

    >>> places_of((7, 12, 30, 43))
    [(7, 12), (30, 43)]
    """
    return list(zip(chain[::2], chain[1::2], strict=True))


def is_sound(chain: Chain) -> bool:
    """Return whether all places of a chain can be read back: none is negative or ends before it starts."""
    return bool(chain) and len(chain) % 2 == 0 and all(0 <= start <= end for start, end in places_of(chain))


def chain_text(chain: Chain) -> str:
    """Return a chain as it is stored.

    >>> chain_text((7, 12, 30, 43))
    '7-12 30-43'
    """
    if len(chain) == 2:
        return f"{chain[0]}-{chain[1]}"
    return " ".join(f"{start}-{end}" for start, end in places_of(chain))


def chains_from(texts: Sequence[str] | None) -> tuple[Chain, ...]:
    """Return the chains that stored texts stand for; what is none, of an older version, is left out.

    >>> chains_from(["7-12 30-43", "-1-0"])
    ((7, 12, 30, 43),)
    """
    return tuple(
        tuple(int(number) for place in text.split(" ") for number in place.split("-"))
        for text in texts or ()
        if _CHAIN.fullmatch(text)
    )


def position_in_source(sql: str, positions: Iterable[SourcePosition], start: int) -> tuple[int, int] | None:
    """Return the line and column in the job's file of a place that begins at `start` of its SQL.

    None where nothing says where the SQL begins in the file.

    >>> position_in_source("SELECT a;\\nSELECT b", [SourcePosition(0, 3, 9), SourcePosition(10, 5, 1)], 17)
    (5, 8)
    """
    last = max((one for one in positions if one.offset <= start), default=None)
    if last is None or not last.line:
        return None
    newlines = sql.count("\n", last.offset, start)
    column = start - sql.rfind("\n", 0, start) if newlines else last.column + start - last.offset
    return last.line + newlines, column

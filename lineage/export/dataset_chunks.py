"""Sequences in parts, so that memory does not grow with what is exported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["chunks"]

T = TypeVar("T")


def chunks(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield a sequence in parts of at most this size.

    >>> list(chunks("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (values[start : start + size] for start in range(0, len(values), size))

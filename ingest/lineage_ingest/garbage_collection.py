"""Fewer garbage collections while an ingest builds what it keeps."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["seldom_collecting"]


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Raise the garbage collection threshold: most new objects are kept, so collections would find nothing."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)

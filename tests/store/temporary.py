"""A store for one test that needs no file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lineage.store import GraphStore, open_store

__all__ = ["temporary_store"]


@contextmanager
def temporary_store() -> Iterator[GraphStore]:
    """Yield an empty embedded store, which is deleted at the end."""
    with TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        yield store

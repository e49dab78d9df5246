"""An answer as rows under columns, with what each kind of reader gets beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lineage.frozen import frozen
from lineage.screen.layout import Look

__all__ = ["Listing"]


@frozen
class Listing:
    """Rows under named columns; `values` returns the answer as JSON values, `people` prints it for people."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    look: Look
    values: Callable[[], Any] | None = None
    people: Callable[[], None] | None = None
    empty: str = ""
    """What people read where there is no row."""

"""The live part of a cell's output: it tells Python what is chosen in the picture above it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from lineage.export.graph_part import GraphPart

__all__ = ["LiveLineage"]


class LiveLineage(anywidget.AnyWidget):  # type: ignore[misc]
    """What is chosen in a picture: `selected` is its name, `key` its key; both are empty at first.

    `observe(function, "selected")` calls a function at each change. Without a kernel the picture stays, and this line
    is gone.
    """

    _esm = Path(__file__).with_name("live.js")
    cell = traitlets.Unicode().tag(sync=True)
    key = traitlets.Unicode().tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)
    wanted = traitlets.Unicode().tag(sync=True)

    def __init__(self, part: GraphPart, cell: str) -> None:
        """Take the part of the graph that the picture shows, and the number of the picture."""
        tables = {one.key: one.display_name for one in part.datasets}
        columns = {one.key: f"{tables[one.dataset]}.{one.display_path}" for one in part.columns}
        self._names = {**tables, **columns}
        super().__init__(cell=cell)

    def __repr__(self) -> str:
        return f"<chosen: {self.selected or 'nothing'}>"

    def select(self, name: str) -> None:
        """Choose a table or column by its name, or a last part of it, in the picture.

        Raises:
            ValueError: the picture has no such table or column, or several.
        """
        lower = name.lower()
        keys = [key for key, one in self._names.items() if f".{one}".lower().endswith(f".{lower}")]
        exact = [key for key in keys if self._names[key].lower() == lower]
        if len(exact or keys) != 1:
            listed = ", ".join(sorted(self._names[key] for key in keys)[:5])
            raise ValueError(f"{name!r} is {'several: ' + listed if keys else 'not in the picture'}")
        self.wanted = (exact or keys)[0]
        self.key = self.wanted

    @traitlets.observe("key")  # type: ignore[untyped-decorator]
    def _name_it(self, _change: dict[str, Any]) -> None:
        self.selected = self._names.get(self.key, "")

"""The paths of an answer as a tree, which has each step once however many paths share it."""

from __future__ import annotations

from typing import Any

from lineage.store.values import Direction
from lineage.traversal.routes.route import PathStep, Route

__all__ = ["PathTree"]


class PathTree:
    """A tree of paths that begin at the start of a traversal; add the routes of columns, then read it."""

    def __init__(self, direction: Direction) -> None:
        self._upstream = direction is Direction.UPSTREAM
        self._steps: dict[PathStep, int] = {}
        self._nodes: dict[tuple[int, int | None], int] = {}

    def add(self, route: Route) -> int:
        """Add a route; return the index in `nodes` of the step at its column."""
        node: int | None = None
        for step in reversed(route.steps) if self._upstream else route.steps:
            index = self._steps.setdefault(step, len(self._steps))
            node = self._nodes.setdefault((index, node), len(self._nodes))
        assert node is not None  # a route has at least one step
        return node

    @property
    def steps(self) -> list[PathStep]:
        """The distinct steps."""
        return list(self._steps)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes as JSON values: the index of a step, and that of the node one step nearer the start, if any."""
        return [{"step": step, "predecessor": before} for step, before in self._nodes]

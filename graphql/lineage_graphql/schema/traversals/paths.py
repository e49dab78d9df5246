"""Paths from one column or table to another."""

from __future__ import annotations

import strawberry

from lineage.model.influence.transformations import Subtype
from lineage.store.protocol import GraphStore
from lineage.traversal import PathStep, Route, TraversalOptions, resolve, shortest_paths
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import doc_field
from lineage_graphql.schema.objects.jobs import LineageEdge

__all__ = ["Path", "PathMaker", "paths_between"]


@strawberry.type(description="A path, from the source to the consumer.")
class Path:
    """A path, from the source to the consumer."""

    hops: int = doc_field("Number of edges.")
    references: int = doc_field("Number of REFERENCES edges.")
    transformation: Subtype = doc_field("Subtype of the whole path, by OpenLineage's rules of composition.")
    masked: bool = doc_field("Whether a step masks the value.")
    steps: list[LineageEdge] = doc_field("Edges in order, each with a job and the spans in its SQL.")


class PathMaker:
    """Makes the paths of one answer, which share most of their steps: each step and each path is made once."""

    def __init__(self) -> None:
        # By `id`, since hashing a step hashes its texts; what is made is kept with its origin, whose id stays its own.
        self._edges: dict[int, tuple[PathStep, LineageEdge]] = {}
        self._paths: dict[int, tuple[Route, Path]] = {}

    def path(self, route: Route) -> Path:
        """Return the GraphQL object of a path."""
        made = self._paths.get(id(route))
        if made is None:
            whole = route.transformation
            steps = [self._edge(step) for step in route.steps]
            path = Path(
                hops=route.hops,
                references=route.references,
                transformation=whole.subtype,
                masked=whole.masking,
                steps=steps,
            )
            made = self._paths[id(route)] = route, path
        return made[1]

    def _edge(self, step: PathStep) -> LineageEdge:
        made = self._edges.get(id(step))
        if made is None:
            made = self._edges[id(step)] = step, LineageEdge.on_path(step)
        return made[1]


async def paths_between(info: LineageInfo, start: str, end: str, limit: int, options: TraversalOptions) -> list[Path]:
    """Return the shortest paths from one column or table to another.

    Raises:
        NameLookupError: a name is unknown or ambiguous.
        StoreError: the store could not be read.
    """

    def find(store: GraphStore) -> tuple[Route, ...]:
        return shortest_paths(store, resolve(store, start), resolve(store, end), limit=limit, options=options)

    paths = PathMaker()
    return [paths.path(route) for route in await info.context.ask(find)]

"""Paths: what proves that one column reaches another."""

from __future__ import annotations

import strawberry

from lineage.model.transformations import Subtype
from lineage.store.protocol import GraphStore
from lineage.traversal import Route, TraversalOptions, resolve, shortest_paths
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import described
from lineage_graphql.schema.jobs import LineageEdge

__all__ = ["Path", "paths_between"]


@strawberry.type(description="A path, from the source to the consumer.")
class Path:
    """A path, from the source to the consumer."""

    hops: int = described("How many edges it has.")
    references: int = described("How many of them are references.")
    transformation: Subtype = described("What its steps amount to, by OpenLineage's rules of composition.")
    masked: bool = described("Whether one of its steps hides the value.")
    steps: list[LineageEdge] = described("Its edges, each with a job that states it and the places in its SQL.")

    @classmethod
    def of(cls, route: Route) -> Path:
        """Return the path as the schema has it."""
        whole = route.transformation
        return cls(
            hops=route.hops,
            references=route.references,
            transformation=whole.subtype,
            masked=whole.masking,
            steps=[LineageEdge.on_path(step) for step in route.steps],
        )


async def paths_between(info: LineageInfo, start: str, end: str, limit: int, options: TraversalOptions) -> list[Path]:
    """Return the shortest paths from one column or table to another.

    Raises:
        NameLookupError: the graph has no such thing, or several.
        StoreError: the store could not be read.
    """

    def find(store: GraphStore) -> tuple[Route, ...]:
        return shortest_paths(store, resolve(store, start), resolve(store, end), limit=limit, options=options)

    return [Path.of(route) for route in await info.context.ask(find)]

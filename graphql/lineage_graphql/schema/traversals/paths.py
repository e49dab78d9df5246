"""Paths from one column or table to another."""

from __future__ import annotations

import strawberry

from lineage.model.influence.transformations import Subtype
from lineage.store.protocol import GraphStore
from lineage.traversal import Route, TraversalOptions, resolve, shortest_paths
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import doc_field
from lineage_graphql.schema.objects.jobs import LineageEdge

__all__ = ["Path", "paths_between"]


@strawberry.type(description="A path, from the source to the consumer.")
class Path:
    """A path, from the source to the consumer."""

    hops: int = doc_field("Number of edges.")
    references: int = doc_field("Number of REFERENCES edges.")
    transformation: Subtype = doc_field("Subtype of the whole path, by OpenLineage's rules of composition.")
    masked: bool = doc_field("Whether a step masks the value.")
    steps: list[LineageEdge] = doc_field("Edges in order, each with a job and the spans in its SQL.")

    @classmethod
    def of(cls, route: Route) -> Path:
        """Return the GraphQL object of a path."""
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
        NameLookupError: a name is unknown or ambiguous.
        StoreError: the store could not be read.
    """

    def find(store: GraphStore) -> tuple[Route, ...]:
        return shortest_paths(store, resolve(store, start), resolve(store, end), limit=limit, options=options)

    return [Path.of(route) for route in await info.context.ask(find)]

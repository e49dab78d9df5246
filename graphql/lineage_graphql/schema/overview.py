"""Runs, search hits, and what the service itself is."""

from __future__ import annotations

from datetime import datetime

import strawberry

from lineage import __version__
from lineage.store.values import SearchHit, StoredRun
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.datasets import TableOrColumn, node_of
from lineage_graphql.schema.fields import Long, described
from lineage_graphql.schema.ids import Node, NodeKind, global_id

__all__ = ["Hit", "Run", "Service"]


@strawberry.type(description="A number that an ingest counted.")
class Count:
    """A number that an ingest counted."""

    name: str = described("What was counted: statements, resolved, …")
    number: Long = described("How many.")


@strawberry.type(description="An ingest that was stored.")
class Run(Node):
    """An ingest that was stored."""

    key: strawberry.ID = described("What the graph knows it by.")
    kind: str = described("What was ingested: sql, log, openlineage, …")
    source: str = described("Where from.")
    at: datetime = described("When it was first stored.")
    last_seen: datetime = described("When the same content was last stored.")
    seconds: float | None = described("How long it took.")
    counts: list[Count] = described("What it counted.")

    @classmethod
    def of(cls, stored: StoredRun) -> Run:
        """Return a run as the schema has it."""
        return cls(
            id=global_id(NodeKind.RUN, stored.key),
            key=strawberry.ID(stored.key),
            kind=stored.kind,
            source=stored.source,
            at=stored.at,
            last_seen=stored.last_seen,
            seconds=stored.seconds,
            counts=[Count(name=name, number=Long(number)) for name, number in sorted(stored.counts.items())],
        )


@strawberry.type(description="A table or column whose name matched.")
class Hit:
    """A table or column whose name matched."""

    key: strawberry.ID = described("Its key.")
    name: str = described("Its name within its namespace, or its table.")
    score: float = described("How well it matched; the best first.")

    @classmethod
    def of(cls, hit: SearchHit) -> Hit:
        """Return a hit as the schema has it."""
        return cls(key=strawberry.ID(hit.key), name=hit.name, score=hit.score)

    @strawberry.field(description="The table or column.")
    async def node(self, info: LineageInfo) -> TableOrColumn:
        """Return the table or column."""
        return await node_of(info, self.key)


@strawberry.type(description="What answers here.")
class Service:
    """What answers here."""

    version: str = described("The version of lineage.")
    schema_version: int = described("The version of the graph's schema.")
    read_only: bool = described("Whether nothing can be changed through it.")

    @classmethod
    async def of(cls, info: LineageInfo) -> Service:
        """Return what answers here."""
        schema_version = await info.context.ask(lambda store: store.schema_version)
        return cls(version=__version__, schema_version=schema_version, read_only=info.context.read_only)

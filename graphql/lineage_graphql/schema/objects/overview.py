"""Runs, search hits, and the service itself."""

from __future__ import annotations

from datetime import datetime

import strawberry

from lineage import __version__
from lineage.model.dialects import DIALECTS
from lineage.store.values import SearchHit, StoredRun
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, doc_field
from lineage_graphql.schema.objects.datasets import TableOrColumn, node_of
from lineage_graphql.schema.objects.ids import Node, NodeKind, global_id

__all__ = ["Hit", "Run", "Service"]


@strawberry.type(description="A count of an ingest.")
class Count:
    """A count of an ingest."""

    name: str = doc_field("What is counted: statements, resolved, …")
    number: Long = doc_field("The count.")


@strawberry.type(description="A stored ingest.")
class Run(Node):
    """A stored ingest."""

    key: strawberry.ID = doc_field("Key in the graph.")
    kind: str = doc_field("Kind of input: sql, log, openlineage, …")
    source: str = doc_field("Input: a file, folder or log.")
    at: datetime = doc_field("Time at which it was first stored.")
    last_seen: datetime = doc_field("Time of the latest ingest of the same content.")
    seconds: float | None = doc_field("Duration in seconds.")
    counts: list[Count] = doc_field("Counts of the ingest.")

    @classmethod
    def of(cls, stored: StoredRun) -> Run:
        """Return the GraphQL object of a run."""
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

    key: strawberry.ID = doc_field("Its key.")
    name: str = doc_field("Name within the namespace, or within the table.")
    score: float = doc_field("Score of the match; higher is better.")

    @classmethod
    def of(cls, hit: SearchHit) -> Hit:
        """Return the GraphQL object of a search hit."""
        return cls(key=strawberry.ID(hit.key), name=hit.name, score=hit.score)

    @strawberry.field(description="The table or column.")
    async def node(self, info: LineageInfo) -> TableOrColumn:
        """Return the table or column."""
        return await node_of(info, self.key)


@strawberry.type(description="This service.")
class Service:
    """This service."""

    version: str = doc_field("Version of lineage.")
    schema_version: int = doc_field("Schema version of the graph.")
    read_only: bool = doc_field("Whether the service is read-only.")
    roles: list[str] = doc_field("Roles of the caller, with those that they imply.")
    dialects: list[str] = doc_field("SQL dialects that `extract` takes.")

    @classmethod
    async def of(cls, info: LineageInfo) -> Service:
        """Return this service."""
        schema_version = await info.context.ask(lambda store: store.schema_version)
        return cls(
            version=__version__,
            schema_version=schema_version,
            read_only=info.context.read_only,
            roles=sorted(info.context.require(Role.READER).roles),
            dialects=sorted(DIALECTS),
        )

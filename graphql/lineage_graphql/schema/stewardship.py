"""What stewards change by hand: descriptions and tags, edges asserted and retired, pruning."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import strawberry

from lineage.model.batch import (
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    assertion_job_key,
)
from lineage.model.names import is_column_key
from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection
from lineage.traversal import Target, resolve, resolve_column
from lineage_graphql.access.roles import Caller, Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.datasets import TableOrColumn, node_of
from lineage_graphql.schema.fields import argument, described
from lineage_graphql.schema.jobs import LineageEdge

__all__ = ["Mutation", "NodeType"]

_MAX_TEXT = 10_000
_MAX_TAGS = 100
_MAX_TAG = 100


@strawberry.enum(description="A sort of node that can be searched for.")
class NodeType(StrEnum):
    """A sort of node that can be searched for."""

    TABLE = "Table"
    COLUMN = "Column"


@strawberry.type(description="How many edges were ended.")
class EndedEdges:
    """How many edges were ended."""

    ended: int = described("How many edges were ended.")


@strawberry.type(description="What was forgotten, or would be.")
class Forgotten:
    """What was forgotten, or would be."""

    jobs: int = described("How many jobs were retired.")
    ended: int = described("How many edges were ended.")


@strawberry.type(description="What can be changed by hand; each needs the role steward.")
class Mutation:
    """What can be changed by hand."""

    @strawberry.mutation(description="Describe a table or column, or tag it. What is not given stays as it is.")
    async def describe(
        self,
        info: LineageInfo,
        of: Annotated[str, argument("The table or column: its key or its name.")],
        description: Annotated[str | None, argument("What it is; an empty text takes the description away.")] = None,
        tags: Annotated[list[str] | None, argument("All the tags that it is to have.")] = None,
    ) -> TableOrColumn:
        """Describe a table or column."""
        _steward(info)
        _check(description, tags)

        def work(store: GraphStore) -> Target:
            target = resolve(store, of)
            store.describe(target.key, description=description, tags=tags)
            return target

        target: Target = await info.context.ask(work)
        return await node_of(info, target.key)

    @strawberry.mutation(description="State an edge by hand. It is kept apart, as a job of the kind ASSERTION.")
    async def assert_edge(
        self,
        info: LineageInfo,
        source: Annotated[str, argument("The column that it comes from: its key or its name.")],
        target: Annotated[str, argument("The column it goes to, or the table whose rows it influences.")],
        subtype: Annotated[Subtype, argument("How the value flows, or by what it influences.")] = Subtype.IDENTITY,
        masking: Annotated[bool, argument("Whether the value is hidden on the way.")] = False,
        since: Annotated[datetime | None, argument("Since when it holds; now, if not given.")] = None,
    ) -> LineageEdge:
        """State an edge by hand."""
        caller = _steward(info)

        def work(store: GraphStore) -> LineageEdge:
            origin, end = resolve_column(store, source), resolve(store, target)
            if end.is_table and subtype.kind is EdgeKind.CONTRIBUTES:
                raise RefusedError(
                    ErrorCode.BAD_ARGUMENT, "a value flows to a column, not to a table", "name a column as the target"
                )
            if origin.key == end.key:
                raise RefusedError(ErrorCode.BAD_ARGUMENT, "source and target are the same")
            batch = _assertion(origin, end, subtype, masking, since or datetime.now(UTC), caller.name)
            store.apply(batch)
            job = batch.jobs[0].key
            stated = next(edge for edge in store.edges_of([job]) if edge.kind is subtype.kind)
            return LineageEdge.of(stated)

        stated: LineageEdge = await info.context.ask(work)
        return stated

    @strawberry.mutation(
        description="End the live edges between two nodes, now. A job that states one again begins a new edge."
    )
    async def retire_edge(
        self,
        info: LineageInfo,
        source: Annotated[str, argument("The column that it comes from: its key or its name.")],
        target: Annotated[str, argument("The column or the table that it goes to.")],
        kind: Annotated[EdgeKind, argument("Whether the value flows or only influences.")],
        job: Annotated[strawberry.ID | None, argument("Only the edge of this job; else those of all.")] = None,
    ) -> EndedEdges:
        """End the live edges between two nodes."""
        _steward(info)

        def work(store: GraphStore) -> int:
            origin, end = resolve_column(store, source), resolve(store, target)
            return store.retire_edges(origin.key, end.key, kind, job=job, at=datetime.now(UTC))

        ended = await info.context.ask(work)
        if not ended:
            raise RefusedError(ErrorCode.NOT_FOUND, f"no live edge {kind} from {source} to {target}")
        return EndedEdges(ended=ended)

    @strawberry.mutation(description="End the edges of queries that were not seen since a time.")
    async def prune(
        self, info: LineageInfo, older_than: Annotated[datetime, argument("What was last seen before is ended.")]
    ) -> EndedEdges:
        """End the edges of queries that were not seen since a time."""
        _steward(info)
        at = older_than.replace(tzinfo=UTC) if older_than.tzinfo is None else older_than
        return EndedEdges(ended=await info.context.ask(lambda store: store.prune(at)))

    @strawberry.mutation(
        description="Retire the lineage of a project, a file, a job or a namespace, now. What is given holds of each "
        "job that is meant; what is ingested again is live again."
    )
    async def forget(
        self,
        info: LineageInfo,
        project: Annotated[str | None, argument("The project of SQL files; `(before projects)` for none yet.")] = None,
        source: Annotated[str | None, argument("A file, or the folder that files lie in.")] = None,
        job: Annotated[strawberry.ID | None, argument("The key of a job.")] = None,
        namespace: Annotated[str | None, argument("Jobs that write datasets of this namespace.")] = None,
        environment: Annotated[str | None, argument("SQL files read so: DIALECT,NAMESPACE,DATABASE,SCHEMA.")] = None,
        dry_run: Annotated[bool, argument("Only count what would end.")] = False,
    ) -> Forgotten:
        """Retire the lineage of a project, a file, a job or a namespace."""
        _steward(info)
        wanted = JobSelection(project, source, job, namespace, environment)
        if wanted == JobSelection():
            raise RefusedError(ErrorCode.BAD_ARGUMENT, "say what to forget", "give a project, source, job or namespace")

        def work(store: GraphStore) -> Forgotten:
            keys = [head.key for head in store.select_jobs(wanted)]
            if dry_run or not keys:
                stated = store.edges_of(keys) if keys else []
                return Forgotten(jobs=len(keys), ended=sum(is_column_key(edge.source) for edge in stated))
            retired = store.retire_jobs(keys, datetime.now(UTC))
            return Forgotten(jobs=retired.jobs, ended=retired.edges)

        forgotten: Forgotten = await info.context.ask(work)
        return forgotten


def _steward(info: LineageInfo) -> Caller:
    caller = info.context.require(Role.STEWARD)
    if info.context.read_only:
        raise RefusedError(ErrorCode.FORBIDDEN, "this service only reads", "it was started with --read-only")
    return caller


def _check(description: str | None, tags: list[str] | None) -> None:
    if description is not None and len(description) > _MAX_TEXT:
        raise RefusedError.over_limit("description", _MAX_TEXT, len(description), "write a shorter text")
    if tags is not None:
        if len(tags) > _MAX_TAGS:
            raise RefusedError.over_limit("tags", _MAX_TAGS, len(tags), "give fewer tags")
        longest = max(map(len, tags), default=1)
        if longest > _MAX_TAG or not all(tag.strip() for tag in tags):
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"a tag has 1 to {_MAX_TAG} characters")


def _assertion(
    origin: Target, end: Target, subtype: Subtype, masking: bool, since: datetime, by: str | None
) -> LineageBatch:
    at = since.replace(tzinfo=UTC) if since.tzinfo is None else since
    key = assertion_job_key(origin.key, end.key)
    job = JobRecord(
        key=key,
        kind=JobKind.ASSERTION,
        first_seen=at,
        last_seen=at,
        reads=(origin.dataset,),
        writes=(end.dataset,),
        operation="ASSERT",
        source=f"steward:{by}" if by else "steward",
    )
    edge = EdgeRecord(origin.key, end.key, subtype.kind, key, end.dataset, (subtype,), masking)
    run = RunRecord(f"run:assertion:{uuid.uuid4().hex}", "assertion", job.source or "", datetime.now(UTC), {"edges": 1})
    return LineageBatch(run=run, jobs=(job,), edges=(edge,))

"""Mutations of stewards: descriptions, tags, asserting and retiring edges, pruning."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import strawberry

from lineage.governance.tags.tagging import column_to_tag
from lineage.model.batch import (
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    assertion_job_key,
)
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import is_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection, StoredTag, TagName
from lineage.traversal import Target, resolve, resolve_column
from lineage_graphql.access.roles import Caller, Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.exposures import ColumnTag
from lineage_graphql.schema.fields import argument, doc_field, in_utc
from lineage_graphql.schema.objects.datasets import TableOrColumn, node_of
from lineage_graphql.schema.objects.jobs import LineageEdge

__all__ = ["Mutation", "NodeType"]

_MAX_TEXT = 10_000
_MAX_TAGS = 100
_MAX_TAG = 100


@strawberry.enum(description="Node types that `search` finds.")
class NodeType(StrEnum):
    """Node types that `search` finds."""

    TABLE = "Table"
    COLUMN = "Column"


@strawberry.type(description="Result of retiring edges.")
class EndedEdges:
    """Result of retiring edges."""

    ended: int = doc_field("Number of edges retired.")


@strawberry.type(description="Result of `forget`.")
class Forgotten:
    """Result of `forget`."""

    jobs: int = doc_field("Number of jobs retired.")
    ended: int = doc_field("Number of edges retired.")


@strawberry.type(description="Changes by stewards. Each needs the role steward.")
class Mutation:
    """The mutations."""

    @strawberry.mutation(
        description="Set the description or the tags of a table or column. Omitted arguments leave them unchanged."
    )
    async def describe(
        self,
        info: LineageInfo,
        of: Annotated[str, argument("Table or column, by key or name.")],
        description: Annotated[str | None, argument("Description; an empty string removes it.")] = None,
        tags: Annotated[list[str] | None, argument("Complete list of tags.")] = None,
    ) -> TableOrColumn:
        """Set the description or the tags of a table or column."""
        _steward(info)
        _check(description, tags)

        def work(store: GraphStore) -> Target:
            target = resolve(store, of)
            store.describe(target.key, description=description, tags=tags)
            return target

        target: Target = await info.context.ask(work)
        return await node_of(info, target.key)

    @strawberry.mutation(
        description="Tag a column with a class of personal data, or deny one. Its other tags stay. "
        "Return all tags of the column; of a column that is not known, they are pending."
    )
    async def tag(
        self,
        info: LineageInfo,
        column: Annotated[str, argument("Column, by key or name.")],
        name: Annotated[str, argument("Class: email, phone, …")],
        why: Annotated[str, argument("The reason.")] = "",
        confidence: Annotated[float, argument("How sure it is: above 0, up to 1.")] = 1.0,
        denied: Annotated[bool, argument("Say that it does not hold the class; `pii` denies all.")] = False,
    ) -> list[ColumnTag]:
        """Tag a column."""
        caller = _steward(info)
        _check(why, [name])
        if not 0 < confidence <= 1:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"confidence is {confidence}; it must be above 0, up to 1")

        def work(store: GraphStore) -> list[StoredTag]:
            key, _ = column_to_tag(store, column)
            at, by = datetime.now(UTC), caller.name or ""
            store.change_tags([StoredTag(key, name.strip().lower(), "manual", at, by, why, confidence, denied)])
            return store.tags([key])

        return [ColumnTag.of(one) for one in await info.context.ask(work)]

    @strawberry.mutation(description="Remove one tag, or a denial, of a column. Return its other tags.")
    async def untag(
        self,
        info: LineageInfo,
        column: Annotated[str, argument("Column, by key or name.")],
        name: Annotated[str, argument("Class: email, phone, …")],
        source: Annotated[str, argument("What says it: manual, csv, rules, ….")] = "manual",
    ) -> list[ColumnTag]:
        """Remove one tag of a column."""
        _steward(info)

        def work(store: GraphStore) -> tuple[int, list[StoredTag]]:
            key, _ = column_to_tag(store, column)
            _, removed = store.change_tags(removed=[TagName(key, name.strip().lower(), source)])
            return removed, store.tags([key])

        removed, left = await info.context.ask(work)
        if not removed:
            raise RefusedError(ErrorCode.NOT_FOUND, f"{column} has no tag {name} by {source}")
        return [ColumnTag.of(one) for one in left]

    @strawberry.mutation(description="Assert an edge. It is stored as a job of the kind ASSERTION.")
    async def assert_edge(
        self,
        info: LineageInfo,
        source: Annotated[str, argument("Source column, by key or name.")],
        target: Annotated[str, argument("Target: a column, or a table whose rows are influenced.")],
        subtype: Annotated[Subtype, argument("How the value flows, or what its influence is.")] = Subtype.IDENTITY,
        masking: Annotated[bool, argument("Whether the value is masked.")] = False,
        since: Annotated[datetime | None, argument("Start of validity; now if omitted.")] = None,
    ) -> LineageEdge:
        """Assert an edge."""
        caller = _steward(info)

        def work(store: GraphStore) -> LineageEdge:
            origin, end = resolve_column(store, source), resolve(store, target)
            if end.is_table and subtype.kind is EdgeKind.CONTRIBUTES:
                raise RefusedError(
                    ErrorCode.BAD_ARGUMENT, "a value flows to a column, not to a table", "give a column as the target"
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
        description="Retire the live edges between two nodes, now. Ingesting one again begins a new edge."
    )
    async def retire_edge(
        self,
        info: LineageInfo,
        source: Annotated[str, argument("Source column, by key or name.")],
        target: Annotated[str, argument("Target: a column or table.")],
        kind: Annotated[EdgeKind, argument("Kind of edge.")],
        job: Annotated[strawberry.ID | None, argument("Only the edge of this job; of all jobs if omitted.")] = None,
    ) -> EndedEdges:
        """Retire the live edges between two nodes."""
        _steward(info)

        def work(store: GraphStore) -> int:
            origin, end = resolve_column(store, source), resolve(store, target)
            return store.retire_edges(origin.key, end.key, kind, job=job, at=datetime.now(UTC))

        ended = await info.context.ask(work)
        if not ended:
            raise RefusedError(ErrorCode.NOT_FOUND, f"no live edge {kind} from {source} to {target}")
        return EndedEdges(ended=ended)

    @strawberry.mutation(description="Retire ad-hoc lineage not seen since a time.")
    async def prune(
        self,
        info: LineageInfo,
        older_than: Annotated[datetime, argument("Retire what was last seen before this time.")],
    ) -> EndedEdges:
        """Retire ad-hoc lineage not seen since a time."""
        _steward(info)
        return EndedEdges(ended=await info.context.ask(lambda store: store.prune(in_utc(older_than))))

    @strawberry.mutation(
        description="Retire the lineage of a project, file, job or namespace, now. Jobs must match all arguments. "
        "Ingesting a job again makes it live again."
    )
    async def forget(
        self,
        info: LineageInfo,
        project: Annotated[str | None, argument("Project of SQL files.")] = None,
        source: Annotated[str | None, argument("File, or folder of files.")] = None,
        job: Annotated[strawberry.ID | None, argument("Key of a job.")] = None,
        namespace: Annotated[str | None, argument("Namespace of the datasets that the jobs write.")] = None,
        environment: Annotated[
            str | None, argument("SQL files ingested with this DIALECT,NAMESPACE,DATABASE,SCHEMA.")
        ] = None,
        dry_run: Annotated[bool, argument("Only count what would be retired.")] = False,
    ) -> Forgotten:
        """Retire the lineage of a project, file, job or namespace."""
        _steward(info)
        wanted = JobSelection(project, source, job, namespace, environment)
        if wanted == JobSelection():
            raise RefusedError(
                ErrorCode.BAD_ARGUMENT, "no argument selects what to forget", "give a project, source, job or namespace"
            )

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
        raise RefusedError(ErrorCode.FORBIDDEN, "this service is read-only", "it was started with --read-only")
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
    at = in_utc(since)
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

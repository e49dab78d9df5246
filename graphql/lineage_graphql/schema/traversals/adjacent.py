"""One hop around columns and tables, with its edges: what a picture that grows hop by hop asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple, TypeVar

import strawberry

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.store.exploring import Explorer, Leads
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredEdge
from lineage.traversal.lineage_reader import columns_at
from lineage_graphql.access.roles import Role
from lineage_graphql.context import Context, LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, argument, doc_field, in_utc, some_of
from lineage_graphql.schema.objects.datasets import TableOrColumn, nodes_of
from lineage_graphql.schema.objects.jobs import Job, LineageEdge
from lineage_graphql.schema.traversals.starts import find_keys
from lineage_graphql.schema.traversals.traversal import AsOf, Kinds

__all__ = ["Adjacent", "AdjacentQueries"]

T = TypeVar("T")

_MAX_EDGES = 5_000
_EDGES = tuple(Leads)[: Leads.FIELD]

Of = Annotated[list[str], argument("Columns and tables, each by key or name. A table stands for its columns and rows.")]


@strawberry.type(description="Number of other columns and tables one hop away.")
class AdjacentCount:
    """Number of other columns and tables one hop away."""

    key: strawberry.ID = doc_field("Key of the column or table that was asked about.")
    nodes: Long = doc_field("Number of columns and tables.")


@strawberry.type(description="The edges of columns and tables in one direction, with what is at their other ends.")
class Adjacent:
    """The edges of columns and tables in one direction."""

    node_keys: strawberry.Private[list[str]]
    job_keys: strawberry.Private[list[str]]
    edges: list[LineageEdge] = doc_field("Edges ordered by source, target and kind; one per job. The first `maxEdges`.")
    total_edges: Long = doc_field("Number of all these edges.")
    total_nodes: Long = doc_field(
        "Number of columns and tables at the other ends of all these edges; an edge to itself has none."
    )
    total_tables: Long = doc_field("Number of tables that these belong to.")
    counts: list[AdjacentCount] = doc_field(
        "Of each that was asked about, the number of other columns and tables one hop away."
    )

    @strawberry.field(description="Both ends of each edge, by key.")
    async def nodes(self, info: LineageInfo) -> list[TableOrColumn]:
        """Return both ends of each edge."""
        return list(await nodes_of(info, self.node_keys))

    @strawberry.field(description="The jobs of the edges, by key.")
    async def jobs(self, info: LineageInfo) -> list[Job]:
        """Return the jobs of the edges."""
        found = await info.context.loaders.jobs.load_many(self.job_keys)
        return [Job.of(one) for one in found if one]


@strawberry.type
class AdjacentQueries:
    """The field of `Query` that returns one hop with its edges."""

    @strawberry.field(
        description="One hop: the edges out of (DOWNSTREAM) or into (UPSTREAM) columns and tables, their fields and "
        "parents included."
    )
    async def adjacent(
        self,
        info: LineageInfo,
        of: Of,
        direction: Annotated[Direction, argument("Direction to follow.")],
        kinds: Kinds = None,
        as_of: AsOf = None,
        max_edges: Annotated[int, argument("Maximum number of edges.")] = 500,
        within: Annotated[
            list[str] | None,
            argument("Return only edges whose ends are both of these keys; `counts` and the other totals are of all."),
        ] = None,
    ) -> Adjacent:
        """Return one hop with its edges."""
        info.context.require(Role.READER)
        if not 1 <= max_edges <= _MAX_EDGES:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"maxEdges is {max_edges}; it must be 1 to {_MAX_EDGES}")
        wanted = some_of("kinds", kinds) or tuple(EdgeKind)
        at = in_utc(as_of) if as_of else None
        keys = await find_keys(info.context, of)
        question = _HopQuestion(keys, await _with_columns(info.context, keys, at), direction, wanted, at)

        def work(store: GraphStore) -> _EdgesAround:
            return _around(store, question) if within is None else _within(store, question, frozenset(within))

        found: _EdgesAround = await info.context.ask(work)
        shown = found.edges[:max_edges]
        return Adjacent(
            node_keys=sorted({end for edge in shown for end in (edge.source, edge.target)}),
            job_keys=sorted({edge.job for edge in shown}),
            edges=[LineageEdge.of(edge) for edge in shown],
            total_edges=Long(len(found.edges)),
            total_nodes=Long(found.nodes),
            total_tables=Long(found.tables),
            counts=[AdjacentCount(key=strawberry.ID(key), nodes=Long(count)) for key, count in found.counts.items()],
        )


class _EdgesAround(NamedTuple):
    edges: list[StoredEdge]
    """Sorted; only those within some keys, if there are any."""
    counts: dict[str, int]
    """By the key that was asked about, how many others are one hop away."""
    nodes: int
    tables: int


@dataclass(frozen=True)
class _HopQuestion:
    keys: Collection[str]
    nodes: Collection[str]
    """The keys, and those of the columns of tables among them."""
    direction: Direction
    kinds: Collection[EdgeKind]
    as_of: datetime | None

    def counts(self, ends: Mapping[str, Set[T]]) -> dict[str, int]:
        """Return the number of ends by the keys that were asked about: a table has those of its columns."""
        found: dict[str, set[T]] = {key: set() for key in self.keys}
        for near, far in ends.items():
            for key in {near, dataset_of(near)} & found.keys():
                found[key] |= far
        return {key: len(far) for key, far in found.items()}


async def _with_columns(context: Context, keys: Collection[str], as_of: datetime | None) -> list[str]:
    tables = [key for key in keys if not is_column_key(key)]
    if as_of is None:  # the fields of a query share what is read
        columns = [one for some in await context.loaders.columns_of.load_many(tables) for one in some]
    else:
        columns = await context.ask(lambda store: columns_at(store, tables, as_of))
    return sorted({*keys, *(column.key for column in columns)})


def _around(store: GraphStore, asked: _HopQuestion) -> _EdgesAround:
    ends: dict[str, set[str]] = {}
    edges: dict[tuple[str, ...], StoredEdge] = {}
    for hop in store.expand(asked.nodes, asked.direction, kinds=asked.kinds, as_of=asked.as_of):
        edge = hop.edge
        end = edge.target if asked.direction is Direction.DOWNSTREAM else edge.source
        if end != hop.via:
            ends.setdefault(hop.via, set()).add(end)
        edges[edge.source, edge.target, edge.kind, edge.job, str(edge.valid_from)] = edge
    reached = set().union(*ends.values())
    tables = len({dataset_of(end) for end in reached})
    return _EdgesAround([edges[key] for key in sorted(edges)], asked.counts(ends), len(reached), tables)


def _within(store: GraphStore, asked: _HopQuestion, within: Set[str]) -> _EdgesAround:
    """Count all ends by their numbers, and read only the edges within some keys.

    A column that is used everywhere has thousands of edges, of which a picture shows a few.
    """

    def count(explorer: Explorer) -> tuple[_EdgesAround, set[tuple[str, str]]]:
        numbers = explorer.begin(*_by_kind(asked.nodes))
        explorer.load(numbers.values())
        inside = {number: key for key, number in explorer.numbers(*_by_kind(within)).items()}
        ends: dict[str, set[int]] = {}
        pairs = {(key, key) for key in numbers if key in within}
        for key, number in numbers.items():
            far = ends[key] = set()
            for way in _EDGES:
                some = explorer.ends[way].get(number, ())
                far.update(some)
                for end in inside.keys() & some:
                    pairs |= {(inside[one], inside[end]) for one in explorer.origins(number, end, way) if one in inside}
        reached = set().union(*ends.values())
        explorer.load_keys(reached)
        tables = len(set(explorer.datasets_of(reached)))
        return _EdgesAround([], asked.counts(ends), len(reached), tables), pairs

    found, pairs = store.explore(count, asked.direction, kinds=asked.kinds, as_of=asked.as_of)
    if asked.direction is Direction.UPSTREAM:
        pairs = {(source, target) for target, source in pairs}
    return found._replace(edges=store.edges_of_pairs(sorted(pairs), kinds=asked.kinds, as_of=asked.as_of))


def _by_kind(keys: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the columns and the tables among some keys."""
    return [key for key in keys if is_column_key(key)], [key for key in keys if not is_column_key(key)]

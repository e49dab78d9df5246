"""The tools of the MCP server. All are read-only; none executes SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Annotated, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from lineage import __version__
from lineage.model.dialects import UnknownDialectError
from lineage.model.influence.edge_effects import masked_subtypes_of
from lineage.model.influence.transformations import EdgeKind
from lineage.store.errors import StoreError
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage.traversal import (
    NameLookupError,
    TraversalOptions,
    UnknownNameError,
    impact,
    resolve,
    resolve_column,
    resolve_table,
    root_cause,
    shortest_paths,
)
from lineage.traversal.suggest import nearest_tables
from lineage_graphql.assistant.column_map import ColumnMap
from lineage_graphql.assistant.column_map import column_map as map_of_column
from lineage_graphql.assistant.replies import (
    ColumnAnswer,
    EdgeAnswer,
    HitAnswer,
    PathAnswer,
    PreviewAnswer,
    TraversalAnswer,
    broken_read_texts,
    evidence_of,
    namesake_texts,
    path_answers,
    traversal_answer,
)
from lineage_graphql.previewing import preview

__all__ = ["make_server"]

P = ParamSpec("P")
T = TypeVar("T")

_INSTRUCTIONS = """\
Column-level data lineage extracted from SQL: which columns a column's value comes from or flows to, and which only \
influence it. Names are `schema.table.column`, or keys returned by `search`; call `search` first when unsure. \
CONTRIBUTES means that the value flows, REFERENCES that it has an influence (a join, a filter, a CASE). \
Every result includes the SQL that proves it: quote it. A truncated answer names the limit."""

Name = Annotated[str, Field(description="A column as schema.table.column, or a table, or a key from search.")]
Hops = Annotated[int, Field(ge=1, le=50, description="Maximum number of edges to follow.")]
Limit = Annotated[int, Field(ge=1, le=200, description="Maximum number of columns to list.")]
AsOf = Annotated[datetime | None, Field(description="Read the graph as of this time.")]
_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_PROVED = 5
_MAX_EDGES = 200
_MAX_SQL = 100_000
_SECONDS = 10.0


def make_server(store: GraphStore) -> MCPServer:
    """Return a server over a store, which the caller closes."""
    server = MCPServer("lineage", version=__version__, instructions=_INSTRUCTIONS)

    def tool(work: Callable[P, T]) -> Callable[P, T]:
        return server.tool(annotations=_READS, structured_output=True)(_explaining(work))

    @tool
    def search(
        text: Annotated[str, Field(min_length=1, max_length=200, description="A part of a table's or column's name.")],
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> list[HitAnswer]:
        """Find tables and columns by a part of their name; the best matches first."""
        hits = store.search(text, limit=limit)
        if not hits and (near := nearest_tables(store, text, columns=True)):
            raise UnknownNameError(f"nothing is called {text!r}", near)
        return [HitAnswer(key=hit.key, type=hit.type, name=hit.name) for hit in hits]

    @tool
    def columns(
        table: Annotated[str, Field(description="The table's name or key.")],
        limit: Annotated[int, Field(ge=1, le=500)] = 200,
    ) -> list[ColumnAnswer]:
        """List the columns of a table, in order."""
        found = store.columns([resolve_table(store, table).key])
        return [ColumnAnswer.of(column) for column in found[:limit]]

    @tool
    def what_depends_on(name: Name, max_hops: Hops = 20, limit: Limit = 25, as_of: AsOf = None) -> TraversalAnswer:
        """What breaks or leaks if this column or table changes? Everything downstream, the nearest first."""
        return traverse(Direction.DOWNSTREAM, name, max_hops, limit, as_of)

    @tool
    def where_from(name: Name, max_hops: Hops = 20, limit: Limit = 25, as_of: AsOf = None) -> TraversalAnswer:
        """Where do this column's or table's values come from? Everything upstream, the nearest first."""
        return traverse(Direction.UPSTREAM, name, max_hops, limit, as_of)

    @tool
    def column_map(
        name: Annotated[str, Field(description="A column as schema.table.column, or a key from search.")],
        most: Annotated[int, Field(ge=3, le=100, description="Maximum number of other nodes.")] = 60,
    ) -> ColumnMap:
        """All about a column: classes of personal data, where its values are and how masked, readers, sources."""
        return map_of_column(store, name, most)

    @tool
    def paths(
        start: Annotated[str, Field(description="Column or table at which the paths start.")],
        end: Annotated[str, Field(description="Column or table at which the paths end.")],
        limit: Annotated[int, Field(ge=1, le=10)] = 3,
        max_hops: Hops = 20,
    ) -> list[PathAnswer]:
        """How does one column or table reach another? The shortest paths downstream, with their SQL."""
        options = TraversalOptions(max_hops=max_hops)
        asked = resolve(store, start), resolve(store, end)
        routes = shortest_paths(store, *asked, limit=limit, options=options)
        others = namesake_texts(store, {one.dataset for one in asked}) if not routes else ()
        if others:
            raise ToolError(f"there is no path between these; {', '.join(others)}, named in short: ask for it, too")
        broken = broken_read_texts(store, {one.dataset for one in asked}) if not routes else ()
        if broken:
            raise ToolError(f"there is no path between these; {'; '.join(broken)}")
        return path_answers(store, routes)

    @tool
    def explain_edge(
        source: Annotated[str, Field(description="Source column.")],
        target: Annotated[str, Field(description="Target column or table.")],
    ) -> list[EdgeAnswer]:
        """Which jobs connect one column directly to another? With the SQL of each."""
        return _edge_answers(store, source, target)

    @tool
    def what_would_sql_do(
        sql: Annotated[str, Field(max_length=_MAX_SQL, description="One or more statements. They are never executed.")],
        dialect: Annotated[str, Field(description="postgres, snowflake, bigquery, spark, redshift, tsql, …")],
    ) -> list[PreviewAnswer]:
        """Extract the lineage of SQL without executing it, and count what depends on its targets."""
        found = preview(store, sql, dialect, database=None, schema=None, seconds=_SECONDS)
        answers = []
        for statement, key in zip(found.statements, found.target_keys, strict=True):
            reached = None if key is None else impact(store, resolve_table(store, key)).total
            answers.append(
                PreviewAnswer(
                    operation=statement.operation,
                    target=statement.target,
                    sources=list(statement.sources),
                    completeness=str(statement.completeness),
                    edges=[str(edge) for edge in statement.edges[:_MAX_EDGES]],
                    total_edges=len(statement.edges),
                    diagnostics=[str(found) for found in statement.diagnostics[:50]],
                    depends_on_target=reached,
                )
            )
        return answers

    def traverse(direction: Direction, name: str, hops: int, limit: int, as_of: datetime | None) -> TraversalAnswer:
        at = as_of.replace(tzinfo=UTC) if as_of and as_of.tzinfo is None else as_of
        options = TraversalOptions(max_hops=hops, as_of=at)
        ask = impact if direction is Direction.DOWNSTREAM else root_cause
        return traversal_answer(store, ask(store, resolve(store, name), options), limit, _PROVED, at)

    return server


def _edge_answers(store: GraphStore, source: str, target: str) -> list[EdgeAnswer]:
    origin, end = resolve_column(store, source), resolve(store, target)
    edges = store.steps([(origin.key, end.key, kind) for kind in EdgeKind])
    jobs = {job.key: job for job in store.jobs({edge.job for edge in edges})} if edges else {}
    return [
        EdgeAnswer(
            job=edge.job,
            job_kind=str(jobs[edge.job].kind) if edge.job in jobs else None,
            kind=str(edge.kind),
            how=[str(subtype) for subtype in edge.subtypes],
            masking=edge.masking,
            masked=[str(subtype) for subtype in masked_subtypes_of(edge)],
            evidence=[evidence_of(jobs.get(edge.job), edge.job, span) for span in edge.spans[:5]],
        )
        for edge in edges[:50]
    ]


def _explaining(work: Callable[P, T]) -> Callable[P, T]:
    """Return the function with its errors translated for clients."""

    @wraps(work)
    def explained(*args: P.args, **options: P.kwargs) -> T:
        try:
            return work(*args, **options)
        except NameLookupError as error:
            raise ToolError(f"{error}; {error.hint}" if error.hint else str(error)) from error
        except (UnknownDialectError, ValueError) as error:
            raise ToolError(str(error)) from error
        except StoreError as error:
            raise ToolError(f"the store cannot be read: {error}") from error

    return explained

"""The whole estate in short: namespaces and schemas with the number of their tables, and the lineage between them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import strawberry

from lineage.model.names import format_name, split_name
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, doc_field

__all__ = ["Groups"]

_MOST_WITH_FLOWS = 20_000
_QUOTE = re.compile(r"[\"`\]]")


@strawberry.type(description="A schema: the tables of a namespace whose names begin with the same parts.")
class SchemaGroup:
    """A schema of a namespace."""

    namespace: str = doc_field("OpenLineage namespace.")
    schema: str = doc_field("Full name of the schema; empty for tables without one. `tables(schema:)` takes it.")
    tables: Long = doc_field("Number of its tables, views, files, ….")
    exposures: Long = doc_field("How many of these are dashboards and the like.")


@strawberry.type(description="Table-level lineage from the tables of one schema to those of another.")
class SchemaFlow:
    """Table-level lineage between two schemas."""

    source_namespace: str = doc_field("Namespace of the source.")
    source_schema: str = doc_field("Schema of the source.")
    target_namespace: str = doc_field("Namespace of the target.")
    target_schema: str = doc_field("Schema of the target.")
    flows: Long = doc_field("Number of pairs of tables.")


@strawberry.type(description="Namespaces and schemas with the number of their tables, and the lineage between them.")
class Estate:
    """The whole estate in short."""

    tables: Long = doc_field("Number of tables, without dropped ones.")
    groups: list[SchemaGroup] = doc_field("Schemas, ordered by namespace and name.")
    flows: list[SchemaFlow] = doc_field("Lineage between schemas, without that inside one; empty if not counted.")
    flows_counted: bool = doc_field(f"Whether flows were counted: up to {_MOST_WITH_FLOWS:,} tables.")


@strawberry.type
class Groups:
    """The field of `Query` that returns the estate in short."""

    @strawberry.field(description="The whole estate in short: schemas, and the lineage between them.")
    async def estate(self, info: LineageInfo) -> Estate:
        """Return the whole estate in short."""
        info.context.require(Role.READER)
        found: Estate = await info.context.ask(_estate)
        return found


def _estate(store: GraphStore) -> Estate:
    live = store.live_datasets()
    schemas: dict[str, str] = {}
    schema_of = {one.key: (one.namespace, _schema(one.name, schemas)) for one in live}
    tables, exposures = (
        Counter(schema_of.values()),
        Counter(schema_of[one.key] for one in live if one.kind == "exposure"),
    )
    counted = len(live) <= _MOST_WITH_FLOWS
    pairs: dict[tuple[tuple[str, str], tuple[str, str]], set[tuple[str, str]]] = defaultdict(set)
    for feed in store.feed_keys(list(schema_of), Direction.DOWNSTREAM) if counted else ():
        source, target = schema_of[feed.source], schema_of.get(feed.target)
        if target is not None and source != target:
            pairs[source, target].add((feed.source, feed.target))
    return Estate(
        tables=Long(len(live)),
        groups=[
            SchemaGroup(namespace=at[0], schema=at[1], tables=Long(number), exposures=Long(exposures[at]))
            for at, number in sorted(tables.items())
        ],
        flows=[
            SchemaFlow(
                source_namespace=source[0],
                source_schema=source[1],
                target_namespace=target[0],
                target_schema=target[1],
                flows=Long(len(of)),
            )
            for (source, target), of in sorted(pairs.items())
        ],
        flows_counted=counted,
    )


def _schema(name: str, known: dict[str, str]) -> str:
    """Return the schema in a table's full name; `known` are those of what stands before the last dot."""
    before, dot, last = name.rpartition(".")
    if not dot or _QUOTE.search(last):
        return format_name([part for part, _ in split_name(name)][:-1])
    if before not in known:
        known[before] = format_name([part for part, _ in split_name(name)][:-1])
    return known[before]

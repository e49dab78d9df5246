"""The whole estate in short: namespaces and schemas with the number of their tables, and the lineage between them."""

from __future__ import annotations

from collections import Counter

import strawberry

from lineage.model.names import schema_of
from lineage.store.protocol import GraphStore
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, doc_field

__all__ = ["Groups"]

_MOST_WITH_FLOWS = 20_000


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
    schemas = store.schema_counts()
    tables = sum(one.tables for one in schemas)
    counted = tables <= _MOST_WITH_FLOWS
    return Estate(
        tables=Long(tables),
        groups=[
            SchemaGroup(
                namespace=one.namespace, schema=one.schema, tables=Long(one.tables), exposures=Long(one.exposures)
            )
            for one in schemas
        ],
        flows=_flows(store) if counted else [],
        flows_counted=counted,
    )


def _flows(store: GraphStore) -> list[SchemaFlow]:
    schemas = {one.key: (one.namespace, schema_of(one.name)) for one in store.live_datasets()}
    pairs: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
    for fed in store.fed_tables():
        source, target = map(schemas.get, fed)
        if source is not None and target is not None and source != target:
            pairs[source, target] += 1
    return [
        SchemaFlow(
            source_namespace=source[0],
            source_schema=source[1],
            target_namespace=target[0],
            target_schema=target[1],
            flows=Long(number),
        )
        for (source, target), number in sorted(pairs.items())
    ]

"""Who owns what: owners, and their tables, from what sources state about these."""

from __future__ import annotations

from typing import Annotated

import strawberry

from lineage.model.facts import facts_from
from lineage.store.protocol import GraphStore
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, argument, argument_text, doc_field
from lineage_graphql.schema.lists.live_tables import count_tables, page_of_tables
from lineage_graphql.schema.objects.datasets import Table
from lineage_graphql.schema.paging import After, Before, Connection, First, Last, page_arguments

__all__ = ["OwnerQueries"]

_MOST_OWNERS = 500


@strawberry.type(description="An owner, as dbt and other sources name it.")
class Owner:
    """An owner."""

    name: str = doc_field("The owner's name.")
    table_count: Long = doc_field("Number of its tables, without dropped ones.")


@strawberry.type(description="Owners, and how many tables have none.")
class Owners:
    """The owners of the estate."""

    nodes: list[Owner] = doc_field(f"Those of most tables first; at most {_MOST_OWNERS}.")
    total_count: Long = doc_field("Number of owners.")
    unowned_tables: Long = doc_field("Number of tables without an owner, without dropped ones.")


@strawberry.type
class OwnerQueries:
    """The fields of `Query` about owners."""

    @strawberry.field(description="Owners with the number of their tables.")
    async def owners(self, info: LineageInfo) -> Owners:
        """Return the owners."""
        info.context.require(Role.READER)
        found: Owners = await info.context.ask(_owners)
        return found

    @strawberry.field(description="Tables that have an owner, ordered by key; dropped ones are left out.")
    async def owned_tables(
        self,
        info: LineageInfo,
        owner: Annotated[str, argument("Name of the owner, or a part of it, case-insensitive.")],
        exact: Annotated[bool, argument("Whether `owner` is the whole name.")] = False,
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Table]:
        """Return a page of the tables of owners."""
        info.context.require(Role.READER)
        wanted = argument_text("owner", owner) or ""
        asked = page_arguments(info, "ownedTables", (str,), first, after, last, before, scope=(wanted, exact))

        def has(facts: str | None) -> bool:
            names = _owners_in(facts)
            return wanted in names if exact else any(wanted.casefold() in name.casefold() for name in names)

        return await page_of_tables(info, asked, lambda one: has(one.facts))


def _owners_in(facts: str | None) -> set[str]:
    return {one.owner for one in facts_from(facts) if one.owner}


def _owners(store: GraphStore) -> Owners:
    found, unowned = count_tables(store, lambda one: _owners_in(one.facts))
    return Owners(
        nodes=[Owner(name=name, table_count=Long(count)) for name, count in found[:_MOST_OWNERS]],
        total_count=Long(len(found)),
        unowned_tables=Long(unowned),
    )

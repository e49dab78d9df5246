"""Domains and their tables, from tags `domain:NAME` and the metadata `domain` that sources state."""

from __future__ import annotations

from typing import Annotated

import strawberry

from lineage.model.facts import domains_in, facts_from
from lineage.store.protocol import GraphStore
from lineage.store.values import LiveDataset
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import Long, argument, argument_text, doc_field
from lineage_graphql.schema.lists.live_tables import count_tables, page_of_tables
from lineage_graphql.schema.objects.datasets import Table
from lineage_graphql.schema.paging import After, Before, Connection, First, Last, page_arguments

__all__ = ["DomainQueries"]

_MOST_DOMAINS = 500


@strawberry.type(description="A domain: what a table belongs to, by a tag `domain:NAME` or the metadata `domain`.")
class Domain:
    """A domain."""

    name: str = doc_field("The domain's name.")
    table_count: Long = doc_field("Number of its tables, without dropped ones.")


@strawberry.type(description="Domains, and how many tables have none.")
class Domains:
    """The domains of the estate."""

    nodes: list[Domain] = doc_field(f"Those of most tables first; at most {_MOST_DOMAINS}.")
    total_count: Long = doc_field("Number of domains.")
    tables_without: Long = doc_field("Number of tables without a domain, without dropped ones.")


@strawberry.type
class DomainQueries:
    """The fields of `Query` about domains."""

    @strawberry.field(description="Domains with the number of their tables.")
    async def domains(self, info: LineageInfo) -> Domains:
        """Return the domains."""
        info.context.require(Role.READER)
        found: Domains = await info.context.ask(_domains)
        return found

    @strawberry.field(description="Tables of a domain, ordered by key; dropped ones are left out.")
    async def domain_tables(
        self,
        info: LineageInfo,
        domain: Annotated[str, argument("Name of the domain.")],
        first: First = 50,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Table]:
        """Return a page of the tables of a domain."""
        info.context.require(Role.READER)
        wanted = argument_text("domain", domain) or ""
        asked = page_arguments(info, "domainTables", (str,), first, after, last, before, scope=(wanted,))
        return await page_of_tables(info, asked, lambda one: wanted in _domains_of(one))


def _domains(store: GraphStore) -> Domains:
    found, without = count_tables(store, _domains_of)
    return Domains(
        nodes=[Domain(name=name, table_count=Long(count)) for name, count in found[:_MOST_DOMAINS]],
        total_count=Long(len(found)),
        tables_without=Long(without),
    )


def _domains_of(dataset: LiveDataset) -> set[str]:
    return domains_in(facts_from(dataset.facts), dataset.tags)

"""Which grants on personal data nobody used, by the query logs."""

from __future__ import annotations

from datetime import date
from typing import Annotated

import strawberry

from lineage.governance.grant_use import GrantAudit, GrantState, GrantUse, audit_grants
from lineage.governance.log_coverage import NoLogError
from lineage.store.protocol import GraphStore
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.current_pii_report import current_pii_report
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.exposures import refuse_without_log
from lineage_graphql.schema.fields import Long, argument, doc_field
from lineage_graphql.schema.paging import First, size_of

__all__ = ["GrantAudits"]

strawberry.enum(GrantState, description="Whether somebody read by a grant; unknown: the logs cannot show it.")


@strawberry.type(description="A grant to read a table or column with personal data, and its use.")
class PersonalDataGrant:
    """A grant, and who used it."""

    role: str = doc_field("The role or user that it is granted to.")
    on: str = doc_field("The table or column.")
    classes: list[str] = doc_field("The classes of the values there.")
    state: GrantState = doc_field("Whether it was used.")
    why: str | None = doc_field("What decided that, if it is not a query.")
    granted: date | None = doc_field("Since when it holds, if a log says so.")
    queries: Long = doc_field("Number of queries of users who have the role.")
    last_day: date | None = doc_field("Day of the last of them.")
    distinct_users: int = doc_field("Number of these users.")
    users: list[str] | None = doc_field("These users. Null without the role steward.")

    @classmethod
    def of(cls, grant: GrantUse, *, shows_users: bool) -> PersonalDataGrant:
        """Return the GraphQL object of a grant."""
        return cls(
            role=grant.role,
            on=grant.name,
            classes=list(grant.classes),
            state=grant.state,
            why=grant.why or None,
            granted=grant.granted.date() if grant.granted else None,
            queries=Long(grant.queries),
            last_day=grant.last_day,
            distinct_users=len(grant.users),
            users=list(grant.users) if shows_users else None,
        )


@strawberry.type(description="The grants on personal data, and what the logs do not show of their use.")
class PersonalDataGrants:
    """The grants on personal data."""

    blind_spots: list[str] = doc_field("What the logs cover, and what they do not show.")
    total_count: int = doc_field("Number of grants in these states.")
    found: strawberry.Private[list[GrantUse]]
    shows_users: strawberry.Private[bool]

    @strawberry.field(description="The grants: unused ones first, then those of which it is not known.")
    def grants(self, info: LineageInfo, first: First = 100) -> list[PersonalDataGrant]:
        """Return the grants."""
        shown = self.found[: size_of(info, first)]
        return [PersonalDataGrant.of(one, shows_users=self.shows_users) for one in shown]


@strawberry.type
class GrantAudits:
    """The field of `Query` about grants that nobody used."""

    @strawberry.field(
        description="Grants on tables and columns that show personal data: used by whom, or by nobody in the query "
        "logs. It is refused if no log covers the time."
    )
    async def grant_audit(
        self,
        info: LineageInfo,
        classes: Annotated[list[str] | None, argument("Only these classes; all if omitted.")] = None,
        states: Annotated[list[GrantState] | None, argument("Only grants in these states.")] = None,
        since: Annotated[date | None, argument("From this day on.")] = None,
        until: Annotated[date | None, argument("Up to this day.")] = None,
    ) -> PersonalDataGrants:
        """Return the use of grants."""
        caller = info.context.require(Role.READER)
        if since and until and since > until:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"since ({since}) is after until ({until})")
        wanted = {one.lower() for one in classes or ()}

        def work(store: GraphStore) -> GrantAudit:
            return audit_grants(store, current_pii_report(store, classes=wanted), since=since, until=until)

        try:
            audit: GrantAudit = await info.context.ask(work)
        except NoLogError as error:
            raise refuse_without_log(error) from error
        found = [one for one in audit.grants if not states or one.state in states]
        return PersonalDataGrants(
            blind_spots=list(audit.blind_spots),
            total_count=len(found),
            found=found,
            shows_users=Role.STEWARD in caller.roles,
        )

"""Who read personal data, by the query logs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated

import strawberry

from lineage.governance.access import Access, AccessAudit, audit_access, pseudonyms
from lineage.governance.exposure import Exposure
from lineage.governance.log_coverage import NoLogError
from lineage.store.protocol import GraphStore
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.current_pii_report import current_pii_report
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.exposures import ExposureStep, refuse_without_log
from lineage_graphql.schema.fields import Long, argument, doc_field
from lineage_graphql.schema.paging import First, size_of

__all__ = ["AccessAudits"]


@strawberry.type(description="The reads of one column with values of a class, by one user.")
class PersonalDataAccess:
    """The reads of a column by a user."""

    user: str | None = doc_field(
        "The user; `user 1`, … without the role steward, the same within one answer. Null: the log has no name."
    )
    classes: list[str] = doc_field("The classes of the values.")
    column: str = doc_field("The column that was read.")
    column_key: strawberry.ID = doc_field("Its key.")
    sources: list[str] = doc_field("The tagged columns whose values are in it.")
    exposure: Exposure = doc_field("What the column shows of them.")
    warehouse: list[str] = doc_field("What policies and grants of the warehouse say of the column.")
    queries: Long = doc_field("Number of queries.")
    first_day: date = doc_field("Day of the first of them.")
    last_day: date = doc_field("Day of the last of them.")
    is_new: bool = doc_field("Whether the user had not read it before the last 30 days of the logs.")
    path: list[ExposureStep] = doc_field("A shortest path from a source to the column.")

    @classmethod
    def of(cls, access: Access, names: Mapping[str, str] | None) -> PersonalDataAccess:
        """Return the GraphQL object of reads; with other `names` of users, SQL is not shown either."""
        return cls(
            user=access.user if names is None or access.user is None else names[access.user],
            classes=list(access.classes),
            column=access.column,
            column_key=strawberry.ID(access.key),
            sources=list(access.sources),
            exposure=access.exposure,
            warehouse=list(access.protection.sentences),
            queries=Long(access.queries),
            first_day=access.first_day,
            last_day=access.last_day,
            is_new=access.is_new,
            path=[ExposureStep.of(step, shows_sql=names is None) for step in access.path],
        )


@strawberry.type(description="The users who read a class for the first time in the last 30 days of the logs.")
class NewReaders:
    """The new readers of a class."""

    name: str = doc_field("The class.")
    users: list[str] = doc_field("The users; `user 1`, … without the role steward.")


@strawberry.type(description="Who read personal data, and what the logs do not show.")
class PersonalDataAudit:
    """Who read personal data."""

    blind_spots: list[str] = doc_field("What the logs cover, and what they do not show.")
    log_first_day: date = doc_field("First day that the logs cover.")
    log_last_day: date = doc_field("Last day that the logs cover.")
    total_count: int = doc_field("Number of pairs of user and column.")
    new_readers: list[NewReaders] | None = doc_field("New readers by class; null if the logs cover 30 days or less.")
    audit: strawberry.Private[AccessAudit]
    names: strawberry.Private[Mapping[str, str] | None]

    @classmethod
    def of(cls, audit: AccessAudit, names: Mapping[str, str] | None) -> PersonalDataAudit:
        """Return the GraphQL object of an audit; `names` replace those of users."""
        new = audit.new_readers
        return cls(
            blind_spots=list(audit.blind_spots),
            log_first_day=audit.coverage.first_day,
            log_last_day=audit.coverage.last_day,
            total_count=len(audit.accesses),
            new_readers=None
            if new is None
            else [
                NewReaders(name=name, users=[one if names is None else names[one] for one in users])
                for name, users in new.items()
            ],
            audit=audit,
            names=names,
        )

    @strawberry.field(description="The reads: what shows most first, then the most frequent.")
    def accesses(self, info: LineageInfo, first: First = 100) -> list[PersonalDataAccess]:
        """Return the reads."""
        return [PersonalDataAccess.of(one, self.names) for one in self.audit.accesses[: size_of(info, first)]]


@strawberry.type
class AccessAudits:
    """The field of `Query` about who read personal data."""

    @strawberry.field(
        description="Who read columns with personal data, by the query logs. It is refused if no log covers the time."
    )
    async def access_audit(
        self,
        info: LineageInfo,
        classes: Annotated[list[str] | None, argument("Only these classes; all if omitted.")] = None,
        users: Annotated[list[str] | None, argument("Only these users. It needs the role steward.")] = None,
        since: Annotated[date | None, argument("From this day on.")] = None,
        until: Annotated[date | None, argument("Up to this day.")] = None,
    ) -> PersonalDataAudit:
        """Return who read personal data."""
        caller = info.context.require(Role.STEWARD if users is not None else Role.READER)
        if since and until and since > until:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"since ({since}) is after until ({until})")
        wanted = {one.lower() for one in classes or ()}

        def work(store: GraphStore) -> AccessAudit:
            report = current_pii_report(store, classes=wanted)
            return audit_access(store, report, since=since, until=until, users=users or ())

        try:
            audit: AccessAudit = await info.context.ask(work)
        except NoLogError as error:
            raise refuse_without_log(error) from error
        return PersonalDataAudit.of(audit, None if Role.STEWARD in caller.roles else pseudonyms(audit))

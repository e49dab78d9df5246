"""Personal data: tags of columns, where their values go, and unused tables."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, date, datetime
from typing import Annotated

import strawberry

from lineage.governance.exposure import Exposure
from lineage.governance.log_coverage import NoLogError
from lineage.governance.report.pii_report import Holder, Influenced, PiiReport, ProvenStep, Ruling, SourceColumn
from lineage.governance.report.policy import Policy, Verdict
from lineage.governance.unused_tables import UnusedReport, UnusedTable, find_unused
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredTag
from lineage.traversal import resolve_column
from lineage_graphql.access.roles import Role
from lineage_graphql.context import LineageInfo
from lineage_graphql.current_pii_report import current_pii_report
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, argument, doc_field

__all__ = ["ColumnTag", "PersonalData", "refuse_without_log"]

_LISTED = Annotated[int, argument("Maximum number of rows.")]

strawberry.enum(Exposure, description="How much of a value a column shows, the most first.")


def refuse_without_log(error: NoLogError) -> RefusedError:
    """Return the error for clients: no log covers the time that they ask about."""
    return RefusedError(ErrorCode.NOT_FOUND, str(error), error.hint)


@strawberry.type(description="What someone or something says of the values of a column.")
class ColumnTag:
    """A tag of a column."""

    column_key: strawberry.ID = doc_field("Key of the column, which may not be known yet.")
    name: str = doc_field("The class: email, phone, …")
    denied: bool = doc_field("Whether it says that the column does not hold the class.")
    confidence: float = doc_field("How sure it is, up to 1.")
    source: str = doc_field("What says it: manual, csv, rules, dbt, ….")
    stated_by: str = doc_field("Who says it.")
    at: datetime = doc_field("When it was said.")
    why: str = doc_field("The reason.")

    @classmethod
    def of(cls, tag: StoredTag) -> ColumnTag:
        """Return the GraphQL object of a tag."""
        return cls(
            column_key=strawberry.ID(tag.column),
            name=tag.name,
            denied=tag.denied,
            confidence=tag.confidence,
            source=tag.source,
            stated_by=tag.stated_by,
            at=tag.at,
            why=tag.why,
        )


@strawberry.type(description="A step of the path that proves an exposure.")
class ExposureStep:
    """A step of a path."""

    source: str = doc_field("The column that is read.")
    target: str = doc_field("The column that is written.")
    exposure: Exposure = doc_field("What the step leaves of the value.")
    job: strawberry.ID = doc_field("Key of the job.")
    sql: list[str] | None = doc_field("The expressions, with literals masked; null without the role steward.")

    @classmethod
    def of(cls, step: ProvenStep, *, shows_sql: bool) -> ExposureStep:
        """Return the GraphQL object of a step."""
        sql = list(step.proof.sql) if shows_sql else None
        return cls(
            source=step.source, target=step.target, exposure=step.exposure, job=strawberry.ID(step.proof.job), sql=sql
        )


strawberry.enum(Verdict, description="What the policy says, the worst last.")


@strawberry.type(description="What the service's policy says of a class in a column.")
class PolicyRuling:
    """What the policy says of a class in a column."""

    name: str = doc_field("The class: email, phone, …")
    verdict: Verdict = doc_field("Whether it may be there.")
    why: str = doc_field("The reason that the policy gives; empty without one.")

    @classmethod
    def of(cls, ruling: Ruling) -> PolicyRuling:
        """Return the GraphQL object of a ruling."""
        return cls(name=ruling.name, verdict=ruling.verdict, why=ruling.entry.why if ruling.entry else "")


@strawberry.type(description="The number of columns of which the policy says the same.")
class VerdictCount:
    """The number of columns of a verdict."""

    verdict: Verdict = doc_field("What the policy says.")
    columns: int = doc_field("Number of columns, those with personal data themselves included.")


@strawberry.type(description="A column that holds values of another one.")
class ExposedColumn:
    """A column that holds values of another one."""

    key: strawberry.ID = doc_field("Key of the column.")
    name: str = doc_field("Name of the column.")
    table: str = doc_field("Name of its table.")
    exposure: Exposure = doc_field("What it shows, by the path that hides least.")
    confidence: float = doc_field("How sure it is that it holds the class.")
    hops: int = doc_field("Number of steps of the path.")
    reads: Long = doc_field("Number of logged queries that read it.")
    last_read: datetime | None = doc_field("Time of the last read.")
    users: list[str] | None = doc_field("The most frequent readers; null without the role steward.")
    path: list[ExposureStep] = doc_field("A shortest path that proves it.")
    rulings: list[PolicyRuling] = doc_field("What the policy says of it; empty without one (`serve --pii-policy`).")

    @classmethod
    def of(cls, holder: Holder, *, shows_all: bool) -> ExposedColumn:
        """Return the GraphQL object of a column."""
        return cls(
            key=strawberry.ID(holder.key),
            name=holder.name,
            table=holder.table,
            exposure=holder.exposure,
            confidence=holder.confidence,
            hops=holder.hops,
            reads=Long(holder.usage.reads),
            last_read=holder.usage.last_read,
            users=holder.users if shows_all else None,
            path=[ExposureStep.of(step, shows_sql=shows_all) for step in holder.path],
            rulings=[PolicyRuling.of(one) for one in holder.rulings],
        )


@strawberry.type(description="A column or table that values decide about without being in it.")
class InfluencedName:
    """A column or table that values decide about."""

    key: strawberry.ID = doc_field("Key of the column or table.")
    name: str = doc_field("Name of the column or table.")
    masked: bool = doc_field("Whether only a masked value decides.")

    @classmethod
    def of(cls, one: Influenced) -> InfluencedName:
        """Return the GraphQL object of an influence."""
        return cls(key=strawberry.ID(one.key), name=one.name, masked=one.masked)


@strawberry.type(description="Where the values of a column are.")
class Exposures:
    """Where the values of a column are."""

    key: strawberry.ID = doc_field("Key of the column.")
    name: str = doc_field("Name of the column.")
    tags: list[ColumnTag] = doc_field("Its classes, with their reasons.")
    rulings: list[PolicyRuling] = doc_field("What the policy says of the column itself; empty without a policy.")
    total_count: int = doc_field("Number of other columns that hold its values.")
    stopped: list[str] = doc_field("Columns marked as no personal data; values are not followed beyond them.")
    possibly_in_tables: list[str] = doc_field("Tables that may hold it: the columns of the SQL are not known.")
    source: strawberry.Private[SourceColumn]

    @classmethod
    def of(cls, source: SourceColumn) -> Exposures:
        """Return the GraphQL object of a source."""
        return cls(
            key=strawberry.ID(source.key),
            name=source.name,
            tags=[ColumnTag.of(tag) for tag in source.tags],
            rulings=[PolicyRuling.of(one) for one in source.own.rulings],
            total_count=len(source.holders),
            stopped=list(source.stopped),
            possibly_in_tables=list(source.possibly),
            source=source,
        )

    @strawberry.field(description="The columns that hold its values, those that show most first.")
    def columns(self, info: LineageInfo, first: _LISTED = 100) -> list[ExposedColumn]:
        """Return the columns that hold its values."""
        shows_all = Role.STEWARD in info.context.require(Role.READER).roles
        return [ExposedColumn.of(one, shows_all=shows_all) for one in self.source.holders[: _page(info, first)]]

    @strawberry.field(description="What its values decide about without being there.")
    def influenced(self, info: LineageInfo, first: _LISTED = 100) -> list[InfluencedName]:
        """Return what its values decide about."""
        return [InfluencedName.of(one) for one in self.source.influenced[: _page(info, first)]]


@strawberry.type(description="Personal data by source column.")
class PersonalDataReport:
    """Personal data by source column."""

    classes: list[str] = doc_field("The classes found.")
    total_count: int = doc_field("Number of source columns.")
    blind_spots: list[str] = doc_field("What the report cannot know.")
    verdicts: list[VerdictCount] | None = doc_field("What the policy says; null without one (`serve --pii-policy`).")
    report: strawberry.Private[PiiReport]

    @strawberry.field(description="The source columns, by name.")
    def sources(self, info: LineageInfo, first: _LISTED = 50) -> list[Exposures]:
        """Return the source columns."""
        return [Exposures.of(one) for one in self.report.sources[: _page(info, first)]]


@strawberry.type(description="A table that nobody used.")
class UnusedTableEntry:
    """A table that nobody used."""

    key: strawberry.ID = doc_field("Key of the table.")
    name: str = doc_field("Name of the table.")
    last_read: date | None = doc_field("Day of the last logged read, also by pipelines.")
    feeds: list[str] = doc_field("The unused tables that are made from it: they are dropped before it.")
    sure: str = doc_field("How sure it is: high, medium or low.")
    but: list[str] = doc_field("Why it is not high.")

    @classmethod
    def of(cls, table: UnusedTable) -> UnusedTableEntry:
        """Return the GraphQL object of a table."""
        return cls(
            key=strawberry.ID(table.key),
            name=table.name,
            last_read=table.last_read,
            feeds=list(table.feeds),
            sure=table.sure,
            but=list(table.but),
        )


@strawberry.type(description="Tables that nobody used, and what the logs cover.")
class Unused:
    """Tables that nobody used."""

    since: date = doc_field("First day asked about.")
    until: date = doc_field("Last day asked about.")
    log_first_day: date = doc_field("First day that the logs cover.")
    log_last_day: date = doc_field("Last day that the logs cover.")
    total_count: int = doc_field("Number of unused tables.")
    not_judged: int = doc_field("Number of tables of systems that no log covers, of dashboards and files.")
    found: strawberry.Private[UnusedReport]

    @strawberry.field(description="The tables, in the order in which they can be dropped.")
    def tables(self, info: LineageInfo, first: _LISTED = 100) -> list[UnusedTableEntry]:
        """Return the tables."""
        return [UnusedTableEntry.of(one) for one in self.found.tables[: _page(info, first)]]


@strawberry.type
class PersonalData:
    """Fields of `Query` about personal data and unused tables."""

    @strawberry.field(description="Where the values of columns with personal data are, by tags.")
    async def pii_report(
        self,
        info: LineageInfo,
        classes: Annotated[list[str] | None, argument("Only these classes; all if omitted.")] = None,
    ) -> PersonalDataReport:
        """Return the report of personal data."""
        info.context.require(Role.READER)
        report: PiiReport = await info.context.ask(_reporting(classes or (), policy=info.context.policy))
        spots = [f"{one.what}: {one.why}" for one in report.blind_spots]
        return PersonalDataReport(
            classes=list(report.classes),
            total_count=len(report.sources),
            blind_spots=spots,
            verdicts=[VerdictCount(verdict=one, columns=number) for one, number in report.verdicts.items()]
            if report.has_policy
            else None,
            report=report,
        )

    @strawberry.field(description="Where the values of a column are, tagged or not.")
    async def exposures(
        self, info: LineageInfo, column: Annotated[str, argument("A column, by key or name.")]
    ) -> Exposures:
        """Return where the values of a column are."""
        info.context.require(Role.READER)
        report: PiiReport = await info.context.ask(_reporting((), column, info.context.policy))
        return Exposures.of(report.sources[0])

    @strawberry.field(description="Tags of columns, denials and pending ones included.")
    async def column_tags(
        self,
        info: LineageInfo,
        column: Annotated[str | None, argument("Only those of this column, by key or name.")] = None,
        first: _LISTED = 100,
    ) -> list[ColumnTag]:
        """Return tags of columns."""
        info.context.require(Role.READER)
        most = _page(info, first)

        def work(store: GraphStore) -> list[StoredTag]:
            return store.tags([resolve_column(store, column).key] if column else None)[:most]

        return [ColumnTag.of(one) for one in await info.context.ask(work)]

    @strawberry.field(description="Tables that nobody used. It is refused if no log covers the time.")
    async def unused(
        self,
        info: LineageInfo,
        days: Annotated[int, argument("Not used for so many days.")] = 90,
        until: Annotated[date | None, argument("The last of these days; today if omitted.")] = None,
    ) -> Unused:
        """Return tables that nobody used."""
        info.context.require(Role.READER)
        if not 1 <= days <= 36_500:
            raise RefusedError(ErrorCode.BAD_ARGUMENT, f"days is {days}; it must be 1 to 36500")
        day = until or datetime.now(UTC).date()
        try:
            report: UnusedReport = await info.context.ask(lambda store: find_unused(store, days, day))
        except NoLogError as error:
            raise refuse_without_log(error) from error
        return Unused(
            since=report.since,
            until=report.until,
            log_first_day=report.coverage.first_day,
            log_last_day=report.coverage.last_day,
            total_count=len(report.tables),
            not_judged=report.not_judged,
            found=report,
        )


def _reporting(
    classes: Collection[str], column: str | None = None, policy: Policy | None = None
) -> Callable[[GraphStore], PiiReport]:
    def work(store: GraphStore) -> PiiReport:
        wanted = {one.lower() for one in classes}
        columns = [resolve_column(store, column).key] if column is not None else None
        return current_pii_report(store, classes=wanted, columns=columns, policy=policy)

    return work


def _page(info: LineageInfo, first: int) -> int:
    most = info.context.limits.page
    if not 0 <= first <= most:
        raise RefusedError.over_limit("page", most, first, f"request at most {most} rows")
    return first

"""Facts about tables and columns, as sources state them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import strawberry

from lineage.model import facts as model
from lineage_graphql.schema.fields import doc_field

__all__ = ["StatedFacts", "facts_of"]


@strawberry.type(description="A test of a table or of its columns, with its last result.")
class DataTest:
    """A test."""

    key: str = doc_field("Its unique key in its source.")
    kind: str = doc_field("Kind of test: `unique`, `not_null`, …, `singular` or `unit`.")
    columns: list[str] = doc_field("Paths of the columns that it tests.")
    severity: str | None = doc_field("What a failure means: `error` or `warn`.")
    refers_to: str | None = doc_field("Name of the other table whose values it compares with.")
    status: str | None = doc_field("Last result: `pass`, `warn`, `fail`, `error` or `skipped`; null if it never ran.")
    failures: int | None = doc_field("Number of rows that failed.")
    condition: str | None = doc_field("Which rows it tests, literals masked; null: all.")
    at: datetime | None = doc_field("Time of the last result.")


@strawberry.type(description="A declared constraint.")
class TableConstraint:
    """A constraint."""

    kind: str = doc_field("Type: `not_null`, `primary_key`, `check`, ….")
    columns: list[str] = doc_field("Paths of its columns.")
    expression: str | None = doc_field("Its expression, literals masked.")


@strawberry.type(description="A name with a JSON value.")
class Metadatum:
    """An item of metadata."""

    name: str = doc_field("Its name.")
    value: str = doc_field("Its value as JSON.")


@strawberry.type(description="How recent the rows of a source were.")
class SourceFreshness:
    """The freshness of a source."""

    status: str = doc_field("`pass`, `warn` or `error`.")
    at: datetime = doc_field("Time of the check.")
    loaded_at: datetime | None = doc_field("Time of the newest row.")


@strawberry.type(description="What one source states of a table or column, such as a node of a dbt project.")
class StatedFacts:
    """The facts of one source."""

    source: str = doc_field("Key of the source.")
    at: datetime = doc_field("Time of the statement.")
    description: str | None = doc_field("Description.")
    tags: list[str] = doc_field("Tags.")
    meta: list[Metadatum] = doc_field("Metadata.")
    owner: str | None = doc_field("Owner.")
    data_type: str | None = doc_field("Declared data type.")
    is_contracted: bool = doc_field("Whether types and constraints are enforced when the table is built.")
    constraints: list[TableConstraint] = doc_field("Declared constraints.")
    tests: list[DataTest] = doc_field("Tests with their last results.")
    freshness: SourceFreshness | None = doc_field("SourceFreshness of a source.")


def facts_of(stated: Iterable[model.Facts]) -> list[StatedFacts]:
    """Return the GraphQL objects of facts."""
    return [
        StatedFacts(
            source=facts.source,
            at=facts.at,
            description=facts.description,
            tags=list(facts.tags),
            meta=[Metadatum(name=name, value=value) for name, value in facts.meta],
            owner=facts.owner,
            data_type=facts.data_type,
            is_contracted=facts.is_contracted,
            constraints=[
                TableConstraint(kind=each.kind, columns=list(each.columns), expression=each.expression)
                for each in facts.constraints
            ],
            tests=list(map(_test_of, facts.checks)),
            freshness=SourceFreshness(
                status=facts.freshness.status, at=facts.freshness.at, loaded_at=facts.freshness.loaded_at
            )
            if facts.freshness is not None
            else None,
        )
        for facts in stated
    ]


def _test_of(check: model.Check) -> DataTest:
    result = check.result
    return DataTest(
        key=check.key,
        kind=check.kind,
        columns=list(check.columns),
        severity=check.severity,
        refers_to=check.refers_to,
        condition=check.condition,
        status=result.status if result is not None else None,
        failures=result.failures if result is not None else None,
        at=result.at if result is not None else None,
    )

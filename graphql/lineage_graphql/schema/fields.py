"""Scalars, enums and argument checks that all types of the schema share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NewType, TypeVar

import strawberry

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.statement import Completeness, DatasetKind
from lineage.store.values import Direction
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["Long", "argument", "doc_field", "argument_text", "in_utc", "some_of"]

T = TypeVar("T")

Long = NewType("Long", int)
"""An integer of up to 53 bits, which JSON can represent; GraphQL's Int has 32."""

LONG = strawberry.scalar(
    name="Long",
    description="An integer of up to 53 bits, which JSON can represent; Int has 32.",
    serialize=int,
    parse_value=int,
)

strawberry.enum(EdgeKind, description="CONTRIBUTES: the value flows. REFERENCES: it has an influence without flowing.")
strawberry.enum(
    Subtype, description="How a value flows (IDENTITY, TRANSFORMATION, AGGREGATION), or what its influence is."
)
strawberry.enum(DatasetKind, description="Kind of dataset.")
strawberry.enum(JobKind, description="Kind of job: what the lineage was read from.")
strawberry.enum(Completeness, description="How much of the SQL was resolved.")
strawberry.enum(Severity, description="How far a diagnostic affects the lineage.")
strawberry.enum(DiagnosticCode, description="Kind of finding. Codes are never renamed.")
strawberry.enum(Direction, description="DOWNSTREAM: towards the consumers. UPSTREAM: towards the sources.")


def doc_field(description: str, **options: Any) -> Any:
    """Return a field with its description."""
    return strawberry.field(description=description, **options)


def argument(description: str, name: str | None = None) -> Any:
    """Return an argument's description, for use in `Annotated`."""
    return strawberry.argument(description=description, name=name)


def in_utc(at: datetime) -> datetime:
    """Return a time with its zone; UTC is assumed where it has none."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def some_of(name: str, values: Sequence[T] | None) -> tuple[T, ...]:
    """Return the values of a list argument; an empty tuple if it is not given.

    Raises:
        RefusedError: the list is empty, which would match nothing.
    """
    if values is not None and not values:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is empty", f"give at least one value, or omit `{name}`")
    return tuple(values or ())


def argument_text(name: str, value: str | None) -> str | None:
    """Return the text of an argument.

    Raises:
        RefusedError: it is empty.
    """
    if value is not None and not value.strip():
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is empty", f"give a value, or omit `{name}`")
    return value

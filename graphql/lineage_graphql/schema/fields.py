"""Small pieces that all types of the schema are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NewType, TypeVar

import strawberry

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import Completeness, DatasetKind
from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.values import Direction
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["Long", "argument", "given", "some_of", "described"]

T = TypeVar("T")

Long = NewType("Long", int)
"""A whole number of up to 53 bits, which JSON can hold; GraphQL's Int has 32."""

LONG = strawberry.scalar(
    name="Long",
    description="A whole number of up to 53 bits, which JSON can hold; Int has 32.",
    serialize=int,
    parse_value=int,
)

strawberry.enum(EdgeKind, description="CONTRIBUTES: the value flows. REFERENCES: it influences.")
strawberry.enum(
    Subtype, description="How a value flows (IDENTITY, TRANSFORMATION, AGGREGATION), or by what it influences."
)
strawberry.enum(DatasetKind, description="What sort of dataset it is.")
strawberry.enum(JobKind, description="What states the lineage.")
strawberry.enum(Completeness, description="How much of the SQL was resolved.")
strawberry.enum(Severity, description="How much of the lineage a diagnostic puts in doubt.")
strawberry.enum(DiagnosticCode, description="What was found. Codes are never renamed.")
strawberry.enum(Direction, description="DOWNSTREAM: towards the consumers. UPSTREAM: towards the sources.")


def described(description: str, **options: Any) -> Any:
    """Return a field with its description."""
    return strawberry.field(description=description, **options)


def argument(description: str, name: str | None = None) -> Any:
    """Return an argument's description, to be put into `Annotated`."""
    return strawberry.argument(description=description, name=name)


def some_of(name: str, values: Sequence[T] | None) -> tuple[T, ...]:
    """Return the values that an argument names, none of which may be any.

    Raises:
        RefusedError: the list is empty: nothing could be meant by it, and all by leaving it out.
    """
    if values is not None and not values:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is empty", f"name some, or leave `{name}` out")
    return tuple(values or ())


def given(name: str, value: str | None) -> str | None:
    """Return the text of an argument.

    Raises:
        RefusedError: it is empty, which nothing is named.
    """
    if value is not None and not value.strip():
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is empty", f"name something, or leave `{name}` out")
    return value

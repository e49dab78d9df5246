"""Small pieces that all types of the schema are made of."""

from __future__ import annotations

from typing import Any, NewType

import strawberry

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import Completeness, DatasetKind
from lineage.model.transformations import EdgeKind, Subtype
from lineage.store.protocol import Direction

__all__ = ["Long", "argument", "told"]

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


def told(description: str, **options: Any) -> Any:
    """Return a field with its description."""
    return strawberry.field(description=description, **options)


def argument(description: str, name: str | None = None) -> Any:
    """Return an argument's description, to be put into `Annotated`."""
    return strawberry.argument(description=description, name=name)

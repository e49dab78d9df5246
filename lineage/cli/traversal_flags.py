"""Options of what a traversal follows, and how far."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, ClassVar

import typer

from lineage.frozen import frozen
from lineage.model.influence.transformations import EdgeKind
from lineage.traversal import TraversalOptions

__all__ = ["DATES", "AsOfOption", "EdgeFlags", "TraversalFlags"]

DATES = ["%Y-%m-%d"] + [
    f"%Y-%m-%d{between}%H:%M{rest}{zone}"
    for between in "T "
    for rest in ("", ":%S", ":%S.%f")
    for zone in ("", "%z", " UTC")
]
"""Accepted formats of times in options: ISO 8601, and as times are printed."""
AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        formats=DATES,
        metavar="TIME",
        help="Query the graph as of this time, such as 2026-01-31 or 2026-01-31T08:00:00+01:00. UTC without an offset.",
    ),
]


@frozen(slots=False)
class EdgeFlags:
    """Options of which edges are followed."""

    panel: ClassVar[str | None] = None

    max_hops: Annotated[int, typer.Option("--max-hops", min=1, help="Follow at most this many edges.")] = 20
    kind: Annotated[
        list[EdgeKind] | None,
        typer.Option(
            "--kind", help="Follow only edges of this kind.", metavar="contributes|references", case_sensitive=False
        ),
    ] = None
    as_of: AsOfOption = None

    def options(self) -> TraversalOptions:
        """Return the options of a traversal."""
        as_of = self.as_of
        if as_of is not None and as_of.tzinfo is None:
            as_of = as_of.replace(tzinfo=UTC)
        kinds = frozenset(self.kind) if self.kind else frozenset(EdgeKind)
        return TraversalOptions(max_hops=self.max_hops, kinds=kinds, limit_total=10_000, as_of=as_of)


@frozen(slots=False)
class TraversalFlags(EdgeFlags):
    """Options of which edges are followed, and how many columns are reached."""

    panel: ClassVar[str | None] = None

    max_references: Annotated[
        int | None,
        typer.Option(
            "--max-references", min=0, help="Follow at most this many references (joins, filters, …) on a path."
        ),
    ] = None
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of columns to reach.")] = 10_000
    limit_per_hop: Annotated[
        int | None, typer.Option("--limit-per-hop", min=1, help="Maximum number of columns to reach per hop.")
    ] = None

    def options(self) -> TraversalOptions:
        """Return the options of a traversal."""
        return replace(
            EdgeFlags.options(self),
            max_references=self.max_references,
            limit_total=self.limit,
            limit_per_hop=self.limit_per_hop,
        )

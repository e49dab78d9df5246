"""The result of a comparison: a verdict on each edge, with the reason of a difference, and the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from lineage.store.values import StoredEdge, StoredJob
from lineage_ingest.compare.opinions import Opinion, UnreadRow

__all__ = ["ComparedEdge", "Comparison", "DifferenceCondition", "Reason", "EdgeVerdict"]


class EdgeVerdict(StrEnum):
    """What two opinions of one edge come to."""

    AGREE = "agree"
    THROUGH = "through"
    """One side states it directly, the other in several steps."""
    TABLES = "tables only"
    """They state the tables only, or ours is at table level only; nothing contradicts."""
    KIND = "kind differs"
    """One side says that the value flows, the other that it only influences."""
    ONLY_THEIRS = "only theirs"
    ONLY_OURS = "only ours"

    @property
    def is_difference(self) -> bool:
        """Whether the two opinions differ."""
        return self in (EdgeVerdict.KIND, EdgeVerdict.ONLY_THEIRS, EdgeVerdict.ONLY_OURS)


class Reason(StrEnum):
    """Why two opinions differ, as far as the graph and the export show it."""

    INFLUENCE = "influence"
    """Ours is a reference (a filter, a join, a condition); they list it as lineage."""
    RETIRED = "retired"
    """Ours ended after they last saw theirs."""
    COLUMN_UNKNOWN = "column unknown"
    UNKNOWN_TABLE_BETWEEN = "unknown table between"
    """They state it through a table that the graph does not have; several sessions may have used its name."""
    TABLE_LEVEL = "table level"
    """Ours is table-level lineage: the statement's columns could not be resolved."""
    PARTIAL = "partial"
    """Our reading of the statement is partial."""
    STATEMENT_UNKNOWN = "statement unknown"
    """No statement in the graph writes the target from the source."""
    NEWER = "newer"
    """They saw it after our latest statement of the table, or we after theirs."""
    AMBIGUOUS = "ambiguous"
    """Our edge is one of several possible ones."""
    TARGET_UNSTATED = "column not stated"
    """Their export says nothing of the column."""
    SOURCE_UNSTATED = "source not stated"
    """Their export does not mention the source table."""
    OTHER_PERIOD = "other period"
    """Our edge was not seen in the time of their export."""
    INFLUENCE_UNSTATED = "influence not stated"
    """Ours is a reference, and they do not state this one."""
    VALUE = "value"
    """Ours says that the value flows; they say that it only influences."""
    CONSTANT = "no source stated"
    """They say that the column is written without any source."""
    UNEXPLAINED = "unexplained"

    @property
    def is_explained(self) -> bool:
        """Whether it explains the difference, so that neither side need be wrong."""
        return self not in (Reason.VALUE, Reason.CONSTANT, Reason.UNEXPLAINED)


class DifferenceCondition(StrEnum):
    """Conditions for exit status 1."""

    ANY = "any"
    UNEXPLAINED = "unexplained"
    ONLY_THEIRS = "only-theirs"
    ONLY_OURS = "only-ours"
    KIND = "kind"


@dataclass(slots=True)
class ComparedEdge:
    """An edge and the verdict on it, by the graph's keys; datasets where it is of tables only.

    `because` explains a difference in words. `through` are the keys between, on the side that has several steps;
    `ours` are our edges, `theirs` what the export states.
    """

    verdict: EdgeVerdict
    source: str
    target: str
    ours: tuple[StoredEdge, ...] = ()
    theirs: Opinion | None = None
    reason: Reason | None = None
    because: str = ""
    through: tuple[str, ...] = ()


@dataclass(slots=True)
class Comparison:
    """All verdicts of a comparison. `names` are display names by key, `jobs` the jobs that prove our edges.

    `not_compared` counts the edges of theirs by the table that the graph does not have; `not_compared_edges` are they
    all.
    """

    kind: str
    product: str
    edges: list[ComparedEdge] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, StoredJob] = field(default_factory=dict)
    tables: int = 0
    """Number of tables that both know and whose lineage was compared."""
    rows: int = 0
    not_compared: Counter[str] = field(default_factory=Counter)
    not_compared_edges: int = 0
    unread: list[UnreadRow] = field(default_factory=list)
    unread_count: int = 0
    notices: list[str] = field(default_factory=list)
    first_at: datetime | None = None
    last_at: datetime | None = None
    as_of: datetime | None = None
    store: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """The number of edges by verdict."""
        found = Counter(edge.verdict for edge in self.edges)
        return {str(verdict): found[verdict] for verdict in EdgeVerdict}

    @property
    def differences(self) -> list[ComparedEdge]:
        """The edges on which the two opinions differ, unexplained ones first."""
        found = [edge for edge in self.edges if edge.verdict.is_difference]
        order = list(EdgeVerdict)
        return sorted(
            found,
            key=lambda compared_edge: (
                compared_edge.reason is not None and compared_edge.reason.is_explained,
                order.index(compared_edge.verdict),
                compared_edge.target,
                compared_edge.source,
            ),
        )

    @property
    def unproven(self) -> int:
        """The number of edges in agreement that no SQL proves: they were learnt from a product's own statement."""
        return sum(
            edge.verdict is EdgeVerdict.AGREE and bool(edge.ours) and not any(one.spans for one in edge.ours)
            for edge in self.edges
        )

    @property
    def has_errors(self) -> bool:
        """Whether some of the input could not be used."""
        return self.unread_count > 0

    def failures(self, conditions: Collection[DifferenceCondition]) -> list[ComparedEdge]:
        """Return the differences that meet one of these conditions."""
        return [edge for edge in self.differences if any(_meets(edge, condition) for condition in conditions)]


def _meets(edge: ComparedEdge, condition: DifferenceCondition) -> bool:
    if condition is DifferenceCondition.ANY:
        return True
    if condition is DifferenceCondition.UNEXPLAINED:
        return edge.reason is None or not edge.reason.is_explained
    wanted = {
        DifferenceCondition.ONLY_THEIRS: EdgeVerdict.ONLY_THEIRS,
        DifferenceCondition.ONLY_OURS: EdgeVerdict.ONLY_OURS,
        DifferenceCondition.KIND: EdgeVerdict.KIND,
    }
    return edge.verdict is wanted[condition]

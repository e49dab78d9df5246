"""Jobs of a batch: the SQL of each, and the spans in it that prove its edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.model.batch import (
    EdgeRecord,
    JobRecord,
)
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.dialect import Dialect
from lineage.model.influence.edge_effects import merge_effects
from lineage.model.influence.evidence import Chain, SourcePosition, is_sound
from lineage.model.influence.transformations import EdgeKind, StepEffect
from lineage.model.statement import (
    Completeness,
    Edge,
    StatementLineage,
)
from lineage.sql import mask_literals
from lineage_ingest.batch.attribution import Attribution

__all__ = ["EarlierText", "StatedJob"]

_MISPLACED = Diagnostic(
    DiagnosticCode.INTERNAL_ERROR,
    Severity.WARNING,
    "the span that proves an edge lies outside the job's SQL and was left out",
    hint="please report this bug with the statement, its names and literals replaced",
)
_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)


class EarlierText(NamedTuple):
    """A statement that created a temporary table, its literals masked."""

    text: str
    span: Span
    is_of_file: bool
    """Whether it is in the file of the job."""


@dataclass(slots=True)
class StatedJob:
    """Collects the statements of a job: its SQL, reads, writes and edges."""

    of: Attribution
    statements: list[StatementLineage] = field(default_factory=list)
    sql: list[str] = field(default_factory=list)
    length: int = 0
    positions: list[SourcePosition] = field(default_factory=list)
    earlier: dict[tuple[str, int], EarlierText] = field(default_factory=dict)
    """The statements that created the temporary tables that its own read, by key."""
    moved: dict[tuple[str, int], int] = field(default_factory=dict)
    """By key of such a statement, the offset from positions in its text to positions in the job's SQL."""
    edges: dict[tuple[str, str, EdgeKind, str], list[tuple[Edge, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    reads: dict[str, None] = field(default_factory=dict)
    writes: dict[str, None] = field(default_factory=dict)

    def add_text(self, text: str, statement: StatementLineage, dialect: Dialect) -> int:
        """Append the statement's masked text to the job's SQL; return the offset of its spans in that SQL."""
        span = statement.span
        if span is None:
            return 0
        masked = mask_literals(text[span.start : span.end], dialect)
        if self.sql:
            self.sql.append(";\n")
            self.length += 2
        offset = self.length - span.start
        self.positions.append(SourcePosition(self.length, span.line, span.column))
        self.sql.append(masked)
        self.length += len(masked)
        return offset

    def append_earlier(self) -> None:
        """Append the statements that created temporary tables to the SQL, after its own."""
        for key, statement in self.earlier.items():
            if key in self.moved:
                continue
            start = self.length + 2
            position = (statement.span.line, statement.span.column) if statement.is_of_file else (0, 0)
            self.positions.append(SourcePosition(start, *position))
            self.sql += [";\n", statement.text]
            self.length = start + len(statement.text)
            self.moved[key] = start - statement.span.start

    def record(self, dialect: Dialect) -> JobRecord:
        """Return the record of the job."""
        operations = dict.fromkeys(statement.operation for statement in self.statements)
        completeness = max((s.completeness for s in self.statements), key=_WORST.index)
        first = self.statements[0].span
        return JobRecord(
            key=self.of.key,
            kind=self.of.kind,
            first_seen=self.of.first_seen,
            last_seen=self.of.last_seen,
            reads=tuple(self.reads),
            writes=tuple(self.writes),
            sql="".join(self.sql),
            dialect=dialect.name,
            source=self.of.source,
            source_line=first.line if first and len(self.statements) == 1 and self.of.source else None,
            operation=" ".join(operations),
            completeness=completeness,
            file_key=self.of.file_key,
            positions=tuple(self.positions) if self.of.source else (),
        )

    def edge_records(self, misplaced: list[Diagnostic]) -> Iterator[EdgeRecord]:
        """Yield the edges; a span outside the SQL is omitted and reported in `misplaced`."""
        for (source, target, kind, output), stated in self.edges.items():
            proofs = {proof for edge, offset in stated for proof in edge.proofs(offset, self.moved)}
            placed = [proof for proof in proofs if _is_within(proof, self.length)]
            if len(placed) < len(proofs):
                misplaced.append(_MISPLACED)
            if len(stated) == 1:  # most are
                [(edge, _)] = stated
                yield EdgeRecord(
                    source,
                    target,
                    kind,
                    self.of.key,
                    output,
                    (edge.subtype,),
                    edge.masking,
                    edge.limited,
                    edge.ambiguous,
                    tuple(sorted(placed)),
                )
                continue
            effects = merge_effects(StepEffect(edge.subtype, edge.masking) for edge, _ in stated)
            yield EdgeRecord(
                source=source,
                target=target,
                kind=kind,
                job=self.of.key,
                output=output,
                subtypes=effects.subtypes,
                masking=effects.masking,
                limited=any(edge.limited for edge, _ in stated),
                ambiguous=all(edge.ambiguous for edge, _ in stated),
                spans=tuple(sorted(placed)),
                partly_masking=effects.partly_masking,
            )


def _is_within(proof: Chain, length: int) -> bool:
    """Return whether a proof is valid in SQL of so many characters."""
    if len(proof) == 2:  # most are
        return 0 <= proof[0] <= proof[1] <= length
    return is_sound(proof) and max(proof) <= length

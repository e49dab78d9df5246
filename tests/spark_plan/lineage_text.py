"""Lineage as text: one edge a line, as the cases of SQL have it."""

from __future__ import annotations

from collections.abc import Iterable

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import ColumnPath, short_name
from lineage.model.statement import ColumnRef, StatementLineage
from lineage.sql.resolve.transformation_codes import LIMITED_SORTS, STEPS
from lineage_ingest.spark_plan.plan_lineage import WriteLineage
from lineage_ingest.spark_plan.traced_values import PlanSource, Sources

__all__ = ["edge_lines", "edges_by_sql", "edges_of", "short_source"]


def edges_of(write: WriteLineage) -> list[str]:
    """Return the edges of a write, sorted; its own columns have no prefix, its rows are `*`."""
    return edge_lines(write.columns, write.rows)


def edge_lines(columns: Iterable[tuple[str, Sources]], rows: Sources) -> list[str]:
    """Return the edges of columns and rows, sorted."""
    found = set()
    for name, sources in (*columns, ("*", rows)):
        for source, code in sources:
            step = STEPS[code]
            marks = [
                str(step.subtype),
                *(["masking"] if step.masking else []),
                *(["limited"] if code in LIMITED_SORTS else []),
            ]
            arrow = "->" if step.kind is EdgeKind.CONTRIBUTES else "~>"
            found.add(f"{short_source(source)} {arrow} {name} [{' '.join(marks)}]")
    return sorted(found)


def edges_by_sql(statement: StatementLineage) -> set[str]:
    """Return the edges of a statement that was extracted, as `edges_of` writes those of a plan."""
    found = set()
    for edge in (*statement.edges, *(one.as_edge() for one in statement.row_references)):
        source = ".".join(one for one in (short_name(edge.source.table or ""), edge.source.column) if one)
        arrow = "->" if edge.kind is EdgeKind.CONTRIBUTES else "~>"
        target = edge.target.column if isinstance(edge.target, ColumnRef) else "*"
        marks = [str(edge.subtype), *(["masking"] if edge.masking else []), *(["limited"] if edge.limited else [])]
        found.add(f"{source} {arrow} {target} [{' '.join(marks)}]")
    return found


def short_source(source: PlanSource) -> str:
    """Return a source with the last part of its dataset's name."""
    name = short_name(source.dataset.rpartition("/")[2])
    return name if source.path is None else f"{name}.{ColumnPath(source.path)}"

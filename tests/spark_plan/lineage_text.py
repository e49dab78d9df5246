"""Lineage as text: one edge a line, as the cases of SQL have it."""

from __future__ import annotations

from lineage.model.names import ColumnPath, short_name
from lineage.model.transformations import EdgeKind
from lineage.sql.resolve.transformation_codes import LIMITED_SORTS, STEPS
from lineage_ingest.spark_plan.plan_lineage import WriteLineage
from lineage_ingest.spark_plan.traced_values import PlanSource

__all__ = ["edges_of", "short_source"]


def edges_of(write: WriteLineage) -> list[str]:
    """Return the edges of a write, sorted; its own columns have no prefix, its rows are `*`."""
    found = set()
    for name, sources in (*write.columns, ("*", write.rows)):
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


def short_source(source: PlanSource) -> str:
    """Return a source with the last part of its dataset's name."""
    name = short_name(source.dataset.rpartition("/")[2])
    return name if source.path is None else f"{name}.{ColumnPath(source.path)}"

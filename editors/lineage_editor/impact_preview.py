"""Who breaks if a column is renamed or dropped: the SQL that names it, and everything that depends on its values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ColumnRef
from lineage.screen.evidence import location
from lineage.screen.listing import counted
from lineage.store.values import Direction, StoredColumn
from lineage_editor.analysis import DocumentAnalysis, NameAtCursor
from lineage_editor.definition_places import file_of
from lineage_editor.graph_answers import ColumnReach, GraphAnswers
from lineage_editor.text_positions import TextPositions

__all__ = ["ImpactPreview", "explorer_url", "impact_preview", "stored_column"]

_MAX_TABLES = 200


@dataclass
class ImpactPreview:
    """The answer: a title, the whole as Markdown, and the places that name the column."""

    title: str
    markdown: str = ""
    key: str | None = None
    breaks: list[dict[str, Any]] = field(default_factory=list)
    columns: int = 0
    tables: int = 0
    complete: bool = True

    @property
    def summary(self) -> str:
        """The answer in a line."""
        places = counted(len(self.breaks), "place")
        more = f"dependent: {counted(self.columns, 'column')} in {counted(self.tables, 'table')}"
        return f"{self.title} Named in {places}; {more}{'' if self.complete else ' (partial)'}."

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return dict(vars(self))


def stored_column(
    analysis: DocumentAnalysis, name: NameAtCursor, graph: GraphAnswers | None
) -> tuple[ColumnRef | None, StoredColumn | None]:
    """Return the column of a table that a name means or that its value becomes, and what is stored of it."""
    targets = [one for placed in name.columns if (one := analysis.target_of(placed)) is not None and one.table]
    if not targets:  # in a CTE: what has its name then, before others
        flows = [(one, placed.place.name) for placed in name.columns for one in analysis.flows_to(placed) if one.table]
        targets = [one for one, _ in sorted(flows, key=lambda each: each[0].column != each[1])]
    for target in targets:
        stored = graph.column(str(target.table), target.column) if graph is not None else None
        if stored is not None:
            return target, stored
    return (targets[0] if targets else None), None


def impact_preview(
    analysis: DocumentAnalysis, name: NameAtCursor, graph: GraphAnswers | None, roots: Iterable[Path]
) -> ImpactPreview:
    """Return who breaks, from the store and the text; with what is not known."""
    target, stored = stored_column(analysis, name, graph)
    word = analysis.text[name.span.start : name.span.end]
    is_own = any(analysis.target_of(placed) == target for placed in name.columns)
    shown = str(target) if target is not None and is_own else word
    preview = ImpactPreview(f"Who breaks if {shown} is renamed or dropped?")
    lines = [f"# Who breaks if `{shown}` is renamed or dropped?", *_here(analysis, name, preview)]
    if target is not None and not is_own:
        lines.append(f"Its value becomes `{target}`.")
    if stored is None or graph is None:
        preview.complete = False
        why = "no store is open" if graph is None else f"the store does not know `{target or shown}`"
        lines.append(f"**Partial:** {why}: only this file is known.")
    else:
        preview.key = stored.key
        reach = graph.reach(stored, Direction.DOWNSTREAM)
        preview.columns, preview.tables = len(reach.columns), reach.tables
        preview.complete = not (reach.possibly_affected or reach.doubts)
        lines += [*_readers(graph, stored, list(roots), preview), *_affected(reach)]
    preview.markdown = "\n\n".join(lines) + "\n"
    return preview


def _here(analysis: DocumentAnalysis, name: NameAtCursor, found: ImpactPreview) -> Iterator[str]:
    """Yield where this text names the column."""
    meant = {
        (one.place.table, one.place.name, one.place.block, one.statement * (one.place.block is not None))
        for one in name.columns
    }
    positions = TextPositions(analysis.text)
    lines = []
    for number, statement in enumerate(analysis.statements):
        for reading in statement.readings:
            if any((p.table, p.name, p.block, number * (p.block is not None)) in meant for p in reading.places):
                at = positions.position(reading.span.start)
                found.breaks.append(
                    {"file": None, "line": at.line + 1, "column": at.character + 1, "writes": statement.lineage.target}
                )
                lines.append(f"- line {at.line + 1}, column {at.character + 1}")
    if lines:
        yield "## In this file"
        yield "\n".join(dict.fromkeys(lines))


def _readers(graph: GraphAnswers, column: StoredColumn, roots: list[Path], found: ImpactPreview) -> Iterator[str]:
    """Yield the jobs whose SQL names the column."""
    readers = graph.direct_readers(column)
    names = graph.store.dataset_names({target for _, _, target in readers})
    lines = []
    for job, at, target in readers:
        file, line, place = location(job, at) if at >= 0 and job.sql else (job.source, job.source_line or 0, None)
        path = file_of(job, roots)
        found.breaks.append(
            {
                "file": str(path) if path else file,
                "job": job.key,
                "line": line or None,
                "column": place,
                "writes": names.get(target, target),
            }
        )
        where = f"{file}:{line}" if file and line else file or job.key
        text = f"[{where}]({path.as_uri()}#L{line or 1})" if path is not None else f"`{where}`"
        lines.append(f"- {text} writes `{names.get(target, target)}`")
    yield f"## SQL that names it: {counted(len(lines), 'place')}"
    yield "\n".join(lines) if lines else "No job of the store reads it."


def _affected(reach: ColumnReach) -> Iterator[str]:
    """Yield the tables with columns that depend on it, the nearest first."""
    yield f"## Depend on it: {counted(len(reach.columns), 'column')} in {counted(reach.tables, 'table')}"
    by_table: dict[str, list[str]] = defaultdict(list)
    for column in reach.columns:
        how = [] if EdgeKind.CONTRIBUTES in column.influence else ["influence only"]
        how += ["masked"] if column.masked else []
        own = reach.names.get(column.key, column.key).removeprefix(f"{column.table}.")
        by_table[column.table].append(f"`{own}`" + (f" ({', '.join(how)})" if how else ""))
    if by_table:
        yield "\n".join(
            f"- **{table}**: {', '.join(columns)}" for table, columns in list(by_table.items())[:_MAX_TABLES]
        )
    if len(by_table) > _MAX_TABLES:
        yield f"… and {counted(len(by_table) - _MAX_TABLES, 'more table')}: `lineage impact` lists all."
    if reach.possibly_affected:
        listed = ", ".join(f"`{one}`" for one in reach.possibly_affected)
        yield f"**Partial:** of these tables only is known that they read from it, not which columns: {listed}"
    for doubt in reach.doubts:
        yield f"**Partial:** {doubt}."


def explorer_url(address: str, key: str) -> str:
    """Return the address of the explorer's page with a column in focus.

    >>> explorer_url("http://127.0.0.1:8000", "pg/shop.orders#amount")
    'http://127.0.0.1:8000/#/lineage?of=pg%2Fshop.orders%23amount&focus=pg%2Fshop.orders%23amount'
    """
    name = quote(key, safe="")
    return f"{address.rstrip('/')}/#/lineage?of={name}&focus={name}"

"""A diff as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from lineage_ingest.diff.definitions.classification import TableEffect
from lineage_ingest.diff.project_diff import ProjectDiff
from lineage_ingest.diff.reports.selection import dbt_commands
from lineage_ingest.diff.reports.wording import all_columns, groups_of, reader_lines, what_else

__all__ = ["COLUMNS", "diff_rows", "summary_lines"]

COLUMNS = ("table", "effect", "columns", "change", "risk", "rebuild")


def diff_rows(diff: ProjectDiff) -> Iterator[tuple[object, ...]]:
    """Yield a row for each change of a table's columns: the edited tables first, then those downstream."""
    for table in (*diff.edited, *diff.affected):
        if table.effect in (TableEffect.ADDED, TableEffect.REMOVED):
            risk, names = str(diff.risk_of_table(table)), all_columns(len(table.columns))
            yield table.title, str(table.effect), names, f"table {table.effect}", risk, table.rebuild or ""
            continue
        groups = [(names, change, str(risk)) for names, change, risk in groups_of(diff, table)]
        if table.effect is TableEffect.RENAMED:
            groups.insert(0, ("", f"table renamed from {table.earlier}", str(diff.risk_of_table(table))))
        for names, change, risk in groups or [("", "; ".join(table.reasons), "")]:
            yield table.title, str(table.effect), names, change, risk, table.rebuild or ""


def summary_lines(diff: ProjectDiff) -> Iterator[str]:
    """Yield what else there is to say: readers, consumers, findings, and what to run."""
    yield from reader_lines(diff)
    for table in (*diff.edited, *diff.affected):
        if table.reasons:
            yield f"{table.title}: {'; '.join(table.reasons)}"
    for one in diff.consumers:
        owner = f" (owner {one.owner})" if one.owner else ""
        yield f"{one.kind.replace('_', ' ')} {one.name}{owner} {one.effect}"
    yield from what_else(diff)
    if diff.cosmetic:
        yield f"cosmetic edits only: {', '.join(one.title for one in diff.cosmetic)}"
    rebuilt = f"rebuild: {len(diff.rebuild)}"
    if diff.modified is not None:
        rebuilt += f" (state:modified+ chooses {len(diff.modified)}); tests to run: {len(diff.tests)}"
    yield rebuilt
    yield from dbt_commands(diff)

"""The sentences that reports share."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.model.batch import JobKind
from lineage.model.text.name_lists import name_list
from lineage.screen.listing import counted
from lineage.sql.canonical.readers.value_forms import UNKNOWN_FUNCTION
from lineage_ingest.diff.definitions.classification import ColumnDiff, ColumnEffect, TableDiff, TableEffect
from lineage_ingest.diff.effects.readers import TableReach
from lineage_ingest.diff.project_diff import ProjectDiff, Risk, shown_column

__all__ = ["all_columns", "change_of", "groups_of", "headline", "reader_lines", "what_else"]


def headline(diff: ProjectDiff) -> str:
    """Return one sentence: how many tables are edited, affected, and edited without effect; columns laid open."""
    parts = [f"{counted(len(diff.edited), 'table')} changed", f"{len(diff.affected):,} affected downstream"]
    if diff.cosmetic:
        parts.append(f"{len(diff.cosmetic):,} with cosmetic edits only")
    unmasked = sum(ColumnEffect.UNMASKED in one.effects for table in diff.tables.values() for one in table.columns)
    if unmasked:
        parts.append(f"{counted(unmasked, 'column')} no longer masked")
    return ", ".join(parts)


def all_columns(count: int) -> str:
    """Return words for all columns of a table.

    >>> all_columns(3), all_columns(1), all_columns(0)
    ('all 3 columns', 'its column', '')
    """
    return f"all {count:,} columns" if count > 1 else "its column" if count else ""


def change_of(table: TableDiff, column: ColumnDiff) -> str:
    """Return what happens to a column, in words."""
    words = [str(one) for one in column.effects]
    if column.earlier is not None:
        words[0] = f"renamed from {column.earlier}"
    before, after = column.types
    if ColumnEffect.TYPE in column.effects and (before or after):
        words[column.effects.index(ColumnEffect.TYPE)] = f"type changed: {before or '?'} → {after or '?'}"
    if table.clauses and ColumnEffect.ROWS in column.effects:
        words[-1] += f" ({', '.join(table.clauses)})"
    return ", ".join(words) + ("" if column.is_own or table.effect is not TableEffect.CHANGED else " (from upstream)")


def groups_of(diff: ProjectDiff, table: TableDiff) -> Iterator[tuple[str, str, Risk]]:
    """Yield the names of columns, what happens to them, and the risk; columns with the same in one line."""
    lines: dict[tuple[str, Risk], list[str]] = {}
    for column in table.columns:
        if column.is_content:
            key = (change_of(table, column), diff.risk_of(table, column))
            lines.setdefault(key, []).append(shown_column(column.name))
    for (change, risk), names in lines.items():
        everything = len(names) > 1 and len(names) == len(table.columns) + table.same_columns
        if everything and "*" in {column.name for column in table.columns}:  # their number is not known
            yield "all columns", change, risk
            continue
        yield (all_columns(len(names)) if everything else ", ".join(dict.fromkeys(names))), change, risk


def reader_lines(diff: ProjectDiff) -> Iterator[str]:
    """Yield a line for each edited table: its owner, and who is known to read it.

    Readers that are not known are never taken not to exist. Without a store that is said once, for all tables.
    """
    tables = [table for table in diff.edited if table.effect is not TableEffect.ADDED]
    for table in tables:
        owner = f" (owner {diff.owners[table.key]})" if table.key in diff.owners else ""
        if diff.reach is not None:
            yield f"{table.title}{owner}: {_readers_of(diff.reach.get(table.key))}"
        elif owner:
            yield f"{table.title}: owner {diff.owners[table.key]}"
    if tables and diff.reach is None:
        yield "readers outside the project are unknown (no --store)"


def _readers_of(reach: TableReach | None) -> str:
    if reach is None or not reach.in_store:
        return "the store does not know this table: its readers are unknown"
    return _known_readers(reach) or "no reader outside the project is known; there may be some"


def _known_readers(reach: TableReach) -> str:
    parts = []
    outside = [one for one in reach.downstream if one.is_outside]
    if outside:
        parts.append(f"downstream: {name_list([one.name for one in outside], 5)}")
    if reach.users:
        users = name_list([f"{user} ({count:,})" for user, count in reach.users], 5)
        last = f", last on {reach.last_read:%Y-%m-%d}" if reach.last_read else ""
        parts.append(f"people: {users}{last}")
    elif reach.last_read:
        parts.append(f"last read on {reach.last_read:%Y-%m-%d}")
    if reach.readers:
        runs = [one.last for one in reach.readers if one.kind != JobKind.SQL_FILE]  # a file is seen when it is ingested
        last = f", last on {max(runs):%Y-%m-%d}" if runs else ""
        what = "job or query" if len(reach.readers) == 1 else "jobs and queries"
        people = sorted({user for one in reach.readers for user in one.users})
        by = f" by {name_list(people, 5)}" if people else ""
        parts.append(f"{len(reach.readers):,} {what} here and downstream{by}{last}")
    if reach.truncated:
        parts.append(f"incomplete: {', '.join(reach.truncated)}")
    return "; ".join(parts)


def what_else(diff: ProjectDiff) -> Iterator[str]:
    """Yield a line for each finding beside changed columns."""
    for missing in diff.missing:
        yield f"{missing.table} reads {missing.name}, which does not exist any more"
    yield from map(str, diff.carriers)
    yield from diff.notices
    clauses = (clause for table in diff.tables.values() for clause in table.clauses)
    unknown = sorted(
        {one.removeprefix(UNKNOWN_FUNCTION).strip() for one in clauses if one.startswith(UNKNOWN_FUNCTION)}
    )
    if unknown:
        yield (
            f"{name_list(unknown, 5)}: unknown, and may change the row set; if its value depends on its arguments "
            "alone, list it under [deterministic] in a file (--functions FILE)"
        )

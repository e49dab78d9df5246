"""A diff as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lineage_ingest.diff.definitions.classification import ColumnDiff, TableDiff, TableEffect
from lineage_ingest.diff.project_diff import FailCondition, ProjectDiff, shown_column
from lineage_ingest.diff.reports.selection import dbt_commands, full_refresh_names, rebuild_names

__all__ = ["diff_to_dict"]


def diff_to_dict(diff: ProjectDiff, fail_on: Sequence[FailCondition] = ()) -> dict[str, Any]:
    """Return the whole diff; tables without any edit or effect are left out."""
    listed = [one for one in diff.tables.values() if one.effect is not TableEffect.UNCHANGED or one.rebuild]
    return {
        "base": diff.base,
        "head": diff.head,
        "columns": diff.counts(),
        "tables": [_table(diff, one) for one in listed],
        "consumers": [one.to_dict() for one in diff.consumers],
        "missing_columns": [
            {"table": one.table, "name": one.name, "message": one.message} for one in diff.missing
        ],
        "personal_data": [one.to_dict() for one in diff.carriers],
        "rebuild": rebuild_names(diff),
        "full_refresh": full_refresh_names(diff),
        "tests": [one.name for one in diff.tests],
        "commands": dbt_commands(diff),
        "state_modified_plus": list(diff.modified) if diff.modified is not None else None,
        "failures": [{"on": str(condition), "what": text} for condition, text in diff.failures(fail_on)],
        "notices": list(diff.notices),
        "store_read": diff.reach is not None,
    }  # fmt: skip


def _table(diff: ProjectDiff, table: TableDiff) -> dict[str, Any]:
    reach = diff.reach.get(table.key) if diff.reach is not None else None
    return {
        "key": table.key,
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "build": str(table.build),
        "effect": str(table.effect),
        "earlier": table.earlier,
        "owner": diff.owners.get(table.key),
        "reasons": list(table.reasons),
        "row_clauses": list(table.clauses),
        "rebuild": table.rebuild,
        "full_refresh": table.full_refresh,
        "upstream": list(table.upstream),
        "columns": [_column(diff, table, one) for one in table.columns],
        "reach": reach.to_dict() if reach is not None else None,
    }


def _column(diff: ProjectDiff, table: TableDiff, column: ColumnDiff) -> dict[str, Any]:
    return {
        "name": shown_column(column.name),
        "effects": [str(one) for one in column.effects],
        "own": column.is_own,
        "earlier": column.earlier,
        "types": list(column.types),
        "risk": str(diff.risk_of(table, column)) if column.is_content else None,
    }

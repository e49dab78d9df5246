"""The commands of dbt that build what must be rebuilt, and run the tests whose result may differ."""

from __future__ import annotations

import shlex

from lineage_ingest.diff.definitions.table_definitions import Build
from lineage_ingest.diff.project_diff import ProjectDiff

__all__ = ["dbt_commands", "full_refresh_names", "rebuild_names"]


def rebuild_names(diff: ProjectDiff) -> list[str]:
    """Return the models, seeds and snapshots that must be rebuilt, as dbt selects them."""
    return [one.title for one in diff.rebuild if not one.full_refresh]


def full_refresh_names(diff: ProjectDiff) -> list[str]:
    """Return the incremental models whose past rows are outdated, too, and seeds, whose types may be others.

    A snapshot's past cannot be built again.
    """
    return [one.title for one in diff.rebuild if one.full_refresh]


def dbt_commands(diff: ProjectDiff) -> list[str]:
    """Return the commands, in order; empty if there is nothing to do, or the project is not one of dbt."""
    if diff.modified is None:
        return []
    commands = []
    names, whole = rebuild_names(diff), [
        one.title for one in diff.rebuild if one.full_refresh and one.build is not Build.SNAPSHOT
    ]  # fmt: skip
    snapshots = [one.title for one in diff.rebuild if one.full_refresh and one.build is Build.SNAPSHOT]
    order = [one.title for one in diff.rebuild]
    if whole:
        # One command builds in the order of the graph; a full refresh of tables and views is what they get anyway.
        commands.append(f"dbt build --full-refresh --exclude-resource-type test unit_test --select {_join(order)}")
    elif names or snapshots:
        commands.append(f"dbt build --exclude-resource-type test unit_test --select {_join(order)}")
    if diff.tests:
        commands.append(f"dbt test --indirect-selection empty --select {_join([one.name for one in diff.tests])}")
    return commands


def _join(names: list[str]) -> str:
    return " ".join(map(shlex.quote, dict.fromkeys(names)))

"""`python -m tests.diff.minimal_rebuild N [--seed S]`: is what `lineage diff` leaves alone really the same?

N random edits of a dbt project of 30 models. Before and after each, the project is built on DuckDB, in two builds, so
that incremental models have a past. Checked for every edit:

- a model that is called untouched contains the same, column by column and row by row (`missed`);
- of a touched model whose row set is called unchanged, the untouched columns contain the same (`missed columns`);
- a table that need not be rebuilt contains what a build would give; so does a view, as it was defined before (`stale`);
- a warehouse of which only that is rebuilt which the diff says contains what one contains that is built as a whole
  (`left behind`).

The number of models to rebuild is compared with that of `state:modified+`. Exit status: 0 no failure, 1 failures.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import duckdb

from lineage_ingest.dbt.request import prepare_project
from lineage_ingest.diff.definitions.classification import ColumnEffect, TableDiff, TableEffect
from lineage_ingest.diff.definitions.comparison import compare_projects
from lineage_ingest.diff.definitions.table_definitions import Build, ProjectRevision
from lineage_ingest.diff.revisions.dbt_revision import dbt_revision
from lineage_ingest.diff.revisions.manifest_json import ManifestJson
from lineage_ingest.diff.revisions.state_modified import state_modified_plus
from lineage_ingest.options import DbtOptions
from tests.diff.edits import EDITS, apply_edit, normalized
from tests.diff.functions_beside import with_functions
from tests.diff.shop import Shop, new_shop, write_target
from tests.diff.warehouse import Content, PartialBuilds, Warehouse, build

__all__ = ["Campaign", "run_campaign"]


@dataclass
class Campaign:
    """Counts of a campaign; `failures` describe what was wrong."""

    edits: int = 0
    by_edit: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    rebuilt: int = 0
    modified_plus: int = 0
    differing: int = 0
    touched: int = 0
    failures: list[str] = field(default_factory=list)
    claimed: int = 0
    """Columns that are called changed, of tables that are there before and after."""
    claimed_too_much: int = 0
    """Those of them that contain the same."""
    rebuilt_by_edit: Counter[str] = field(default_factory=Counter)
    modified_by_edit: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        """Models to rebuild, as a part of those that `state:modified+` chooses."""
        return self.rebuilt / self.modified_plus if self.modified_plus else 0.0


@dataclass(frozen=True)
class _Revision:
    project: ProjectRevision
    raw: ManifestJson


def _revision(shop: Shop, folder: Path) -> _Revision:
    request = prepare_project(write_target(shop, folder), DbtOptions(), None)
    raw = ManifestJson.of(request.artifacts)
    return _Revision(dbt_revision(request, raw, "", with_types=True), raw)


def run_campaign(
    edits: int, seed: int, *, progress: bool = False, only: str | None = None, functions: bool = False
) -> Campaign:
    """Make random edits of one shop, and check what the diff says of each.

    `functions`: its models compute functions of DuckDB's catalogue, too.
    """
    found = Campaign()
    rng = random.Random(seed)
    shop = normalized(new_shop(seed))
    if functions:
        shop = normalized(with_functions(shop, rng))
    names = [only] if only else list(EDITS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        base = _revision(shop, folder / "base")
        before, parts = build(shop), PartialBuilds(shop)
        assert before.failed is None, before.failed
        number = 0
        while found.edits < edits:
            name = names[number % len(names)]
            number += 1
            assert number < 20 * edits + 1_000, "edits hardly ever fit"
            edited = apply_edit(name, rng, shop)
            if edited is None:
                continue
            after = build(edited[0])
            head = _revision(edited[0], folder / "head")
            diffs = compare_projects(base.project, head.project).tables
            label = f"seed {seed}, edit {number} ({name} of {edited[1]})"
            if after.failed is not None:
                found.refused += 1
                _check_refused(found, label, after, diffs)
                continue
            found.edits += 1
            found.by_edit[name] += 1
            _check(found, label, shop, before, after, diffs)
            _check_rebuilt(found, label, parts, edited[0], after, diffs)
            modified = len(state_modified_plus(base.raw, head.raw))
            rebuilt = sum(diff.rebuild is not None for diff in diffs.values())
            found.rebuilt += rebuilt
            found.modified_plus += modified
            found.rebuilt_by_edit[name] += rebuilt
            found.modified_by_edit[name] += modified
            if progress and found.edits % 50 == 0:
                print(f"{found.edits:,} edits, {len(found.failures)} failures, {found.ratio:.3f}", file=sys.stderr)
    return found


_CLAIMS = frozenset((ColumnEffect.VALUE, ColumnEffect.ROWS, ColumnEffect.TYPE))


def _check_refused(found: Campaign, label: str, after: Warehouse, diffs: Mapping[str, TableDiff]) -> None:
    """A model that the database refuses after the edit must be reported."""
    name, message = after.failed or ("", "")
    if not diffs[f"model.shop.{name}"].is_content and not diffs[f"model.shop.{name}"].rebuild:
        found.failures.append(f"{label}: {name} fails and is called untouched: {message[:200]}")


def _check(
    found: Campaign, label: str, shop: Shop, before: Warehouse, after: Warehouse, diffs: Mapping[str, TableDiff]
) -> None:
    for diff in diffs.values():
        if diff.effect in (TableEffect.ADDED, TableEffect.REMOVED):
            continue
        name = diff.title
        one, other = before.contents[diff.earlier or name], after.contents[name]
        differs = one != other
        found.differing += differs
        found.touched += diff.is_content
        for column in diff.columns:
            if _CLAIMS.intersection(column.effects) and column.name in other.types:
                earlier = column.earlier or column.name
                found.claimed += 1
                is_same = one.types.get(earlier) == other.types[column.name]
                found.claimed_too_much += is_same and one.of([earlier]) == other.of([column.name])
        if differs and not diff.is_content:
            found.failures.append(f"{label}: missed {name}: {_difference(one, other)}")
        elif diff.is_content and not any(ColumnEffect.ROWS in column.effects for column in diff.columns):
            gone = {column.earlier or column.name for column in diff.columns if column.is_content}
            same = [column for column in one.types if column not in gone]
            lost = [column for column in same if column not in other.types]
            if lost or one.of(same) != other.of(same):
                found.failures.append(f"{label}: missed columns of {name}: {lost or _difference(one, other)}")
        if diff.rebuild is None and diff.build is not Build.VIEW and differs:
            found.failures.append(f"{label}: stale {name}: {_difference(one, other)}")
        if diff.rebuild is None and diff.build is Build.VIEW:
            _check_view(found, label, shop, name, after, other)


def _check_rebuilt(
    found: Campaign, label: str, parts: PartialBuilds, edited: Shop, after: Warehouse, diffs: Mapping[str, TableDiff]
) -> None:
    """What is rebuilt together with what is left as it was must be the edited shop."""
    rebuilt = {diff.title for diff in diffs.values() if diff.rebuild is not None}
    if not rebuilt:
        return
    part = parts.build(edited, rebuilt)
    if part.failed is not None:
        found.failures.append(f"{label}: left behind {part.failed[0]}: {part.failed[1][:200]}")
    for name, content in after.contents.items():
        if part.failed is None and part.contents[name] != content:
            found.failures.append(f"{label}: left behind {name}: {_difference(part.contents[name], content)}")


def _check_view(found: Campaign, label: str, shop: Shop, name: str, after: Warehouse, other: Content) -> None:
    """A view that is not created again must return what the new one would."""
    try:
        kept = after.evaluate(shop.models[name].text())
    except duckdb.Error as error:
        found.failures.append(f"{label}: the view {name} as it was fails: {str(error)[:200]}")
        return
    if kept != other:
        found.failures.append(f"{label}: stale view {name}: {_difference(kept, other)}")


def _difference(one: Content, other: Content) -> str:
    if one.types != other.types:
        return f"columns {sorted(set(one.types.items()) ^ set(other.types.items()))}"
    return f"{len(one.rows)} rows, then {len(other.rows)}"


def main() -> int:
    """Run the edits that the command line asks for, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.diff.minimal_rebuild", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("edits", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same seed gives the same edits")
    parser.add_argument("--only", choices=sorted(EDITS), help="only edits of this kind")
    parser.add_argument("--functions", action="store_true", help="beside calls of functions of DuckDB's catalogue")
    options = parser.parse_args()
    begun = perf_counter()
    found = run_campaign(options.edits, options.seed, progress=True, only=options.only, functions=options.functions)
    for name, count in sorted(found.by_edit.items()):
        print(f"  {name:42} {count:5}  {found.rebuilt_by_edit[name]:6} of {found.modified_by_edit[name]:6}")
    for failure in found.failures[:40]:
        print(failure)
    print(
        f"{found.edits:,} edits ({found.refused:,} more were refused by the database) in {perf_counter() - begun:.0f} s"
    )
    print(f"models whose content changed: {found.differing:,}; called touched: {found.touched:,}")
    share = found.claimed_too_much / found.claimed if found.claimed else 0.0
    print(f"columns called changed: {found.claimed:,}; contain the same: {found.claimed_too_much:,}; share {share:.3f}")
    print(f"untouched, stale or refused without being reported: {len(found.failures):,}")
    print(f"models to rebuild: {found.rebuilt:,}; state:modified+: {found.modified_plus:,}; ratio {found.ratio:.3f}")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())

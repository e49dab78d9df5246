"""What a dataset that was named at some time is called today."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime

import pytest

from lineage.model.batch import DatasetChange, definition_job_key
from lineage.model.statement import ChangeKind
from lineage.store.planning.naming import NamesOverTime, as_replacements
from tests.store.batch_builders import day, drop, drop_column, key, rename, rename_column, swap


def test_changes_are_followed_from_the_time_of_the_name() -> None:
    naming = NamesOverTime.of([rename("a", "b", 2), swap("b", "c", 4)], [rename("c", "d", 6)])
    assert naming.today(key("a"), day(1)) == key("d")
    assert naming.today(key("a"), day(3)) == key("a")
    assert naming.today(key("b"), day(3)) == key("d")
    assert naming.today(key("c"), day(3)) == key("b")
    assert naming.today(key("c"), day(5)) == key("d")


def test_at_equal_times_a_change_comes_before_statements() -> None:
    naming = NamesOverTime.of([], [rename("a", "b", 2)])
    assert naming.today(key("a"), day(2)) == key("a")


def test_a_change_names_datasets_as_they_were_called_just_before_it() -> None:
    changes = [rename("a", "b", 2), drop("a", 2), rename("b", "c", 2)]
    naming = NamesOverTime.of([], changes)
    assert naming.after(key("b"), changes[0]) == key("c")
    assert naming.after(key("a"), changes[1]) == key("a")


def test_a_definition_is_named_after_its_dataset() -> None:
    naming = NamesOverTime.of([rename("a", "b", 2)], [])
    assert naming.job_today(definition_job_key(key("a")), day(1)) == definition_job_key(key("b"))
    assert naming.job_today("file:a.sql", day(1)) == "file:a.sql"


def test_a_change_that_is_told_again_counts_once() -> None:
    assert NamesOverTime.of([swap("a", "b", 2)], [swap("a", "b", 2)]).today(key("a"), day(1)) == key("b")


def test_what_is_put_aside_to_be_dropped_is_dropped() -> None:
    new_changes = [rename("t", "t_old", 1), rename("t_new", "t", 2), drop("t_old", 3)]
    assert as_replacements(reversed(new_changes)) == [drop("t", 1), rename("t_new", "t", 2), drop("t_old", 3)]
    kept = [drop("t_old", 1), rename("t", "t_old", 2)]
    assert as_replacements(kept) == kept


def walked(
    changes: Iterable[DatasetChange], dataset: str, path: str, since: datetime, until: datetime | None = None
) -> tuple[str, str]:
    """Return the key of a dataset and the path of a column of it at the end, by a walk through all changes."""
    is_there = True
    for change in sorted(changes, key=lambda one: one.at):
        if change.at <= since or (until is not None and change.at >= until):
            continue
        if change.column is not None:
            if change.dataset == dataset and change.column == path and is_there:
                is_there = change.kind is ChangeKind.RENAME_COLUMN
                path = change.other if is_there and change.other is not None else path
        elif change.kind is ChangeKind.SWAP and change.other is not None and dataset in (change.dataset, change.other):
            dataset = change.other if dataset == change.dataset else change.dataset
        elif change.kind is ChangeKind.RENAME and change.other is not None and dataset == change.dataset:
            dataset = change.other
    return dataset, path


def any_change(pick: random.Random, tables: str, at: float) -> DatasetChange:
    (table, other), (column, another) = pick.sample(tables, 2), pick.sample("xyz", 2)
    made = (
        rename(table, other, at),
        swap(table, other, at),
        drop(table, at),
        rename_column(table, column, another, at),
        drop_column(table, column, at),
    )
    return pick.choice(made)


@pytest.mark.parametrize("seed", range(30))
def test_names_are_those_of_a_walk_through_all_changes(seed: int) -> None:
    pick = random.Random(seed)
    tables = "abcd"[: pick.choice((2, 3, 4))]
    changes = [any_change(pick, tables, at) for at in pick.sample(range(2, 90, 2), 40)]
    naming = NamesOverTime.of(changes[:20], changes[20:])
    for table in tables:
        for at in range(1, 92, 3):
            column = walked(changes, key(table), "x", day(at))
            assert naming.column_today(key(table), "x", day(at)) == column
            assert naming.today(key(table), day(at)) == column[0]
            then = walked(changes, key(table), "", day(at), day(at + 30))
            assert naming.name_at(key(table), day(at), day(at + 30)) == then[0]
    for change in changes:
        assert naming.after(change.dataset, change) == walked(changes, change.dataset, "", change.at)[0]
    dropped = {key(table): naming.drops_of(key(table)) for table in tables}
    assert sorted(one.at for listed in dropped.values() for one in listed) == sorted(
        one.at for one in changes if one.kind is ChangeKind.DROP
    )
    assert all(naming.after(one.dataset, one) == table for table, listed in dropped.items() for one in listed)

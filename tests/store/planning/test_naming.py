"""What a dataset that was named at some time is called today."""

from __future__ import annotations

from lineage.model.batch import definition_job_key
from lineage.store.planning.naming import NamesOverTime, as_replacements
from tests.store.batch_builders import day, drop, key, rename, swap


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

"""The garbage collection threshold is raised while statements are resolved, and restored afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from lineage import extract
from lineage.garbage_collection import seldom_collecting


@pytest.fixture(autouse=True)
def _threshold_restored() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("threshold", "inside"),
    [((700, 10, 10), 100_000), ((0, 10, 10), 0), ((200_000, 5, 5), 200_000)],
    ids=["default", "off", "higher"],
)
def test_the_threshold_is_raised_unless_it_is_higher_or_off(threshold: tuple[int, int, int], inside: int) -> None:
    gc.set_threshold(*threshold)
    with seldom_collecting():
        assert gc.get_threshold()[0] == inside
    assert gc.get_threshold() == threshold


def test_the_last_of_several_threads_restores_it() -> None:
    gc.set_threshold(700, 10, 10)
    first, second = ExitStack(), ExitStack()
    first.enter_context(seldom_collecting())
    second.enter_context(seldom_collecting())
    first.close()
    assert gc.get_threshold()[0] == 100_000
    second.close()
    assert gc.get_threshold() == (700, 10, 10)


def test_a_failed_extraction_restores_it() -> None:
    gc.set_threshold(700, 10, 10)
    with pytest.raises(TypeError):
        extract(None, "postgres")  # type: ignore[arg-type]
    assert gc.get_threshold() == (700, 10, 10)

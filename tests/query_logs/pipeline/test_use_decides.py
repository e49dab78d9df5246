"""An unprefixed column belongs to the table that other statements show to have it: whatever the order they ran in."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.query_logs.pipeline.running import edges, in_order, ingested

OPEN = "INSERT INTO r SELECT x FROM t1 JOIN t2 ON t1.id = t2.id"
SHOWS_FIRST = "INSERT INTO q1 SELECT t1.x FROM t1"
SHOWS_SECOND = "INSERT INTO q2 SELECT t2.x FROM t2"


@pytest.mark.parametrize("order", list(permutations((OPEN, SHOWS_FIRST))))
def test_one_table_is_seen_to_have_it(order: tuple[str, ...], tmp_path: Path) -> None:
    assert _sources_of_r(order, tmp_path) == {"t1#x"}


@pytest.mark.parametrize("order", list(permutations((OPEN, SHOWS_FIRST, SHOWS_SECOND))))
def test_both_are_seen_to_have_it(order: tuple[str, ...], tmp_path: Path) -> None:
    assert _sources_of_r(order, tmp_path) == {"t1#x", "t2#x"}


def _sources_of_r(order: tuple[str, ...], folder: Path) -> set[str]:
    with open_store(folder / "s.db") as store:
        ingested(store, in_order(order))
        found = [line.split(" ") for line in edges(store) if " CONTRIBUTES " in line and "r#x" in line]
    return {source.rpartition("/")[2] for source, *_ in found}

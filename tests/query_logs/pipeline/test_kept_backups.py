"""A table that is swapped daily, and whose last version is kept: no reader of its name is lost without a word."""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from lineage.traversal.cautions.former_holders import former_holders
from lineage.traversal.lookup import resolve_table
from tests.query_logs.pipeline.running import Ran, edges, in_order, ingested

BEGIN = ["CREATE TABLE src (a int)", "CREATE TABLE t AS SELECT a FROM src", "INSERT INTO r SELECT a FROM t"]
QUERIES = {"alike": ["a", "a", "a"], "edited": ["a + 1 AS a", "a + 2 AS a", "-a AS a"]}
_DAY = 86_400


def days(items: list[str]) -> list[list[Ran]]:
    texts = [BEGIN] + [
        [
            "INSERT INTO r SELECT a FROM t",
            "DROP TABLE IF EXISTS t_old",
            f"CREATE TABLE t_new AS SELECT {item} FROM src",
            "ALTER TABLE t RENAME TO t_old",
            "ALTER TABLE t_new RENAME TO t",
        ]
        for item in items
    ]
    return [
        [Ran(text, f"s{day}", _DAY * day + 60 * at) for at, text in enumerate(one)] for day, one in enumerate(texts)
    ]


CUTS = [(), (1,), (2,), (1, 2, 3)]
"""After which days a log ends."""
CASES = [(texts, cut) for texts in QUERIES for cut in CUTS]


def flows(store: GraphStore) -> set[tuple[str, str]]:
    lines = (edge.split(" ") for edge in edges(store) if " CONTRIBUTES " in edge)
    return {(line[0].rpartition("/")[2], line[2].rpartition("/")[2]) for line in lines}


def as_known(store: GraphStore, name: str) -> set[str]:
    """Return the name, and those of the tables that an answer about it names because they had it before."""
    return {name, *(one.name for one in former_holders(store, [resolve_table(store, name)]))}


@pytest.mark.parametrize(("texts", "cut"), CASES)
def test_a_backup_that_is_kept(texts: str, cut: tuple[int, ...], tmp_path: Path) -> None:
    of_days = days(QUERIES[texts])
    bounds = (0, *cut, len(of_days))
    logs = [[*chain.from_iterable(of_days[one:two])] for one, two in pairwise(bounds)]
    for number, order in enumerate((logs, logs[::-1])):
        with open_store(tmp_path / f"{number}.db") as store:
            for log in (*order, order[-1]):
                ingested(store, log)
            found = flows(store)
            assert {("src#a", "t#a"), ("src#a", "t_old#a")} <= found
            assert any((f"{name}#a", "r#a") in found for name in as_known(store, "t"))


def test_two_tables_change_their_names_by_three_renames_and_one_is_dropped(tmp_path: Path) -> None:
    """The other keeps its columns: those of the dropped table, renamed last, are not the newest of its former name."""
    texts = (
        "CREATE TABLE t AS SELECT b AS n FROM base",
        "CREATE TABLE v AS SELECT f FROM u",
        "ALTER TABLE t RENAME TO aside",
        "ALTER TABLE v RENAME TO t",
        "ALTER TABLE aside RENAME TO v",
        "DROP TABLE v",
    )
    with open_store(tmp_path / "s.db") as store:
        ingested(store, in_order(texts))
        contributes = {line.split(" [")[0] for line in edges(store) if " CONTRIBUTES " in line}
        assert contributes == {"postgres/u#f CONTRIBUTES postgres/t#f"}

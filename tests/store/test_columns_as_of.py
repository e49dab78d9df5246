"""A table as of a time has the columns of that time: none added later, and all dropped since."""

from __future__ import annotations

from pathlib import Path

from lineage.store import GraphStore, open_store
from lineage.traversal import TraversalOptions, impact, resolve, root_cause, shortest_paths
from tests.query_logs.pipeline.running import AT, Ran, ingested
from tests.store.batch_builders import batch, day, drop_column, table, view


def reached(store: GraphStore, name: str, at: int | None) -> set[str]:
    options = TraversalOptions(as_of=None if at is None else day(at))
    return {one.key.rpartition("/")[2] for one in impact(store, resolve(store, name), options).outlines}


def test_what_decides_the_rows_of_a_table_reaches_the_columns_of_the_time(store: GraphStore) -> None:
    store.apply(batch(table("t", "a", "old", at=1), view("t", "o.x ~> t", "o.x -> t.a", "o.y -> t.old", at=1)))
    store.apply(batch(view("v", "t.a -> v.n", at=2), drop_column("t", "old", at=3)))
    store.apply(batch(table("t", "a", "b", at=5)))
    assert reached(store, "o.x", None) == {"t#a", "t#b", "v#n"}
    assert reached(store, "o.x", 4) == {"t#a", "v#n"}
    assert reached(store, "o.x", 2) == {"t#a", "t#old", "v#n"}
    for at, columns in ((None, {"a", "b"}), (4, {"a"}), (2, {"a", "old"})):
        then = None if at is None else day(at)
        there = {one.path for one in store.columns([resolve(store, "t").key], dropped=True) if one.is_there(then)}
        assert there == columns
        options = TraversalOptions(as_of=then)
        causes = {one.key.rpartition("/")[2] for one in root_cause(store, resolve(store, "t"), options).outlines}
        assert causes == ({"o#x", "o#y"} if at == 2 else {"o#x"})
        assert len(shortest_paths(store, resolve(store, "t"), resolve(store, "v.n"), options=options)) == 1


def test_a_column_that_a_daily_statement_makes_is_there_since_its_first_run(tmp_path: Path) -> None:
    def made(columns: str, at: int) -> Ran:
        return Ran(f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM o", second=at)

    ran = [made("1 AS a", 0), made("1 AS a", 100), made("1 AS a, 2 AS b", 200), made("1 AS a, 2 AS b", 300)]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, ran, "duckdb")
        since = {one.path: (one.first_seen or AT) - AT for one in store.columns(["duckdb/t"])}
        assert {path: time.total_seconds() for path, time in since.items()} == {"a": 0, "b": 200}

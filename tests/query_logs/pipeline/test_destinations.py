"""Results that go to a table which only the log names: BigQuery's destinations."""

from __future__ import annotations

from pathlib import Path

from lineage.store import open_store
from tests.query_logs.pipeline.running import Ran, ingested
from tests.query_logs.pipeline.test_search_path import stated


def written(text: str, second: float, destination: str, appends: bool | None) -> Ran:
    return Ran(text, None, second, fields={"destination": destination, "appends": appends})


def test_a_query_replaces_what_a_table_holds_unless_its_other_rows_stay(tmp_path: Path) -> None:
    log = [
        written("SELECT a AS x FROM d.one", 0, "p.d.parted", True),
        written("SELECT b AS x FROM d.two", 1, "p.d.parted", True),
        written("SELECT a AS x FROM d.one", 2, "p.d.whole", None),
        written("SELECT b AS x FROM d.two", 3, "p.d.whole", None),
    ]
    expected = {"d.one#a p.d.parted#x", "d.two#b p.d.parted#x", "d.two#b p.d.whole#x"}
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, log, "bigquery", size=2)
            assert stated(store) == expected


def test_a_query_that_runs_once_a_partition_is_one_job(tmp_path: Path) -> None:
    log = [written(f"SELECT a AS x FROM d.one WHERE day = '2026-03-0{n}'", n, "p.d.parted", True) for n in range(1, 9)]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, log, "bigquery")
        assert len(store.jobs()) == 1


def test_one_text_adds_to_two_tables_and_is_read_by_itself(tmp_path: Path) -> None:
    text = "SELECT a AS x FROM d.one"
    log = [written(text, 0, "p.d.t1", True), written(text, 1, "p.d.t2", True), Ran(text, None, 2)]
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, log, "bigquery")
            assert stated(store) == {"d.one#a p.d.t1#x", "d.one#a p.d.t2#x"}

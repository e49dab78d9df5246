"""A view of an earlier log, whose tables a later log renames or swaps: it looks its names up when it is read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from lineage.traversal import TraversalOptions, root_cause
from lineage.traversal.lookup import resolve_column
from tests.query_logs.pipeline.running import AT, Ran, edges, ingested

BEFORE = ("CREATE TABLE g AS SELECT n AS o, m FROM old", "CREATE TABLE t AS SELECT m, n AS o FROM new")
MOVES = ("ALTER TABLE g RENAME TO aside", "ALTER TABLE t RENAME TO g")
BACK = ("ALTER TABLE g RENAME TO t", "ALTER TABLE aside RENAME TO g")
PLAIN = "CREATE VIEW v AS SELECT o FROM g"


def ingest(store: GraphStore, *logs: tuple[str, ...], dialect: str = "duckdb") -> None:
    for number, texts in enumerate(logs):
        ingested(store, [Ran(text, "s", 1_000 * number + second) for second, text in enumerate(texts)], dialect)


def into_view(store: GraphStore, view: str = "v") -> set[str]:
    lines = (edge.split(" ") for edge in edges(store))
    ends = ((line[0].rpartition("/")[2].lower(), line[2].rpartition("/")[2].lower()) for line in lines)
    return {f"{source} {target}" for source, target in ends if target.partition("#")[0] == view}


@pytest.mark.parametrize("dialect", ["duckdb", "mysql", "snowflake", "tsql", "spark"])
def test_it_reads_the_table_that_has_the_name_now(dialect: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, PLAIN), MOVES, dialect=dialect)
        assert into_view(store) == {"g#o v#o", "g v"}
        assert any(line.lower().split(" ")[0].endswith("/new#n") for line in edges(store) if "g#o" in line.lower())


@pytest.mark.parametrize(
    ("dialect", "item"),
    [
        *((dialect, "o FROM g") for dialect in ("duckdb", "mysql", "snowflake", "tsql", "spark", "postgres")),
        *((dialect, "z.x AS o FROM g AS z(x, y)") for dialect in ("duckdb", "postgres")),
    ],
)
def test_the_log_of_the_renames_comes_first(dialect: str, item: str, tmp_path: Path) -> None:
    logs = [(*BEFORE, f"CREATE VIEW v AS SELECT {item}"), MOVES]
    dated = [[Ran(text, f"{n}", 1_000 * n + s) for s, text in enumerate(texts)] for n, texts in enumerate(logs)]
    found = []
    for number, order in enumerate((dated, dated[::-1], [*dated[::-1], dated[1], dated[0]])):
        with open_store(tmp_path / f"{number}.db") as store:
            for log in order:
                ingested(store, log, dialect)
            found.append(into_view(store))
    assert found[1:] == found[:1] * 2


def test_postgres_follows_the_table(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, PLAIN), MOVES, dialect="postgres")
        assert into_view(store) == {"aside#o v#o", "aside v"}


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("CREATE VIEW v AS SELECT z.x AS o FROM g AS z(x, y)", {"g#m v#o", "g v"}),  # by position
        ("CREATE VIEW v AS SELECT z.o FROM g AS z", {"g#o v#o", "g v"}),
        ("CREATE VIEW v AS SELECT g.o FROM g JOIN k AS z(x) ON z.x = g.m", {"g#o v#o", "g#m v", "g v", "k#* v", "k v"}),
    ],
)
def test_by_name_or_by_position(view: str, expected: set[str], tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, "CREATE TABLE k AS SELECT 1 AS q", view), MOVES)
        found = into_view(store)
        assert {line for line in found if not line.startswith("k")} == {e for e in expected if not e.startswith("k")}


def test_a_view_that_does_not_fit_keeps_what_it_was_defined_over(tmp_path: Path) -> None:
    texts = ("CREATE TABLE g AS SELECT n AS o FROM old", "CREATE TABLE t AS SELECT m FROM new", PLAIN)
    with open_store(tmp_path / "s.db") as store:
        ingest(store, texts, MOVES)
        assert into_view(store) == {"aside#o v#o", "aside v"}


def test_a_name_that_no_table_has_now(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, PLAIN), MOVES[:1])
        assert into_view(store) == {"aside#o v#o", "aside v"}


@pytest.mark.parametrize("cut", [6, 7])
def test_a_name_that_was_swapped_away_and_dropped(cut: int, tmp_path: Path) -> None:
    swap = (*MOVES, "ALTER TABLE aside RENAME TO t", "DROP TABLE g")
    texts = ("CREATE TABLE g AS SELECT n AS o FROM old", "CREATE TABLE t AS SELECT m FROM new", PLAIN, *swap)
    with open_store(tmp_path / "s.db") as store:
        ingest(store, texts[:cut], texts[cut:])
        assert into_view(store) == set()
        assert [one.reads for one in store.jobs() if one.key.endswith("/v")] in ([()], [("duckdb/g",)])


def test_a_view_that_is_defined_or_dropped_later_in_the_log(tmp_path: Path) -> None:
    again = "CREATE OR REPLACE VIEW v AS SELECT m AS o FROM g"
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, PLAIN), (*MOVES, again))
        assert into_view(store) == {"g#m v#o", "g v"}
    with open_store(tmp_path / "t.db") as store:
        ingest(store, (*BEFORE, PLAIN), (*MOVES, "DROP VIEW v"))
        assert into_view(store) == set()


def test_a_view_that_was_dropped_before_read_the_table_of_its_time(tmp_path: Path) -> None:
    texts = (
        "CREATE TABLE g (o INT)",
        PLAIN,
        "DROP VIEW v",
        BEFORE[1].replace("AS o", "AS p"),
        "DROP TABLE g",
        MOVES[1],
    )
    with open_store(tmp_path / "s.db") as store:
        ingest(store, texts)
        assert store.diagnostics() == []
        assert into_view(store) == set()
    with open_store(tmp_path / "t.db") as store:
        ingest(store, tuple(text for text in texts if not text.startswith("DROP VIEW")))
        assert [one.diagnostic.message for one in store.diagnostics()] == ["no column `o` in g"]


def test_there_and_back_and_the_same_log_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, PLAIN), MOVES)
        before = edges(store)
        ingest(store, (*BEFORE, PLAIN), MOVES)
        assert edges(store) == before
        ingest(store, (), (), BACK)
        assert into_view(store) == {"g#o v#o", "g v"}
        assert any(line.startswith("duckdb/old#n CONTRIBUTES duckdb/g#o") for line in edges(store))


def test_as_of_an_earlier_time_it_reads_what_it_read_then(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        ingest(store, (*BEFORE, PLAIN), MOVES)
        ends = []
        for seconds in (500, 2_000):
            options = TraversalOptions(as_of=AT + timedelta(seconds=seconds))
            answer = root_cause(store, resolve_column(store, "v.o"), options)
            ends.append({one.key.rpartition("/")[2] for one in answer.outlines} & {"old#n", "new#n"})
        assert ends == [{"old#n"}, {"new#n"}]

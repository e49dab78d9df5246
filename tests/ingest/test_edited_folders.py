"""SQL files ingested again after edits: what is stored is the same, whether earlier resolutions are used or not."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lineage.store import GraphStore, open_store
from lineage_ingest import IngestSummary, SqlOptions, ingest_sql
from tests.cli.running import lineage
from tests.ingest.edited_folders import content_but_for_times, run_history
from tests.sql.random_folders import Folder, edited, random_folder

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def _write(folder: Folder, root: Path) -> None:
    for old in root.rglob("*.sql"):
        old.unlink()
    for name, text in folder.texts.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def _graph(store: GraphStore) -> tuple[list[str], ...]:
    """Return everything that is stored of lineage, with all times, and the runs without what they took."""
    jobs, datasets = store.jobs(), store.datasets()
    return (
        sorted(map(repr, jobs)),
        sorted(map(repr, datasets)),
        sorted(map(repr, store.columns([one.key for one in datasets], dropped=True))),
        sorted(map(repr, store.edges_of([one.key for one in jobs]))),
        sorted(repr((one.key, one.source, one.counts, one.complete_sources)) for one in store.runs(100)),
        sorted(map(repr, store.dump().relationships)),
    )


@pytest.mark.parametrize("seed", range(5))
def test_random_edits(seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"ingest {seed}")
    root = tmp_path / "models"
    root.mkdir()
    folder = random_folder(rng)
    files = resolved = 0
    with open_store(tmp_path / "one.db") as one, open_store(tmp_path / "other.db") as other:
        for day in range(8):
            _write(folder, root)
            found: list[IngestSummary] = []
            for store, cache in ((one, True), (other, False)):
                options = SqlOptions(
                    dialect=folder.dialect,
                    catalog=folder.catalog(),
                    default_schema=folder.settings["default_schema"],
                    observed_at=_BEGIN + timedelta(days=day),
                    project="p",
                    project_root=root,
                    retire_most=True,
                    cache=cache,
                )
                found.append(ingest_sql(root, store=store, options=options))
            assert _graph(one) == _graph(other), folder
            assert found[0].batch.diagnostics == found[1].batch.diagnostics
            files += len(folder.files)
            resolved += len(folder.files) if found[0].resolved is None else found[0].resolved
            folder = edited(folder, rng)
    assert resolved < files


def test_random_histories(tmp_path: Path) -> None:
    """`python -m tests.ingest.edited_folders` runs many, and longer ones."""
    spared: Counter[str] = Counter()
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        outcome = run_history(f"test {number}", 6, tmp_path / str(number))
        assert not outcome.differs
        spared.update(outcome.spared)
    assert max(spared["files resolved"], spared["files stored"]) < spared["files"]


def test_random_histories_of_projects_that_take_turns(tmp_path: Path) -> None:
    outcome = run_history("t/1", 8, tmp_path, stay_open=True, turns=True)
    assert not outcome.differs


@pytest.mark.parametrize(
    ("seed", "steps"),
    [
        pytest.param("i/167", 3, id="a statement names a column that a schema dropped"),
        pytest.param("again4/8", 5, id="a star opens over a table with a column that its schema lacks"),
    ],
)
def test_the_same_ingested_again_changes_times_only(seed: str, steps: int, tmp_path: Path) -> None:
    outcome = run_history(seed, steps, tmp_path, stay_open=True, again=True)
    assert not outcome.differs
    assert outcome.steps["again"] >= 4


def test_a_star_in_a_circle_states_no_schema_beside_that_of_another_file(tmp_path: Path) -> None:
    """`b` and one of the definitions of `g` read each other, so the star of `g` opens when `b` is stored."""
    texts = {
        "b.sql": "CREATE VIEW b AS SELECT z, u FROM g p JOIN d q ON p.z = q.z",
        "g.sql": "CREATE VIEW g AS SELECT p.*, u + 1 AS u FROM b p, d",
        "g2.sql": "CREATE VIEW g AS SELECT w, v FROM s1.g",
    }
    root = tmp_path / "models"
    root.mkdir()
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    contents = []
    with open_store(tmp_path / "graph.db") as store:
        for day in range(3):
            at = _BEGIN + timedelta(days=day)
            ingest_sql(root, store=store, options=SqlOptions(dialect="postgres", observed_at=at))
            contents.append(content_but_for_times(store))
        columns = {one.path: one.ordinal for one in store.columns(["postgres/g"])}
    assert contents[0] == contents[1] == contents[2]
    assert columns.keys() == {"u", "v", "w", "z"}


def test_what_is_unchanged_is_only_seen_again_if_that_is_the_same(tmp_path: Path) -> None:
    root, other, store = tmp_path / "models", tmp_path / "other", tmp_path / "graph.db"
    texts = {"a": "CREATE VIEW a AS SELECT x FROM t", "b": "CREATE VIEW b AS SELECT x FROM a", "c": "SELECT y FROM u"}
    for folder, name, text in (
        *((root, *one) for one in texts.items()),
        (other, "o", "CREATE VIEW o AS SELECT 1 AS x"),
    ):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.sql").write_text(text, encoding="utf-8")
    day = 0

    def stored(folder: Path = root, *, later: float = 1, given: GraphStore | Path = store, **named: bool) -> int | None:
        nonlocal day
        day += 1
        at = _BEGIN + timedelta(days=day + later)
        known: dict[str, Any] = {"project": folder.name, "project_root": folder, "cache": True, **named}
        return ingest_sql(
            folder, store=given, options=SqlOptions(dialect="postgres", observed_at=at, retire_most=True, **known)
        ).stored

    assert [stored(), stored(), stored()] == [None, 0, 0]
    (root / "a.sql").write_text("CREATE VIEW a AS SELECT x || 'x' AS x FROM t", encoding="utf-8")
    assert [stored(), stored()] == [1, 0]
    (root / "a.sql").write_text("-- a comment\nCREATE VIEW a AS SELECT x || 'x' AS x FROM t", encoding="utf-8")
    assert [stored(), stored()] == [1, 0]  # its statement is on another line
    assert [stored(other), stored(), stored(other), stored()] == [None, 0, 0, 0]  # they take turns
    (other / "o.sql").write_text("CREATE VIEW o AS SELECT x FROM a", encoding="utf-8")
    # What concerns the table that both name is stored: all that the other project has, two files of three of the first.
    assert [stored(other), stored(), stored(other), stored()] == [None, 2, None, 2]
    (other / "o.sql").write_text("CREATE VIEW o AS SELECT 1 AS x", encoding="utf-8")
    assert [stored(other), stored(other), stored()] == [None, 0, 0]
    assert [stored(full=True), stored(), stored(cache=False), stored(), stored()] == [None, 0, None, None, 0]
    assert [stored(later=-3), stored(), stored()] == [None, None, 0]
    (root / "d.sql").write_text("DROP TABLE x", encoding="utf-8")
    assert [stored(), stored()] == [None, None]
    (root / "d.sql").unlink()
    assert [stored(), stored()] == [None, 0]
    (root / "c.sql").unlink()
    assert [stored(), stored()] == [0, 0]
    (root / "c.sql").write_text(texts["c"], encoding="utf-8")
    assert [stored(), stored(), stored()] == [1, None, 0]  # the store knows that it was gone
    with open_store(store) as opened:
        assert [stored(given=opened), stored(given=opened)] == [None, None]
    assert [stored(), stored()] == [None, 0]


def test_the_command_says_how_many_files_it_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for name, text in {"a": "CREATE VIEW a AS SELECT x FROM t", "b": "CREATE VIEW b AS SELECT * FROM a"}.items():
        (tmp_path / "models" / f"{name}.sql").write_text(text, encoding="utf-8")
    ingest = ("ingest", "sql", "models", "-d", "postgres", "--store", "graph.db")
    assert "files resolved" not in lineage(*ingest).out
    assert "0 of 2 files resolved; the others are as in an earlier run" in lineage(*ingest).out
    assert "files resolved" not in lineage(*ingest, "--no-cache").out
    extract = ("extract", "-d", "postgres", "--format", "json", "models/a.sql", "models/b.sql")
    first = lineage(*extract)
    assert "0 of 2 files resolved" in first.err  # as the ingest left them
    (tmp_path / "models" / "b.sql").write_text("CREATE VIEW b AS SELECT x, x AS y FROM a", encoding="utf-8")
    again, without = lineage(*extract), lineage(*extract, "--no-cache")
    assert "1 of 2 files resolved" in again.err
    assert "files resolved" not in without.err
    assert again.out == without.out != first.out

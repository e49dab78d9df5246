"""After a clock was set back, what is ingested is current all the same, with a notice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from lineage.model.influence.transformations import EdgeKind
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage_ingest.api import ingest_sql, ingest_sqlite
from lineage_ingest.live_database.database_files import sqlite_file
from lineage_ingest.options import SqlOptions

BEFORE, AFTER = "create view v as select a from t", "create view v as select b from u"
Ingest = Callable[[str, Path, GraphStore], tuple[str, ...]]


def _sql(text: str, folder: Path, store: GraphStore, at: datetime | None = None) -> tuple[str, ...]:
    (folder / "v.sql").write_text(text)
    options = SqlOptions(dialect="sqlite", project="p", project_root=folder, observed_at=at)
    return ingest_sql([folder], options=options, store=store).notices


def _sqlite(text: str, folder: Path, store: GraphStore) -> tuple[str, ...]:
    file = folder / "shop.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(f"drop table if exists t; drop view if exists v; create table t (a, b); {text}")
    return ingest_sqlite(file, store=store).notices


def _ahead(
    text: str, folder: Path, store: GraphStore, by: timedelta, patch: pytest.MonkeyPatch, ingest: Ingest
) -> None:
    """Ingest with a clock that is ahead."""
    if ingest is _sql:
        _sql(text, folder, store, datetime.now(UTC) + by)
        return

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + by

    with patch.context() as patched:
        patched.setattr(sqlite_file, "datetime", Ahead)
        ingest(text, folder, store)


def _sources(store: GraphStore) -> list[str]:
    [view] = [one.key for one in store.datasets() if one.name.rpartition(".")[2] == "v"]
    edges = store.edges_into([view])
    return [edge.source.rpartition("#")[2] for edge in edges if edge.kind is EdgeKind.CONTRIBUTES]


@pytest.mark.parametrize("ingest", [_sql, _sqlite])
@pytest.mark.parametrize(("by", "is_said"), [(timedelta(days=1), True), (timedelta(seconds=30), False)])
def test_what_is_ingested_after_a_clock_was_set_back_is_current(
    ingest: Ingest, by: timedelta, is_said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "graph.db") as store:
        _ahead(BEFORE, tmp_path, store, by, monkeypatch, ingest)
        assert _sources(store) == ["a"]
        for again in ("b", "a", "b"):  # and so is what follows
            notices = ingest(f"create view v as select {again} from t", tmp_path, store)
            assert any("Is the clock right?" in one for one in notices) is is_said
            assert _sources(store) == [again]


def test_an_earlier_time_that_is_given_is_history_and_it_is_said(tmp_path: Path) -> None:
    with open_store(tmp_path / "graph.db") as store:
        assert _sql(BEFORE, tmp_path, store) == ()
        [said] = _sql(AFTER, tmp_path, store, datetime(2020, 1, 1, tzinfo=UTC))
        assert "stays current; this ingest is history" in said
        assert _sources(store) == ["a"]


def test_another_project_whose_time_is_ahead_concerns_nobody(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "v.sql").write_text(f"create view {name} as select a from t")
    with open_store(tmp_path / "graph.db") as store:
        far = SqlOptions(dialect="sqlite", project="one", observed_at=datetime(2200, 1, 1, tzinfo=UTC))
        ingest_sql([tmp_path / "one"], options=far, store=store)
        summary = ingest_sql([tmp_path / "two"], options=SqlOptions(dialect="sqlite", project="two"), store=store)
        assert summary.batch.run.at.year < 2200
        assert not any("clock" in one for one in summary.notices)

"""The number of the session that wrote last: another writer is noticed, reading is not writing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lineage.model.batch import LineageBatch, RunRecord
from lineage.store import GraphStore, open_store

EMPTY = LineageBatch(run=RunRecord("sql:1", "sql", "shop", datetime(2026, 1, 1, tzinfo=UTC)))


def test_a_session_that_writes_gets_a_number(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as store:
        before = store.last_session
        store.apply(EMPTY)
        first = store.last_session
        store.apply(EMPTY)
        assert first is not None
        assert (store.last_session, first != before) == (first, True)
    with open_store(path) as store:
        assert store.last_session == first
        store.datasets()
    with open_store(path, read_only=True) as store:
        assert store.last_session == first
    with open_store(path) as store:
        store.apply(EMPTY)
        assert store.last_session not in (None, first)


def test_a_store_with_several_writers_has_no_number(store: GraphStore) -> None:
    store.apply(EMPTY)
    assert (store.last_session is None) == (not store.is_file)

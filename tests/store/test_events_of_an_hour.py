"""The cost of a batch of events does not grow with the number of jobs in the same hour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.store.sqlite.transaction import SqliteTransaction
from lineage_ingest.openlineage import EventIngest
from tests.events.event_builders import event


def events(first: int, count: int) -> list[Any]:
    """Return the events of a run of each of these jobs, all within an hour."""
    return [
        event({"run": job, "at": 3 + job / 100_000, "job": f"etl/{job}", "outputs": {f"pg.t{job}": {"schema": ["a"]}}})
        for job in range(first, first + count)
    ]


def test_rows_read_for_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 0
    read = SqliteTransaction.read

    def counting(self: SqliteTransaction, *arguments: Any) -> list[dict[str, Any]]:
        nonlocal rows
        found: list[dict[str, Any]] = read(self, *arguments)
        rows += len(found)
        return found

    monkeypatch.setattr(SqliteTransaction, "read", counting)
    taken = []
    with open_store(tmp_path / "store.db") as store:
        ingest = EventIngest(store)
        for first, count in ((1, 5), (6, 200), (206, 5), (1, 5)):
            rows = 0
            ingest.take(events(first, count))
            taken.append(rows)
        assert len(store.runs()) == 1
        assert {job.observations for job in store.jobs()} == {1}
    assert taken[2] <= taken[0] + 5
    assert taken[3] < 100

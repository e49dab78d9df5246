"""A stream that fails at each point in turn and is begun again ends as one that never failed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from lineage.store import GraphStore, open_store
from lineage_ingest.query_log.sources import source_named
from lineage_ingest.query_log.streaming import micro_batches as module
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint
from lineage_ingest.query_log.streaming.micro_batches import BatchDone
from lineage_ingest.query_log.streaming.stream_errors import StreamFailedError
from lineage_ingest.query_log.streaming.stream_input import StreamInput
from tests.query_logs.broken_files import break_files
from tests.query_logs.streaming.following import SOURCE, followed
from tests.query_logs.streaming.running import PIECES, files_of_batches, graph, land, land_together

pytestmark = [pytest.mark.xdist_group("kafka"), pytest.mark.usefixtures("spark")]


class Interrupted(Exception):  # noqa: N818  not an error of the product's
    """Where the process would have ended."""


class Points:
    """The points at which a stream can end, in order; it ends at the one whose turn it is."""

    def __init__(self, turn: int) -> None:
        self.left = turn

    def passed(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Interrupted

    def store(self, store: GraphStore) -> GraphStore:
        """Return a store with a point before and after each batch that is applied."""
        apply = store.apply

        def applied(batch: Any) -> Any:
            self.passed()
            changes = apply(batch)
            self.passed()
            return changes

        store.apply = applied  # type: ignore[method-assign]
        return store

    def written(self, write: Callable[..., None]) -> Callable[..., None]:
        """Return a writing of what is stated with a point before and after."""

        def wrote(*arguments: Any) -> None:
            self.passed()
            write(*arguments)
            self.passed()

        return wrote


def test_a_file_that_cannot_be_read_is_a_failed_file_and_ends_nothing(tmp_path: Path) -> None:
    broken = break_files(tmp_path / "files")
    source = source_named("generic", dialect="postgres")
    batches: list[BatchDone] = []
    followed(StreamInput(source, (str(tmp_path / "files"),), at_once=4), tmp_path / "graph.db", done=batches.append)
    named = [d.diagnostic.message.partition(": ")[0] for batch in batches for d in batch.errors]
    assert sorted(Path(name).name for name in named) == sorted(broken)
    assert sum(batch.run.counts["failed_files"] for batch in batches) == len(broken)
    with open_store(tmp_path / "graph.db") as store:
        assert "postgres/good" in {dataset.key for dataset in store.datasets()}


def test_it_fails_at_each_point_once(files: Path, whole: list[str], tmp_path: Path) -> None:
    given = StreamInput(SOURCE, (str(files),), at_once=1)
    path, failures, again = tmp_path / "graph.db", 0, []
    original = Checkpoint.write_stated
    for turn in range(1, 100):
        # Each process comes a point further: no micro-batch is without each of its ends.
        points = Points(turn if turn <= _MAX_POINTS else 0)

        def done(batch: BatchDone, points: Points = points) -> None:
            points.passed()
            again.append(batch.again)

        with mock.patch.object(Checkpoint, "write_stated", lambda self, *a, p=points: p.written(original)(self, *a)):
            try:
                followed(given, path, opened=points.store, done=done)
            except Interrupted:
                failures += 1
                continue
        break
    assert failures >= _MAX_POINTS / 2
    assert graph(path) == whole
    assert any(again)


_MAX_POINTS = 6


def test_on_sparks_engine_it_is_the_same(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = StreamInput(SOURCE, (str(files),), at_once=2)
    followed(given, tmp_path / "here.db")
    monkeypatch.setattr(module, "SMALL", 0)
    followed(given, tmp_path / "spark.db")
    assert graph(tmp_path / "spark.db") == graph(tmp_path / "here.db")


def test_files_of_another_file_system_are_read_through_spark(files: Path, whole: list[str], tmp_path: Path) -> None:
    followed(StreamInput(SOURCE, (f"file://{files}",), at_once=1), tmp_path / "graph.db")
    assert graph(tmp_path / "graph.db") == whole


def test_what_is_read_is_not_read_again(files: Path, tmp_path: Path) -> None:
    new_batches: list[BatchDone] = []
    given = StreamInput(SOURCE, (str(files),))
    followed(given, tmp_path / "graph.db", done=new_batches.append)
    followed(given, tmp_path / "graph.db", done=new_batches.append)
    [one] = new_batches
    assert (one.number, one.again, one.run.counts["rows"]) == (0, False, sum(map(len, PIECES)))


def test_a_file_without_rows_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "empty.jsonl").touch()
    new_batches: list[BatchDone] = []
    followed(StreamInput(SOURCE, (str(tmp_path / "files"),)), tmp_path / "graph.db", done=new_batches.append)
    assert new_batches == []
    with open_store(tmp_path / "graph.db") as store:
        assert store.runs() == []


def test_names_that_look_like_others(tmp_path: Path) -> None:
    (land(tmp_path / "fil es", [0]) / "0.jsonl").rename(tmp_path / "fil es" / "a %20 ü+.jsonl")
    new_batches: list[BatchDone] = []
    for number, path in enumerate((str(tmp_path / "fil es"), f"file://{tmp_path}/fil es")):
        followed(StreamInput(SOURCE, (path,)), tmp_path / f"{number}.db", done=new_batches.append)
    assert [(one.run.counts["rows"], one.failures) for one in new_batches] == [(len(PIECES[0]), ())] * 2


def test_a_file_of_something_else_is_a_failed_file(tmp_path: Path) -> None:
    files = land(tmp_path / "files", [0])
    (files / "notes.txt").write_text("not a log")
    (files / "other.csv").write_text("city,country\nBergen,Norway\n")
    new_batches: list[BatchDone] = []
    followed(StreamInput(SOURCE, (str(files),)), tmp_path / "graph.db", done=new_batches.append)
    [one] = new_batches
    assert one.run.counts["rows"] == len(PIECES[0])
    assert one.run.counts["failed_files"] == 2
    assert {
        name for error in one.errors for name in ("notes.txt", "other.csv") if name in error.diagnostic.message
    } == {
        "notes.txt",
        "other.csv",
    }


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    files = land(tmp_path / "files")
    given = StreamInput(SOURCE, (str(files),))

    def gone(store: GraphStore) -> GraphStore:
        (files / "0.jsonl").unlink()
        return store

    with pytest.raises(StreamFailedError, match=r"0\.jsonl") as failed:
        followed(given, tmp_path / "graph.db", opened=gone)
    assert "create an empty file of that name" in str(failed.value.hint)
    (files / "0.jsonl").touch()
    followed(given, tmp_path / "graph.db")


@pytest.mark.parametrize("noted", [False, True], ids=["", "the next file was noted"])
def test_it_can_be_ended_between_micro_batches(files: Path, tmp_path: Path, noted: bool) -> None:
    stopping, new_batches = threading.Event(), []

    def done(batch: BatchDone) -> None:
        new_batches.append(batch.run.counts["rows"])
        stopping.set()

    given, checkpoint = StreamInput(SOURCE, (str(files),), at_once=1), tmp_path / "graph.stream"
    followed(given, tmp_path / "graph.db", done=done, stopping=stopping)
    assert new_batches == [len(PIECES[0])]
    if noted:
        entry = {"path": f"file://{files}/1.jsonl", "timestamp": 1_000_001_000, "batchId": 1}
        (checkpoint / "spark" / "sources" / "0" / "1").write_text(f"v1\n{json.dumps(entry)}")
        (checkpoint / "spark" / "sources" / "0" / ".1.crc").unlink(missing_ok=True)
    followed(given, tmp_path / "graph.db", done=done)
    assert sum(new_batches) == sum(map(len, PIECES))
    batches = files_of_batches(checkpoint)
    assert [name for names in batches for name in names] == [f"{piece}.jsonl" for piece in range(len(PIECES))]
    together = land_together(tmp_path / "together", batches)
    followed(StreamInput(SOURCE, (str(together),), at_once=1), tmp_path / "together.db")
    assert graph(tmp_path / "graph.db") == graph(tmp_path / "together.db")

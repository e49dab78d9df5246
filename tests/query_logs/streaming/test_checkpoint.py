"""The folder that a stream goes on from."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lineage import __version__
from lineage.model.batch import DiagnosticRecord, LineageBatch, RunRecord, UsageRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage_ingest.query_log.streaming import checkpoint as module
from lineage_ingest.query_log.streaming.checkpoint import Checkpoint, CheckpointError, default_checkpoint
from lineage_ingest.query_log.streaming.micro_batches import _Header

STREAM = ("graph.db", "trino", ["/logs"])
AT = datetime(2026, 3, 1, tzinfo=UTC)
STATED = [LineageBatch(RunRecord(f"log:x/{number}", "log", "trino log", AT)) for number in range(3)]


def sessions(name: str) -> Any:
    return pa.table({"session": [name]})


def begun(folder: Path) -> str:
    """Open a checkpoint and have Spark begin in it; return the stream's name."""
    with Checkpoint.open(folder, *STREAM) as held:
        held.spark.mkdir(exist_ok=True)
        (held.spark / "metadata").touch()
        return held.stream


def test_a_stream_keeps_its_name(tmp_path: Path) -> None:
    assert begun(tmp_path) == begun(tmp_path)
    assert begun(tmp_path / "other") != begun(tmp_path)
    assert (tmp_path / "other").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("else.db", "trino", ["/logs"]), "a stream with the store graph.db, and this one has else.db"),
        (("graph.db", "hive", ["/logs"]), "a stream with the source trino, and this one has hive"),
        (("graph.db", "trino", ["/a", "/b"]), "a stream with the inputs /logs, and this one has /a, /b"),
    ],
)
def test_another_streams_is_refused(tmp_path: Path, other: tuple[str, str, list[str]], said: str) -> None:
    begun(tmp_path)
    with pytest.raises(CheckpointError, match=said), Checkpoint.open(tmp_path, *other):
        pass


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        Checkpoint.open(tmp_path, *STREAM),
        pytest.raises(CheckpointError, match="another process"),
        Checkpoint.open(tmp_path, *STREAM),
    ):
        pass


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot be written"), Checkpoint.open(tmp_path / "file" / "x", *STREAM):
        pass


def test_what_a_micro_batch_states(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, *STREAM) as held:
        assert held.header(4) is None
        held.write_stated(4, {"rows": 3}, STATED)
        assert held.header(4) == {"rows": 3}
        assert list(held.stated(4)) == STATED
        assert (tmp_path / "4.stated").stat().st_mode & 0o077 == 0


class _Call:
    """A pickled call, which `pickle.load` would make."""

    def __init__(self, function: Any, *values: object) -> None:
        self._call = (function, values)

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_file_of_others_runs_nothing(tmp_path: Path, place: int) -> None:
    ran = tmp_path / "ran"
    values: list[object] = [__version__, {"rows": 3}, STATED[0]]
    values[place] = _Call(os.mkdir, str(ran))
    with Checkpoint.open(tmp_path, *STREAM) as held:
        (tmp_path / "4.stated").write_bytes(b"".join(map(pickle.dumps, values)))
        with pytest.raises(CheckpointError, match="not written by this program"):
            [held.header(4), *held.stated(4)]
    assert not ran.exists()


def test_a_header_and_its_batches_are_read_back(tmp_path: Path) -> None:
    span = Diagnostic(DiagnosticCode.PARSE_ERROR, Severity.ERROR, "no", Span(0, 1, 1, 1))
    record = DiagnosticRecord(span, "f.sql")
    header = _Header(STATED[0].run, (record,), (("no", 1),), AT, ("note",))
    usage = UsageRecord("pg/t", AT.date(), reads=1, users=(("ana", 1),), last_read=AT)
    whole = LineageBatch(STATED[0].run, diagnostics=(record,), usage=(usage,))
    with Checkpoint.open(tmp_path, *STREAM) as held:
        held.write_stated(4, header, [whole])
        assert held.header(4) == header
        assert list(held.stated(4)) == [whole]


def test_another_releases_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Checkpoint.open(tmp_path, *STREAM) as held:
        held.write_stated(4, "header", STATED)
        monkeypatch.setattr(module, "__version__", "another")
        assert held.header(4) is None


def test_what_breaks_off_is_not_there(tmp_path: Path) -> None:
    def breaks_off() -> Iterator[LineageBatch]:
        yield STATED[0]
        raise OSError

    with Checkpoint.open(tmp_path, *STREAM) as held:
        with pytest.raises(OSError):  # noqa: PT011  none of its own
            held.write_stated(4, "header", breaks_off())
        assert held.header(4) is None


def test_sessions_are_those_of_before_until_the_batch_is_settled(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, *STREAM) as held:
        assert held.sessions_before(0) is None
        for number, name in ((1, "one"), (3, "three"), (5, "five")):
            held.write_sessions(number, sessions(name))
            held.write_stated(number, number, ())
        found = held.sessions_before(5)
        assert found is not None
        assert found["session"].to_pylist() == ["three"]
        held.settle(5)
        assert sorted(path.name for path in tmp_path.glob("*.*") if path.suffix != ".json") == [
            "3.sessions",
            "5.sessions",
            "5.stated",
        ]
        held.settle(6)
        found = held.sessions_before(6)
        assert found is not None
        assert found["session"].to_pylist() == ["five"]


def test_without_sparks_part_it_begins_anew(tmp_path: Path) -> None:
    """Its micro-batches would be counted from 0 again, and must not be taken for those that were."""
    name = begun(tmp_path)
    with Checkpoint.open(tmp_path, *STREAM) as held:
        held.write_stated(0, "header", STATED)
        held.write_sessions(0, sessions("one"))
    (tmp_path / "spark" / "metadata").unlink()
    with Checkpoint.open(tmp_path, *STREAM) as held:
        assert held.stream != name
        assert held.header(0) is None
        assert held.sessions_before(1) is None


def test_the_default_place() -> None:
    beside = default_checkpoint("/data/graph.db", "trino", ["/logs"])
    assert beside.parent == Path("/data/graph.db.streams")
    assert default_checkpoint("/data/graph.db", "trino", ["/logs", "/more"]) != beside
    own = default_checkpoint("bolt://host:7687", "trino", ["/logs"])
    assert own.parent.name == "streams"
    assert own.is_absolute()

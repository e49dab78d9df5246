"""The command killed at random points and started again: nothing is lost and nothing doubled."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.kafka_fixture import KafkaBroker
from tests.query_logs.streaming.running import (
    PIECES,
    batches,
    files_of_batches,
    finished,
    following,
    graph,
    killed,
    land,
    land_together,
    lines,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a graph holds when all pieces were followed, file by file, and nothing happened."""
    folder = tmp_path_factory.mktemp("whole")
    code, printed = finished(land(folder / "files"), "--once", "--at-once", 1, "-s", folder / "graph.db")
    assert code in (0, 1), printed  # one statement does not parse: a process that was killed may have stored it
    assert f"{len(PIECES)} batches, {sum(map(len, PIECES))} rows" in printed
    return graph(folder / "graph.db")


def killed_until_it_ends(seed: int, points: Sequence[int], *arguments: object) -> int:
    """Kill the stream soon after so many micro-batches, one process a point, then let it end; return how many died."""
    pick = random.Random(seed)
    kills = sum(killed(after, pick.uniform(0, 2), *arguments) for after in points)
    code, printed = finished(*arguments)
    assert code in (0, 1), printed  # one statement does not parse: a process that was killed may have stored it
    return kills


def test_a_folder(tmp_path: Path) -> None:
    options = (land(tmp_path / "files"), "--once", "--at-once", 1, "-s", tmp_path / "graph.db")
    # After the beginning, then after the first micro-batch of the second process: within the next one, mostly.
    assert killed_until_it_ends(1, (0, 1), *options) > 0
    [checkpoint] = (tmp_path / "graph.db.streams").iterdir()
    together = land_together(tmp_path / "together", files_of_batches(checkpoint))
    _, printed = finished(together, "--once", "--at-once", 1, "-s", tmp_path / "together.db")
    assert f"{sum(map(len, PIECES))} rows" in printed
    assert graph(tmp_path / "graph.db") == graph(tmp_path / "together.db")


def test_kafka(tmp_path: Path, kafka: KafkaBroker) -> None:
    kafka.send("queries", [line for piece in range(len(PIECES)) for line in lines(piece)])
    jars = f"spark.jars={','.join(map(str, kafka.connector))}"
    source = ("--kafka", kafka.address, "--topic", "queries", "--spark-conf", jars)
    options = (*source, "--once", "--at-once", 4, "--fail-on", "statement")
    code, printed = finished(*options, "-s", tmp_path / "whole.db")
    assert code == 1, printed
    assert f"{sum(map(len, PIECES))} rows" in printed
    assert killed_until_it_ends(3, (1,), *options, "-s", tmp_path / "killed.db") > 0
    assert graph(tmp_path / "killed.db") == graph(tmp_path / "whole.db")


def test_files_that_land_while_it_runs_and_an_end_by_sigterm_to_all(whole: list[str], tmp_path: Path) -> None:
    files = land(tmp_path / "files", [0])
    options = (files, "--every", 0.5, "--fail-on", "statement", "-s", tmp_path / "lived.db")
    with following(*options) as process:
        done = batches(process)
        assert "following" in next(done)
        assert "3 rows" in next(done)
        for piece in range(1, len(PIECES)):
            land(files, [piece])
            assert f"{len(PIECES[piece])} rows" in next(done)
        os.killpg(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err  # one statement does not parse
    assert "stopping after the current batch" in err
    assert "Traceback" not in err
    assert "Exception" not in err
    assert f"{len(PIECES)} batches, {sum(map(len, PIECES))} rows" in out
    assert graph(tmp_path / "lived.db") == whole

"""The command killed at random points and started again: nothing is lost and nothing doubled."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from lineage_ingest.query_log.streaming.stream_input import StreamInput
from tests.kafka_fixture import KafkaBroker
from tests.query_logs.streaming.following import SOURCE, followed
from tests.query_logs.streaming.running import (
    PIECES,
    batches,
    finished,
    following,
    graph,
    killed,
    land,
    lines,
)

pytestmark = pytest.mark.xdist_group("kafka")
AT_ONCE = 4
"""Messages of a micro-batch."""


def killed_once_until_it_ends(seed: int, *arguments: object) -> None:
    """Kill the stream soon after its first micro-batch, within the next one mostly, then let it end."""
    assert killed(1, random.Random(seed).uniform(0, 2), *arguments)
    code, printed = finished(*arguments)
    assert code in (0, 1), printed  # one statement does not parse: a process that was killed may have stored it


@pytest.mark.usefixtures("spark")
def test_kafka(tmp_path: Path, kafka: KafkaBroker) -> None:
    messages = [line for piece in range(len(PIECES)) for line in lines(piece)]
    kafka.send("queries", messages)
    jars = f"spark.jars={','.join(map(str, kafka.connector))}"
    source = ("--kafka", kafka.address, "--topic", "queries", "--spark-conf", jars)
    options = (*source, "--once", "--at-once", AT_ONCE, "--fail-on", "statement")
    killed_once_until_it_ends(3, *options, "-s", tmp_path / "killed.db")
    files = tmp_path / "files"
    files.mkdir()
    for first in range(0, len(messages), AT_ONCE):
        file = files / f"{first}.jsonl"
        file.write_text("\n".join(messages[first : first + AT_ONCE]))
        os.utime(file, (1_000_000 + first, 1_000_000 + first))
    followed(StreamInput(SOURCE, (str(files),), at_once=1), tmp_path / "whole.db")
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

"""An ingest that is killed while it is stored is marked in the list of runs until the same log comes again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.query_logs.make import make, runs

_KILLED = """
import os, signal, sys
from lineage_ingest.query_log import ingest
from lineage_ingest.query_log.pipeline import stages
ingest._LARGE = stages._USES_AT_ONCE = 100  # a log of some hundred rows is stored as a large one is
from lineage.store.graph.store import CypherStore
apply, left = CypherStore.apply, [int(sys.argv.pop(1))]
def killed(store, batch):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return apply(store, batch)
CypherStore.apply = killed
from lineage.cli.main import run
run()
"""


@pytest.mark.parametrize("applied", [2, 4])
def test_a_killed_ingest_is_unfinished(applied: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "log", "snowflake", runs("snowflake", 600, 60, 5), "parquet")
    command = ["ingest", "log", "log", "--source", "snowflake", "--engine", "local"]
    process = subprocess.run([sys.executable, "-c", _KILLED, str(applied), *command], capture_output=True, check=False)
    assert process.returncode == -signal.SIGKILL, process.stderr
    [run] = lineage("runs", "--format", "json").json
    assert run["unfinished"] == 1
    assert "rows" not in run
    assert "unfinished" in lineage("runs").out
    assert lineage(*command).code == 0
    [run] = lineage("runs", "--format", "json").json
    assert "unfinished" not in run
    assert run["rows"] == 600
    assert lineage(*command, "--store", "other.db").code == 0
    with open_store(tmp_path / "lineage.db") as one, open_store(tmp_path / "other.db") as other:
        assert one.dump().relationships == other.dump().relationships

"""One workload on a real MariaDB: its general log and its slow log say what took effect, and nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage_ingest.query_log import normalize_rows, read_log, source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.sql_files import ingest_sql_files
from tests.query_logs.pipeline.running import AT
from tests.query_logs.servers.mariadb_server import MariadbServer, MariadbSession, running_mariadb
from tests.query_logs.servers.mariadb_workload import MARIADB_WORKLOAD
from tests.query_logs.servers.workload import effective_script, stated

LOGS = {"mysql": "general", "mysql_slow": "slow"}


def play(server: MariadbServer) -> None:
    """Let the sessions of the workload send what they send; the logs are rotated half-way."""
    sessions: dict[str, MariadbSession] = {}
    for number, sent in enumerate(MARIADB_WORKLOAD):
        if number == len(MARIADB_WORKLOAD) // 2:
            time.sleep(1.1)  # the logs have seconds; within one only the order in the file is known
            for name in LOGS.values():
                (server.home / f"{name}.log").rename(server.home / f"{name}.log.1")
            with server.session() as other:
                other.run("FLUSH LOGS")
        if sent.session not in sessions:
            sessions[sent.session] = server.session()
        said = sessions[sent.session].run(sent.text)
        assert "ERROR" not in said, said
    for session in sessions.values():
        session.close()


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of the workload."""
    folder = tmp_path_factory.mktemp("mariadb")
    settings = {"general_log": "1", "slow_query_log": "1", "long_query_time": "0", "log_output": "FILE"}
    with running_mariadb(**settings) as server:
        play(server)
        server.stop()
        for file in server.home.glob("*.log*"):
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.mark.parametrize("name", LOGS)
def test_the_log_says_what_took_effect(tmp_path: Path, logs: Path, name: str) -> None:
    options = options_for("mysql")
    with open_store(tmp_path / "sql.db") as store:
        ingest_sql_files([effective_script(MARIADB_WORKLOAD, tmp_path)], store, options, None, observed_at=AT)
        expected = stated(store)
    source = source_named(name)
    files = sorted(logs.glob(f"{LOGS[name]}.log*"))
    assert len(files) == 2
    batches = list(normalize_rows(read_log(source, files), source))
    with open_store(tmp_path / "log.db") as store:
        ingest_log_rows(LocalEngine(lambda: batches), store, LogContext("played", AT), None)
        assert stated(store) == expected

"""One workload on a real PostgreSQL, in each of its ways to log: each log says what took effect, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage_ingest.query_log import normalize_rows, read_log, source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.local_engine import LocalEngine
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.sql_files import ingest_sql_files
from tests.query_logs.pipeline.running import AT
from tests.query_logs.servers.postgres_server import PostgresServer, PostgresSession, running_postgres
from tests.query_logs.servers.postgres_workload import END, POSTGRES_WORKLOAD, TERMINATE
from tests.query_logs.servers.workload import effective_script, stated

MODES: dict[str, dict[str, str]] = {
    "log_statement": {"log_statement": "all"},
    "log_statement and log_duration": {"log_statement": "all", "log_duration": "on"},
    "log_min_duration_statement": {"log_min_duration_statement": "0"},
    "both": {"log_statement": "all", "log_min_duration_statement": "0"},
    "errors without statements": {"log_statement": "all", "log_min_error_statement": "panic"},
}
pytestmark = pytest.mark.xdist_group("postgres")
FORMS = {"postgres_csv": "csv", "postgres_json": "json", "postgres_stderr": "log"}
_SETTINGS = ("log_statement", "log_duration", "log_min_duration_statement", "log_min_error_statement")


def play(server: PostgresServer, mode: str) -> None:
    """Let the sessions of the workload send what they send; the log is rotated half-way."""
    with server.session("postgres") as first:
        first.run("DROP DATABASE IF EXISTS shop")
        first.run("CREATE DATABASE shop")
    name = mode.replace(" ", "_")
    given: dict[str, str | None] = dict.fromkeys(_SETTINGS)
    server.configure({**given, **MODES[mode], "log_filename": f"{name}-1.log"})
    sessions: dict[str, PostgresSession] = {}
    with server.session("postgres") as other:
        for number, (before, sent) in enumerate(pairwise((POSTGRES_WORKLOAD[0], *POSTGRES_WORKLOAD))):
            if before.session != sent.session:
                time.sleep(0.002)  # the log has milliseconds, and they decide between sessions
            if number == len(POSTGRES_WORKLOAD) // 2:
                server.configure({"log_filename": f"{name}-2.log"})
            if sent.session not in sessions:
                sessions[sent.session] = server.session("shop")
            if sent.text == TERMINATE:
                other.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
            elif sent.text == END:
                sessions.pop(sent.session).close()
            else:
                sessions[sent.session].run(sent.text)
        for session in sessions.values():
            session.close()


@pytest.fixture(scope="module")
def logs() -> Iterator[Path]:
    """The logs of the workload in all modes."""
    settings = {
        "log_destination": "stderr,csvlog,jsonlog",
        "log_line_prefix": "%m [%p] %q%u@%d ",
        "log_connections": "on",
        "log_disconnections": "on",
        "log_timezone": "Europe/London",
    }
    with running_postgres(**settings) as server:
        for mode in MODES:
            play(server, mode)
        server.stop()
        yield server.logs


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("effective")
    file = effective_script(POSTGRES_WORKLOAD, folder)
    options = options_for("postgres", default_database="shop", default_schema="public")
    with open_store(folder / "sql.db") as store:
        ingest_sql_files([file], store, options, None, observed_at=AT)
        return stated(store)


def read(logs: Path, mode: str, form: str) -> list[Any]:
    """Return the log of a mode in a form, as batches of the log schema."""
    files = sorted(logs.glob(f"{mode.replace(' ', '_')}-*.{FORMS[form]}"))
    assert len(files) == 2
    source = source_named(form)
    return list(normalize_rows(read_log(source, files), source))


@pytest.mark.parametrize("mode", MODES)
def test_the_log_says_what_took_effect(tmp_path: Path, logs: Path, expected: list[str], mode: str) -> None:
    batches = read(logs, mode, "postgres_csv")
    with open_store(tmp_path / "log.db") as store:
        ingest_log_rows(
            LocalEngine(lambda: batches), store, LogContext("played", AT, database="shop", schema="public"), None
        )
        assert stated(store) == expected


@pytest.mark.parametrize("mode", MODES)
def test_the_forms_of_the_log_are_one(logs: Path, mode: str) -> None:
    said = [rows(read(logs, mode, form)) for form in FORMS]
    assert len(said[0]) > len(POSTGRES_WORKLOAD)
    assert said[1] == said[0]
    assert said[2] == said[0]


def rows(batches: list[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of the workload's sessions in order, each session's by the session's first statement.

    The session that begins another file writes while the server does so: what it writes then is in the one file in one
    form, and in the other in another form.
    """
    every = pa.Table.from_batches(batches).filter(pc.field("default_database") == "shop")
    table = every.sort_by([("session", "ascending"), ("position", "ascending")])
    names = ("query_text", "status", "user", "default_database", "started_at", "duration_us", "problem")
    by_session: dict[str, list[tuple[Any, ...]]] = {}
    for session, *row in zip(*(table[name].to_pylist() for name in ("session", *names)), strict=True):
        by_session.setdefault(session, []).append(tuple(row))
    return [row for own in sorted(by_session.values(), key=repr) for row in own]

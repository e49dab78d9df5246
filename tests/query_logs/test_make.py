"""Histories made in each source's shape come back from its files as the runs that they were made of."""

from __future__ import annotations

import re
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lineage.sql.scan import fingerprint
from lineage_ingest.query_log import SOURCES, Status, normalize_rows, read_log, source_named
from tests.query_logs.history import Run
from tests.query_logs.make import make, runs
from tests.query_logs.shapes import MAPPING, SHAPES
from tests.query_logs.statements import queries_for
from tests.query_logs.templates import POOL, templates

# What a source's rows do not say: runs that it has no row for, and what becomes of the status of others.
SILENT = {
    "hive": {Status.FAILED, Status.CANCELED, Status.RUNNING},
    **dict.fromkeys(("trino", "clickhouse", "bigquery_audit"), {Status.RUNNING}),  # noqa: RUF024 nothing changes them
}
STATUS = {
    "mysql": dict.fromkeys(Status, Status.UNKNOWN),
    "pg_stat_statements": dict.fromkeys(Status, Status.SUCCESS),
    **dict.fromkeys(("postgres_csv", "postgres_json"), {Status.RUNNING: Status.SUCCESS}),  # noqa: RUF024 nothing changes them
}
UNIT = {"hive": 1_000_000, "spark": 1_000}
CUT = {
    "snowflake": 100_000,
    "snowflake_access": 100_000,
    "clickhouse": 100_000,
    "generic": 100_000,
    "bigquery_audit": 50_000,
}
NO_SESSIONS = {"trino", "clickhouse", "hive", "bigquery_audit", "pg_stat_statements"}


def summary_of(source: str, run: Run) -> tuple[Any, ...]:
    user = run.user.upper() if source.startswith("snowflake") else run.user
    cut = CUT.get(source, len(run.text) + 1)
    unit = UNIT.get(source, 1)
    status = STATUS.get(source, {}).get(run.status, run.status)
    return run.text[:cut].strip(), str(status), user, run.started // unit * unit, len(run.text) >= cut


def heard(row: dict[str, Any]) -> tuple[Any, ...]:
    since = row["started_at"] - datetime(1970, 1, 1, tzinfo=UTC)
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return row["query_text"].strip(), row["status"], row["user"], micros, row["truncated"]


def one_at_a_time(made: list[Run]) -> None:
    """Let each run of a session end before the next one begins, as on a server: PostgreSQL's log is read so."""
    following: dict[int, int] = {}
    for run in sorted(made, key=lambda one: (one.started, one.position), reverse=True):
        run.duration = min(run.duration, max(following.get(run.session, sys.maxsize) - run.started, 0))
        following[run.session] = run.started


@pytest.mark.parametrize("output", ["parquet", "jsonl"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_history_comes_back(name: str, output: str, tmp_path: Path) -> None:
    made = [run for batch in runs(name, 500, 60, seed=3) for run in batch]
    made[11].text += f"\n-- {'x' * 120_000}"  # one that every source with a limit cuts
    one_at_a_time(made)
    make(tmp_path, name, [made[:200], made[200:]], output, files=2)
    source = source_named(name, mapping=MAPPING) if name == "generic" else SOURCES[name]
    rows = pa.Table.from_batches(
        list(normalize_rows(read_log(source, [tmp_path]), source, clustered=False))
    ).to_pylist()
    assert [row for row in rows if row["problem"]] == []
    expected = [run for run in made if run.status not in SILENT.get(name, ())]
    assert sorted(map(heard, rows)) == sorted(summary_of(name, run) for run in expected)
    if name not in NO_SESSIONS:
        by_start = {(run.started // UNIT.get(name, 1) * UNIT.get(name, 1), run.text[:50]): run for run in expected}
        pairs = {(by_start[heard(row)[3], row["query_text"][:50]].session, row["session"]) for row in rows}
        assert len(pairs) == len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs})


def test_the_same_seed_makes_the_same_history() -> None:
    first, second = (list(runs("snowflake", 300, 40, seed=5)) for _ in range(2))
    assert first == second
    assert first != list(runs("snowflake", 300, 40, seed=6))


def test_templates_differ_and_their_runs_do_not() -> None:
    made = templates(queries_for(None), 300, seed=1)
    prints: dict[tuple[int, int], set[str]] = {}
    for number, template in enumerate(made):
        for at in (0, POOL - 1):
            for part, text in enumerate(template.texts(at)):
                prints.setdefault((number, part), set()).add(fingerprint(text, template.dialect))
    assert {len(found) for found in prints.values()} == {1}
    first = [(made[number].dialect, *found) for (number, part), found in prints.items() if part == 0]
    assert len(set(first)) == len(first) == 300
    assert 0.2 < sum(template.writes for template in made) / len(made) < 0.35


def test_histories_are_skewed_write_and_use_temporary_tables() -> None:
    made = [run for batch in runs("generic", 20_000, 400, seed=1) for run in batch]
    heads = Counter(run.text.split(None, 1)[0].upper() for run in made)
    writes = sum(heads[word] for word in ("CREATE", "INSERT", "DROP")) / len(made)
    assert 0.27 < writes < 0.33
    by_session: dict[int, list[Run]] = {}
    for run in made:
        by_session.setdefault(run.session, []).append(run)
    assert len(made) == 20_000
    temporary = [run for run in made if run.text.startswith("CREATE TEMP")]
    assert len(temporary) > 200
    for run in temporary[:50]:
        name = re.match(r"CREATE TEMP\w* \w+ (\w+)", run.text)
        assert name is not None
        [reader] = [other for other in by_session[run.session] if other.position == run.position + 1]
        assert reader.text.endswith(f"FROM {name[1]}")
        assert reader.started > run.started
    often = Counter((run.dialect, fingerprint(run.text, run.dialect)) for run in made[:4_000]).most_common(20)
    assert often[0][1] > 4 * often[-1][1]
    assert {run.status for run in made} == set(Status) - {Status.UNKNOWN}

"""A script resolved by several processes: the result is that of one, whatever workers assumed of each other's texts.

Most tests hand out the texts to workers in this process, in random order and with random knowledge of other texts,
which is worse than what the parent does. The last ones start processes.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage import Catalog, extract_script
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.scan import split_statements
from lineage.sql.script.parallel import processes as parallel
from lineage.sql.script.parallel.processes import resolve_texts, resolve_with
from lineage.sql.script.parallel.script_workers import ScriptInput, Task, script_workers
from lineage.sql.script.resolutions import TextResolution
from lineage.sql.script.script import Script
from lineage.store import open_store
from lineage.worker_pool import WorkerError
from lineage_ingest import OptionError, SqlOptions, ingest_sql
from tests.benchmarks._models import models
from tests.cli.running import lineage
from tests.soundness.warehouse.histories import random_warehouse
from tests.soundness.warehouse.ingests import catalog_of
from tests.soundness.warehouse.laboratory import Laboratory
from tests.soundness.warehouse.render import sql_of
from tests.soundness.warehouse.tree import HOME
from tests.sql.case_files import read_cases
from tests.truth.compare import DATA, DEMO

CONCEPTS = {p.name: p.read_text(encoding="utf-8") for p in sorted(DEMO.glob("concepts/*/*.sql"))}
MIMIC = Catalog.from_ddl(DEMO / "create.sql", "postgres")

SCRIPTS: dict[str, dict[str, str]] = {
    "postgres": {
        "1_base.sql": "CREATE TABLE s.orders AS SELECT id, amount, paid FROM raw.orders",
        "2_temp.sql": "CREATE TEMP TABLE t AS SELECT id, amount * 2 AS twice FROM s.orders;"
        "INSERT INTO t SELECT id, fee FROM s.fees; CREATE TABLE s.twice AS SELECT * FROM t; DROP TABLE t",
        "3_gone.sql": "CREATE TABLE s.step AS SELECT id, email FROM raw.users; ALTER TABLE s.step RENAME TO step2;"
        "CREATE VIEW s.users AS SELECT * FROM s.step2; DROP TABLE s.step2",
        "4_reads_gone.sql": "CREATE TABLE s.late AS SELECT * FROM s.step",
        "5_circle.sql": "CREATE VIEW s.a AS SELECT * FROM s.b; CREATE TEMP TABLE c AS SELECT * FROM s.a;"
        "CREATE VIEW s.d AS SELECT * FROM c",
        "6_circle.sql": "CREATE VIEW s.b AS SELECT x FROM s.a JOIN s.d USING (id)",
        "7_ambiguous.sql": "CREATE TABLE s.m AS SELECT name, city, t.id FROM raw.people JOIN s.places t USING (id)",
        "8_decides.sql": "CREATE TABLE s.n AS SELECT people.name FROM raw.people; SELECT places.city FROM s.places",
        "91_mixed.sql": "CREATE TEMP TABLE mixed AS SELECT id, amount FROM raw.mixed;"
        "CREATE TABLE s.mix AS SELECT mixed.amount, street FROM mixed JOIN raw.p1 USING (id) JOIN raw.p2 USING (id)",
        "92_circle.sql": "CREATE TEMP TABLE filled AS SELECT x, y FROM raw.first;"
        "INSERT INTO filled SELECT x, y FROM s.k; CREATE VIEW s.l AS SELECT * FROM filled",
        "93_circle.sql": "CREATE VIEW s.k AS SELECT x, y FROM s.l",
        "94_decides.sql": "SELECT p2.street FROM raw.p2",
        "bare.sql": "SELECT * FROM s.twice JOIN s.m USING (id)",
    },
    "duckdb": {
        "1_f.sql": "CREATE MACRO twice(x) AS x * 2 + (SELECT max(rate) FROM rates)",
        "2_uses.sql": "CREATE TABLE a AS SELECT twice(amount) AS v, id FROM orders",
        "3_does_not.sql": "CREATE TABLE b AS SELECT * FROM a",
        "4_renames.sql": "ALTER TABLE a RENAME v TO w; ALTER TABLE b RENAME TO c",
        "5_later.sql": "CREATE TABLE d AS SELECT w, id FROM a JOIN c USING (id)",
        "6_reads.sql": "CREATE TABLE f AS SELECT * FROM d",
        "7_uses.sql": "CREATE TABLE g AS SELECT twice(price) AS p FROM goods",
    },
    "spark": {
        "1_unnamed.sql": "CREATE TABLE a AS SELECT x + 7, x + 8, y || 'Ann', z FROM t",
        "2_reads.sql": "CREATE TABLE b AS SELECT `(x + 8)` AS eight, `concat(y, Ann)` AS name FROM a",
        "3_reads.sql": "CREATE TABLE c AS SELECT * FROM b",
    },
    "tsql": {
        "1_proc.sql": "CREATE PROCEDURE p AS BEGIN DECLARE @n INT, @m INT; SELECT @n = max(id) FROM dbo.o;"
        " SET @m = @n + 1; INSERT INTO dbo.x (a, b) SELECT @m, name FROM dbo.y END",
        "2_loop.sql": "DECLARE @i INT = 0, @j INT = 0; WHILE @i < 9 BEGIN SET @j = @i; SELECT @i = max(k) FROM dbo.z;"
        " INSERT INTO dbo.w (c) SELECT @j END",
        "3_temp.sql": "SELECT a, b INTO #t FROM dbo.x; INSERT INTO #t SELECT c, c FROM dbo.w;"
        "SELECT * INTO dbo.v FROM #t",
        "4_swap.sql": "EXEC sp_rename 'dbo.v', 'v2'; SELECT * INTO dbo.u FROM dbo.v2",
        "5_reads.sql": "CREATE VIEW dbo.q AS SELECT * FROM dbo.x JOIN dbo.u ON x.a = u.a",
    },
}


def resolve_elsewhere(given: ScriptInput, seed: int) -> dict[int, TextResolution]:
    """Return what workers may find out that get the texts in any order and know of some of the others."""
    chance = random.Random(seed)
    left_out = Script(given.texts, given.options, given.catalog).prepare()
    indexes = [index for index in range(len(given.texts)) if index not in left_out]
    chance.shuffle(indexes)
    workers = [Script(given.texts, given.options, given.catalog, recording=True) for _ in range(3)]
    found: dict[int, TextResolution] = {}
    for index in indexes:
        worker = chance.choice(workers)
        for known in chance.sample(sorted(found), chance.randint(0, len(found))):
            worker.learn(known, found[known].schemas)
        found[index] = pickle.loads(pickle.dumps(worker.record(index)))
    return {index: one for index, one in found.items() if not one.stays}


def assert_equal(found: list[StatementLineage], expected: list[StatementLineage]) -> None:
    assert [one.to_dict() for one in found] == [one.to_dict() for one in expected]
    assert [repr(one) for one in found] == [repr(one) for one in expected]


def check(
    texts: Mapping[str, str], options: ExtractionOptions, catalog: Catalog | None = None, seeds: int = 2
) -> list[int]:
    """Compare; return how many texts workers resolved, for each seed."""
    given = ScriptInput(texts, options, catalog)
    expected = Script(texts, options, catalog).resolve()
    resolved = []
    for seed in range(seeds):
        found = resolve_elsewhere(given, seed)
        assert_equal(resolve_with(found, given), expected)
        resolved.append(len(found))
    return resolved


def by_dialect() -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Yield the cases of each dialect as files, whose names of tables collide, and the same with a file a statement."""
    whole: dict[str, dict[str, str]] = defaultdict(dict)
    split: dict[str, dict[str, str]] = defaultdict(dict)
    for number, case in enumerate(read_cases()):
        whole[case.dialect][f"{number:04}.sql"] = case.sql
        for start, end in split_statements(case.sql, case.dialect):
            split[case.dialect][f"{number:04}_{start:05}.sql"] = case.sql[start:end]
    for dialect, texts in whole.items():
        yield dialect, texts, split[dialect]


FOLDERS = list(by_dialect())


@pytest.mark.parametrize("dialect", SCRIPTS)
def test_temporary_tables_renames_functions_variables_and_circles(dialect: str) -> None:
    assert min(check(SCRIPTS[dialect], options_for(dialect), seeds=25)) > 0


@pytest.mark.parametrize(("dialect", "whole", "split"), FOLDERS, ids=[dialect for dialect, *_ in FOLDERS])
def test_cases_as_files_of_one_folder(dialect: str, whole: dict[str, str], split: dict[str, str]) -> None:
    for start, texts in ((0, whole), (60, split)):  # one part in the one form, the next in the other
        names = sorted(texts)
        for first in range(start, len(names), 120):  # in parts, or all of them would be connected by tables called t
            check({name: texts[name] for name in names[first : first + 60]}, options_for(dialect), seeds=1)


def test_real_warehouses() -> None:
    assert check(dict(reversed(CONCEPTS.items())), options_for("postgres"), MIMIC, seeds=1)[0] > 50
    tpcds = {p.name: p.read_text(encoding="utf-8") for p in sorted((DATA / "tpcds").glob("*.sql"))}
    schema = Catalog.from_json(DATA / "tpcds" / "schema.json", "spark")
    assert check(tpcds, options_for("spark"), schema, seeds=1)[0] > 80
    assert check(models(30), options_for("trino")) == [30, 30]


def test_random_warehouses() -> None:
    some = 0
    for seed in range(25):
        warehouse = random_warehouse(f"jobs {seed}", Laboratory(f"jobs {seed}"), way="files")
        for state in warehouse.states:
            scripts = {f"{file.project}/{file.path}": file.runs for file in state.files}
            texts = {name: ";\n".join(sql_of(run.step) for run in runs) for name, runs in scripts.items()}
            some += sum(check(texts, options_for("duckdb", default_schema=HOME), catalog_of(warehouse), seeds=1))
    assert some > 25


def test_one_process_and_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_MIN_CHARACTERS", 1)
    monkeypatch.setattr(parallel, "_TASK_CHARACTERS", 20_000)
    texts = {**CONCEPTS, **SCRIPTS["postgres"]}
    progress: list[tuple[int, int]] = []
    seconds: dict[str, float] = {}
    found = resolve_texts(
        texts,
        options_for("postgres"),
        MIMIC,
        jobs=2,
        progress=lambda done, total: progress.append((done, total)),
        seconds=seconds,
    )
    assert_equal(found, resolve_texts(texts, options_for("postgres"), MIMIC))
    assert progress == sorted(set(progress))
    assert progress[-1] == (len(texts), len(texts))
    assert seconds.keys() == texts.keys()
    assert_equal(extract_script(texts, "postgres", MIMIC, jobs=2), found)
    with pytest.raises(ValueError, match="jobs: found 0"):
        extract_script(texts, "postgres", jobs=0)


def test_ingest_and_commands_take_jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parallel, "_MIN_CHARACTERS", 1)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "models"
    folder.mkdir()
    for name, text in SCRIPTS["postgres"].items():
        (folder / name).write_text(text, encoding="utf-8")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    dumps = []
    for jobs in (1, 2):
        options = SqlOptions(dialect="postgres", observed_at=at, project="p", project_root=folder, jobs=jobs)
        with open_store(f"{jobs}.db") as store:
            ingest_sql("models", store=store, options=options)
            dumps.append((sorted(map(repr, store.jobs())), sorted(map(repr, store.datasets()))))
    assert dumps[0] == dumps[1]
    with pytest.raises(OptionError, match="at least 1"):
        ingest_sql("models", store="3.db", options=SqlOptions(jobs=0))
    files = sorted(str(path.relative_to(tmp_path)) for path in folder.iterdir())
    one, two = (lineage("extract", "-d", "postgres", "--format", "json", "-j", jobs, *files) for jobs in "12")
    assert one.json == two.json
    assert len(one.json) > 20


def test_small_inputs_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "script_workers", None)
    assert len(extract_script(CONCEPTS, "postgres", MIMIC, jobs=8)) == 130


def test_a_killed_worker_is_an_error_that_names_its_texts() -> None:
    given = ScriptInput({"models/big.sql": "SELECT 1"}, options_for("postgres"), None)
    with script_workers(given, 1) as pool:
        [child] = [one for one in multiprocessing.active_children() if one.name.startswith("lineage-worker")]
        pool.start(Task((0,), {}))
        os.kill(child.pid or 0, signal.SIGKILL)
        with pytest.raises(WorkerError, match=r"killed by SIGKILL while it resolved models/big\.sql") as raised:
            list(pool.finished())
        assert "memory" in raised.value.hint
    assert not child.is_alive()


def test_ctrl_c_ends_the_workers(tmp_path: Path) -> None:
    for name, text in models(4000).items():
        (tmp_path / name.replace("/", "_")).write_text(text, encoding="utf-8")
    program = Path(sys.executable).with_name("lineage")
    command = [str(program), "extract", "-d", "trino", "--report", str(tmp_path), "--jobs", "2"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while len(workers := _children(process.pid)) < 2 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    assert len(workers) >= 2
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    process.communicate(timeout=30)
    assert process.returncode != 0
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_is_running, workers))


def _children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

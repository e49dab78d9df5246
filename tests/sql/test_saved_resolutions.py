"""Resolutions that an earlier run saved: used if nothing that they depend on has changed, and only then."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest

from lineage import Catalog
from lineage.garbage_collection import seldom_collecting
from lineage.sql.budget import Budget
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.script.parallel import processes as parallel
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.sql.script.reuse.saved_resolutions import SavedResolutions, folder_of
from lineage.sql.script.script import Script
from tests.sql.random_edits import FAULTS, DifferentResultError, run_edits
from tests.sql.test_jobs import CONCEPTS, FOLDERS, MIMIC, SCRIPTS, assert_equal

_FOUND_IN = {
    "name": 7, "find": 0, "in_schema": 70, "seen": 7, "catalog": 2, "contents": 49,
    "file name": 2, "position": 111, "options": 1,
}  # fmt: skip
"""By fault, a random folder in which edits show it."""
_FOUND_BY_HAND = ("existing_name", "searched", "unsent")
"""Faults that random edits find too seldom for a test."""


class _Runs:
    """Runs over the texts of one folder, one after the other, each compared with a run that knows nothing."""

    def __init__(self, cache: Path, options: ExtractionOptions) -> None:
        self.cache = cache
        self.options = options

    def resolved(self, texts: Mapping[str, str], catalog: Catalog | None = None, jobs: int = 1) -> int:
        """Return how many texts the run resolved."""
        saved = SavedResolutions(Path("/folder"), self.options, self.cache)
        found = resolve_texts(texts, self.options, catalog, jobs=jobs, saved=saved)
        assert_equal(found, resolve_texts(texts, self.options, catalog))
        return saved.resolved


def test_random_edits(tmp_path: Path) -> None:
    with seldom_collecting():
        counts = run_edits(150, 1, tmp_path)
    assert counts["resolved"] < 0.7 * counts["texts"]


@pytest.mark.parametrize(("fault", "folder"), _FOUND_IN.items())
def test_random_edits_find_a_mistake_in_what_a_resolution_depends_on(fault: str, folder: int, tmp_path: Path) -> None:
    with FAULTS[fault](), seldom_collecting(), pytest.raises(DifferentResultError):
        run_edits(200, 3, tmp_path, folder)


def test_every_mistake_is_found() -> None:
    assert {*_FOUND_IN, *_FOUND_BY_HAND} == FAULTS.keys()


def test_only_what_depends_on_an_edit_is_resolved(tmp_path: Path) -> None:
    runs = _Runs(tmp_path, options_for("postgres"))
    texts = {
        "a.sql": "CREATE VIEW a AS SELECT id, name FROM base",
        "b.sql": "CREATE VIEW b AS SELECT * FROM a",
        "c.sql": "CREATE VIEW c AS SELECT id FROM b",
        "other.sql": "CREATE VIEW d AS SELECT * FROM elsewhere",
    }
    assert runs.resolved(texts) == 4
    assert runs.resolved(texts) == 0
    assert runs.resolved(texts | {"a.sql": "CREATE VIEW a AS SELECT id + 1 AS id, name FROM base"}) == 1
    assert runs.resolved(texts | {"a.sql": "CREATE VIEW a AS SELECT id, name, age FROM base"}) == 3
    assert runs.resolved(texts) == 2  # the earlier text of a.sql is remembered for some runs
    assert runs.resolved(dict(reversed(texts.items()))) == 0
    assert runs.resolved({name: text for name, text in texts.items() if name != "other.sql"}) == 0
    assert runs.resolved(texts) == 0
    base = Catalog.from_dict({"base": {"id": "int", "name": "text"}}, "postgres")
    assert runs.resolved(texts, base) == 1
    assert runs.resolved(texts, base) == 0
    assert runs.resolved(texts, Catalog.from_dict({"base": {"id": "bigint", "name": "text"}}, "postgres")) == 1
    assert runs.resolved(texts, base.with_tables(Catalog.from_dict({"unused": {"x": "int"}}, "postgres"))) == 1


def test_a_catalog_decides_which_table_a_search_path_means(tmp_path: Path) -> None:
    texts = {
        "a.sql": "SET search_path = s1, s2; ALTER TABLE t ADD COLUMN extra int",
        "b.sql": "CREATE VIEW s3.v AS SELECT * FROM s2.t",
    }
    runs = _Runs(tmp_path, options_for("postgres"))
    first, second = (Catalog.from_dict({name: {"id": "int"}}, "postgres") for name in ("s1.t", "s2.t"))
    assert runs.resolved(texts, first) == 2
    assert runs.resolved(texts, first) == 0
    assert runs.resolved(texts, second) == 2
    with FAULTS["searched"](), pytest.raises(AssertionError):
        runs.resolved(texts, first)


def test_masked_names_of_columns_are_not_compared(tmp_path: Path) -> None:
    texts = {
        "a.sql": "CREATE TABLE a AS SELECT x + 7, x + 8 FROM t",
        "b.sql": "CREATE TABLE b AS SELECT `(x + 8)` AS eight FROM a",
    }
    edited = texts | {"a.sql": "CREATE TABLE a AS SELECT x + 8, x + 7 FROM t"}
    runs = _Runs(tmp_path, options_for("spark"))
    assert runs.resolved(texts) == 2
    assert runs.resolved(edited) == 2
    with FAULTS["unsent"](), pytest.raises(AssertionError):
        list(map(runs.resolved, (edited, texts)))


@pytest.mark.parametrize(
    "other",
    [
        options_for("redshift"),
        options_for("postgres", default_schema="s2"),
        options_for("postgres", default_database="db"),
        options_for("postgres", namespace="postgres://host:5432"),
        options_for("postgres", set_operation_references="paper"),
        options_for("postgres", budget=Budget(edges=1)),
    ],
)
def test_options_have_their_own_resolutions(other: ExtractionOptions, tmp_path: Path) -> None:
    texts = {"a.sql": "CREATE VIEW a AS SELECT x, y FROM t UNION SELECT x, z FROM u", "b.sql": "SELECT * FROM a"}
    assert _Runs(tmp_path, options_for("postgres")).resolved(texts) == 2
    assert _Runs(tmp_path, other).resolved(texts) == 2
    assert _Runs(tmp_path, options_for("postgres")).resolved(texts) == 0


def test_functions_of_a_file_are_an_option(tmp_path: Path) -> None:
    listed = tmp_path / "functions.toml"
    texts = {"a.sql": "CREATE VIEW a AS SELECT hide(x) AS x FROM t", "b.sql": "SELECT * FROM a"}
    for name in ("hide", "other", "hide"):
        listed.write_text(f'[masking]\nany = ["{name}"]\n', encoding="utf-8")
        _Runs(tmp_path, options_for("postgres", functions=[listed])).resolved(texts)


@pytest.mark.parametrize("dialect", SCRIPTS)
def test_temporary_tables_renames_functions_variables_and_circles(dialect: str, tmp_path: Path) -> None:
    texts, runs = SCRIPTS[dialect], _Runs(tmp_path, options_for(dialect))
    runs.resolved(texts)
    assert runs.resolved(texts) < len(texts)
    for left_out in texts:
        runs.resolved({name: text for name, text in texts.items() if name != left_out})
        runs.resolved(texts)


@pytest.mark.parametrize(("dialect", "whole", "split"), FOLDERS, ids=[dialect for dialect, *_ in FOLDERS])
def test_cases_as_files_of_one_folder(
    dialect: str, whole: dict[str, str], split: dict[str, str], tmp_path: Path
) -> None:
    names = sorted(split)
    runs = _Runs(tmp_path, options_for(dialect))
    for first in range(0, len(names), 60):
        texts = {name: split[name] for name in names[first : first + 60]}
        resolve_texts(texts, runs.options, None, saved=SavedResolutions(Path("/folder"), runs.options, tmp_path))
        runs.resolved({name: split[name] for name in names[first : first + 50]})


def test_workers_resolve_what_is_not_saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parallel, "_MIN_CHARACTERS", 1)
    monkeypatch.setattr(parallel, "_TASK_CHARACTERS", 20_000)
    runs, names = _Runs(tmp_path, options_for("postgres")), sorted(CONCEPTS)
    some = {name: CONCEPTS[name] for name in names[::2]}
    assert runs.resolved(some, MIMIC, jobs=2) == len(some)
    assert runs.resolved(CONCEPTS, MIMIC, jobs=2) < len(CONCEPTS)
    changing_each_other = Script(CONCEPTS, runs.options).prepare()
    assert runs.resolved(CONCEPTS, MIMIC, jobs=2) == len(changing_each_other) < 10


def test_the_file_has_no_literal_and_is_its_owners(tmp_path: Path) -> None:
    texts = {
        "a.sql": "CREATE VIEW a AS SELECT x || 'secret-1' AS x, 'secret-2', payload -> 'secret-3' FROM t "
        "WHERE y IN ('secret-4') -- secret-5",
        "b.sql": "CREATE TEMP TABLE b AS SELECT 'secret-6' AS k; SELECT 'secret-7' FRM FROM b WHERE",
        "c.sql": "SELECT $$secret-8$$, x FROM a; CREATE FUNCTION f() RETURNS int AS 'secret-9' LANGUAGE plpgsql",
        "d.sql": "DO $$ DECLARE n text := 'secret-10'; BEGIN INSERT INTO q SELECT n; END $$",
    }
    assert _Runs(tmp_path / "cache", options_for("postgres")).resolved(texts) == 4
    [file] = (tmp_path / "cache").iterdir()
    assert b"secret" not in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other", "writable", "folder"])
def test_a_file_that_cannot_be_used_is_as_good_as_none(damage: str, tmp_path: Path) -> None:
    texts = {"a.sql": "CREATE VIEW a AS SELECT x FROM t", "b.sql": "SELECT * FROM a"}
    runs = _Runs(tmp_path, options_for("postgres"))
    runs.resolved(texts)
    [file] = tmp_path.iterdir()
    content = file.read_bytes()
    if damage == "cut":
        file.write_bytes(content[:-20])
    elif damage == "changed":
        file.write_bytes(content[:300] + bytes([content[300] ^ 1]) + content[301:])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "other":
        head = content.split(b" ")[0]
        file.write_bytes(head + b" " + b"0" * 64 + b"\n" + pickle.dumps(os.system))
    elif damage == "writable":
        file.chmod(0o666)
    else:
        file.unlink()
        file.mkdir()
    assert runs.resolved(texts) == 2
    assert runs.resolved(texts) == (2 if damage == "folder" else 0)


def test_a_result_that_depends_on_the_machine_is_not_saved(tmp_path: Path) -> None:
    texts = {"a.sql": "CREATE VIEW a AS SELECT x FROM (SELECT x FROM t) AS n", "b.sql": "SELECT * FROM c"}
    runs = _Runs(tmp_path, options_for("postgres", budget=Budget(seconds=1e-9)))
    assert runs.resolved(texts) == 2
    assert runs.resolved(texts) == 2


def test_the_folder_of_files() -> None:
    assert folder_of(["models/a.sql", "models/sub/b.sql"]) == Path("models").absolute()
    assert folder_of(["models/a.sql"]) is None

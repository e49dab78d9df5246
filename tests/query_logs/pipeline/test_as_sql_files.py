"""A log says what the same statements say as SQL files, in whatever order its rows lie."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from lineage import Catalog
from lineage.sql.scan import split_statements
from tests.query_logs.pipeline.running import Ran, edges, in_order, ingested, of_files, two_stores
from tests.truth.compare import DEMO

_TPCDS = Path(__file__).parents[2] / "data" / "tpcds"
_SCHEMA = _TPCDS / "schema.json"


@pytest.mark.parametrize("seed", [1, 2])
def test_mimic_iv(seed: int, tmp_path: Path) -> None:
    catalog = Catalog.from_ddl(DEMO / "create.sql", "postgres")
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted((DEMO / "concepts").rglob("*.sql"))}
    ran = [
        Ran(text[start:end], name, number)
        for name, text in files.items()
        for number, (start, end) in enumerate(split_statements(text, "postgres"))
    ]
    random.Random(seed).shuffle(ran)
    with two_stores(tmp_path) as (log, sql):
        summary = ingested(log, ran, catalog=catalog, size=50)
        of_files(sql, tmp_path / "files", files, catalog=catalog)
        assert edges(log) == edges(sql)
    assert summary.run.counts["resolved"] == summary.run.counts["statements"]


def test_tpcds_as_tables_and_as_inserts(tmp_path: Path) -> None:
    catalog = Catalog.from_json(_SCHEMA, "spark")
    files: dict[str, str] = {}
    for path in sorted(_TPCDS.glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        for number, (start, end) in enumerate(split_statements(text, "spark")):
            name = f"{path.stem}_{number}"
            files[f"{name}_t.sql"] = f"CREATE TABLE {name}_t AS {text[start:end]}"
            files[f"{name}_i.sql"] = f"INSERT INTO {name}_i {text[start:end]}"
    ran = [Ran(text, None, number) for number, text in enumerate(files.values())]
    random.Random(3).shuffle(ran)
    with two_stores(tmp_path) as (log, sql):
        ingested(log, ran, "spark", catalog, size=50)
        of_files(sql, tmp_path / "files", files, "spark", catalog)
        assert edges(log) == edges(sql)
        assert len(edges(log)) > 1_000


SESSIONS = {
    "a temporary table": [
        "CREATE TEMP TABLE t AS SELECT id, md5(email) AS email FROM crm.users",
        "INSERT INTO mart.mails SELECT email FROM t WHERE id > 1",
    ],
    "temporary tables over one another, with additions": [
        "CREATE TEMP TABLE a AS SELECT id, name FROM x",
        "INSERT INTO a SELECT id, title FROM y",
        "CREATE TEMP TABLE b AS SELECT a.id, a.name FROM a AS a JOIN z AS z ON a.id = z.id",
        "CREATE TABLE out AS SELECT * FROM b",
    ],
    "a table that the session drops again": [
        "CREATE TABLE stage AS SELECT id, amount FROM raw",
        "INSERT INTO facts SELECT id, sum(amount) FROM stage GROUP BY id",
        "DROP TABLE stage",
    ],
    "a name that is used twice": [
        "CREATE TEMP TABLE t AS SELECT a FROM first",
        "INSERT INTO one SELECT a FROM t",
        "DROP TABLE t",
        "CREATE TEMP TABLE t AS SELECT b FROM second",
        "INSERT INTO two SELECT b FROM t",
    ],
    "search_path": [
        "INSERT INTO out SELECT a FROM t",
        "SET search_path = mart, public",
        "INSERT INTO out SELECT a FROM t",
        "SET search_path TO other",
        "CREATE TABLE made AS SELECT a FROM t",
    ],
    "a transaction that is rolled back": [
        "BEGIN",
        "INSERT INTO never SELECT a FROM t",
        "ROLLBACK",
        "BEGIN",
        "INSERT INTO once SELECT a FROM t",
        "COMMIT",
    ],
    "a table that is built beside, and put in place": [
        "CREATE TABLE facts_new AS SELECT id, amount FROM raw",
        "INSERT INTO facts_new SELECT id, total FROM late",
        "DROP TABLE facts",
        "ALTER TABLE facts_new RENAME TO facts",
    ],
    "a script in one row": [
        "BEGIN; CREATE TEMP TABLE t AS SELECT a, b FROM src; INSERT INTO out SELECT a FROM t; COMMIT",
    ],
    "a view over a table that comes later": [
        "CREATE VIEW v AS SELECT * FROM later",
        "CREATE TABLE later AS SELECT id, name FROM base",
        "CREATE TABLE w AS SELECT * FROM v",
    ],
    "a function": [
        "CREATE FUNCTION mask(x text) RETURNS text LANGUAGE sql AS $$ SELECT md5(x) $$",
        "INSERT INTO masked SELECT id, email FROM people",
    ],
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session(name: str, tmp_path: Path) -> None:
    ran = in_order(SESSIONS[name])
    random.Random(name).shuffle(ran)
    with two_stores(tmp_path) as (log, sql):
        ingested(log, ran, size=2)
        of_files(sql, tmp_path / "files", {"session.sql": ";\n".join(SESSIONS[name])})
        assert edges(log) == edges(sql)


@pytest.mark.parametrize("seed", range(6))
def test_sessions_among_each_other(seed: int, tmp_path: Path) -> None:
    """Each session over tables of its own, some of them twice, their rows mixed."""
    pick = random.Random(seed)
    files: dict[str, str] = {}
    ran: list[Ran] = []
    for number in range(12):
        texts = SESSIONS[pick.choice(sorted(SESSIONS))]
        own = [_renamed(text, f"_{number % 8}") for text in texts]
        # From the ninth on: what an earlier session ran, again.
        own = files.setdefault(f"session_{number % 8}.sql", ";\n".join(own)).split(";\n")
        ran += [Ran(text, f"s{number}", 1_000 * number + place) for place, text in enumerate(own)]
    pick.shuffle(ran)
    with two_stores(tmp_path) as (log, sql):
        summary = ingested(log, ran)
        of_files(sql, tmp_path / "files", files)
        assert edges(log) == edges(sql)
    assert summary.run.counts["rows"] == len(ran)


def _renamed(text: str, suffix: str) -> str:
    """Return a statement over other tables: every word behind FROM, INTO and the like has a suffix."""
    return re.sub(r"\b((?:FROM|INTO|TABLE|VIEW|JOIN|TO) (?!TABLE|VIEW)[\w.]+)", rf"\1{suffix}", text)

"""No literal of a log that is followed leaves the program but masked, its checkpoint included."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.running import lineage
from tests.cli.test_secrets import DIGITS, LOG_COLUMNS, MARK, answers, check, log_rows, write_log

SESSION = (
    "SET search_path = mart",
    "CREATE TEMP TABLE held AS SELECT a, 'SECRETheld' AS b FROM t WHERE ssn = '918273641' -- SECRETnote",
    "CREATE TEMP TABLE kept AS SELECT a, encrypt(b, 'SECRETkey') AS b, regexp_replace(c, '918273643', '') AS c, "
    "j->>'id' AS d FROM crosstab('select a from t where ssn = ''SECRETinner''') AS p (a int, b int, c text, j json)",
    "INSERT INTO held SELECT a, 'SECRETcut FROM t WHERE card = 918273642",
)
GOES_ON = ("INSERT INTO v7 SELECT a, b FROM held WHERE b = 'SECRETlater'", "INSERT INTO v6 SELECT a FROM kept")


@pytest.mark.xdist_group("kafka")
@pytest.mark.usefixtures("spark")
def test_a_log_that_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its checkpoint holds what a micro-batch states and the statements of sessions that go on."""
    monkeypatch.chdir(tmp_path)
    landing, store, checkpoint = tmp_path / "landing", tmp_path / "s.db", tmp_path / "checkpoint"
    landing.mkdir()
    rows = log_rows()
    columns = (*LOG_COLUMNS, "session")
    for number, texts in enumerate((SESSION, GOES_ON)):
        opened = [(text, f"2026-01-01T0{number}:00:00Z", "ana", "success", "", "postgres", "s1") for text in texts]
        given = write_log(landing / f"{number}.csv", [*((*row, "") for row in rows[number::2]), *opened], columns)
        os.utime(given, (1_000_000 + number, 1_000_000 + number))
    (landing / "2.csv").write_text(f"one,two\n{MARK},{DIGITS}\n")
    done = lineage(
        *("ingest", "log", landing, "--source", "generic", "--once", "--at-once", "1"),
        *("--checkpoint", checkpoint, "--store", store),
    )
    assert "batch 1:" in done.err, done.err
    assert {path.suffix for path in checkpoint.iterdir()} >= {".stated", ".sessions"}
    assert lineage("root-cause", "mart.v7.a", "--store", store).code == 0
    check(tmp_path, done.out, done.err, *answers(store), besides=landing.iterdir())

"""The native engine against the reference, on text that nobody would write: not one result may differ.

`LINEAGE_FUZZ=100000` tries more.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator

import pytest

from lineage.model.dialects import DIALECTS
from lineage.sql.scan.implementation import PYTHON, ScanEngine, native_engine
from tests.sql.case_files import read_cases
from tests.sql.scan.twins import ENGINES
from tests.truth.compare import DATA, DEMO

COUNT = int(os.environ.get("LINEAGE_FUZZ", "2000"))
CHARACTERS = "ab1'\"`-/*#$q[](\\\n ;.E{}%:?&@~<>=,+xXrRnN_0é\u00a0\u2028\u212a😀\ud800"
WORDS = [
    *("VALUES", "(", ")", ",", "IN", "PIVOT", "'x'", "1", "-5", "NULL", "{{", "}}", "{%", "%}", "${a}", "##b##", ":c"),
    *("?", "BEGIN", "END", ";", "CASE", "WHEN", "SELECT", "WHERE", "DATE", "FOR", "INTERVAL", "\nGO\n", "\n/\n", "//"),
    *("\nDELIMITER", "$$", "JOIN", "ON", "NOT", "ARRAY", "<", ">", "[", "]", "BETWEEN", "AND", "LIMIT", "SET", "AS"),
    *("UPDATE", "q'[", "]'", "E'\\'", "r'\\'", "CREATE", "PROCEDURE", "DECLARE", "IF", "LOOP", "*", "=", "--", "\n"),
]


def test_the_native_engine_is_there_where_it_can_be_built() -> None:
    assert shutil.which("cargo") is None or native_engine() is not None, "run `make native`"


@pytest.fixture(scope="module")
def texts() -> list[str]:
    files = [*DATA.rglob("*.sql"), *DEMO.rglob("*.sql")]
    sql = [path.read_text(encoding="utf-8") for path in sorted(files)]
    return [*sql, *(case.sql for case in read_cases())]


def mutants(texts: list[str], count: int, seed: int) -> Iterator[str]:
    """Yield random characters, random words and pieces of real SQL with a few characters changed."""
    rng = random.Random(seed)
    words = [*WORDS * 20, *(word for text in rng.sample(texts, 60) for word in text.split())]
    for _ in range(count):
        chance = rng.random()
        if chance < 0.3:
            yield "".join(rng.choices(CHARACTERS, k=rng.randint(0, 60)))
        elif chance < 0.6:
            lead = rng.choice(["", "SELECT a FROM t WHERE ", "INSERT INTO t VALUES ", "CREATE PROCEDURE p AS "])
            yield lead + " ".join(rng.choices(words, k=rng.randint(0, 40)))
        else:
            text = rng.choice(texts)
            start = rng.randrange(len(text) + 1)
            text = text[start : start + rng.randint(0, 400)]
            for _ in range(rng.randint(0, 6)):
                place = rng.randrange(len(text) + 1)
                text = text[:place] + rng.choice(CHARACTERS) * rng.randint(0, 3) + text[place + rng.randint(0, 3) :]
            yield text


def results(engine: ScanEngine, text: str, dialect: str) -> tuple[object, ...]:
    return (
        engine.split_statements(text, dialect),
        engine.mask_literals(text, dialect),
        engine.mask_literals(text, dialect, True),
        engine.normal_form(text, dialect),
        engine.fingerprint(text, dialect),
        engine.nesting_depth(text, dialect),
    )


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_the_engines_agree(texts: list[str], dialect: str) -> None:
    seed = sorted(DIALECTS).index(dialect)
    for text in mutants(texts, COUNT // len(DIALECTS) + 1, seed):
        expected = results(PYTHON, text, dialect)
        for engine in ENGINES[1:]:
            assert results(engine, text, dialect) == expected, repr(text)


def test_the_engines_agree_on_real_sql(texts: list[str]) -> None:
    for number, text in enumerate(texts[::9]):  # the engine in Python takes a minute for all
        dialect = ("postgres", "bigquery")[number % 2]
        expected = results(PYTHON, text, dialect)
        for engine in ENGINES[1:]:
            assert results(engine, text, dialect) == expected, repr(text)

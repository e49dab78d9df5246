"""Statements of one fingerprint have one lineage: what a sample of a template says holds for all of them."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lineage import Catalog, extract_script
from lineage.sql.scan import fingerprint
from tests.sql.case_files import read_cases
from tests.truth.compare import DATA, DEMO

ROUNDS = int(os.environ.get("LINEAGE_FUZZ", "0")) // 1_000 or 3
_LITERAL = re.compile(r"'(?:[^'\\]|'')*'|(?<![\w.$@#])\d+(?:\.\d+)?(?![\w.])")
_OTHER_STRINGS = ("a", "zz", "", "2020-01-02", "it''s", "$.x", "a,b", "1", "[0]", "A%")
_OTHER_NUMBERS = ("0", "1", "2", "3", "7", "99", "1234567", "1.5")


def texts() -> Iterator[tuple[str, str, str, Catalog]]:
    """Yield names, texts, dialects and catalogs of all the SQL that the tests have."""
    for case in read_cases():
        yield case.name, case.sql, case.dialect, Catalog.from_dict(case.schemas, case.dialect)
    mimic = Catalog.from_ddl(DEMO / "create.sql", "postgres")
    for path in sorted(DEMO.glob("concepts/*/*.sql")):
        yield path.stem, path.read_text(encoding="utf-8"), "postgres", mimic
    for name, dialect in (("tpch", "duckdb"), ("tpcds", "spark")):
        catalog = Catalog.from_json(DATA / name / "schema.json", dialect)
        for path in sorted((DATA / name).glob("*.sql")):
            yield f"{name}/{path.stem}", path.read_text(encoding="utf-8"), dialect, catalog


def varied(sql: str, dialect: str, chance: random.Random) -> str:
    """Return the text with other literals of its dialect, now and then in another case and with comments around it."""
    quote = r"\'" if dialect == "bigquery" else "''"  # BigQuery: "String and bytes literals", escape sequences only

    def other(match: re.Match[str]) -> str:
        if chance.random() < 0.4:
            return match.group()
        if match.group()[0] != "'":
            return chance.choice(_OTHER_NUMBERS)
        return f"'{chance.choice(_OTHER_STRINGS).replace(chr(39) * 2, quote)}'"

    text = _LITERAL.sub(other, sql)
    if chance.random() < 0.3 and not re.search(r"['\"`$]", text):
        text = text.upper() if chance.random() < 0.5 else text.lower()
    return f"/* of {chance.random()} */ {text}\n-- the end\n" if chance.random() < 0.3 else text


def lineage(sql: str, dialect: str, catalog: Catalog) -> list[Any]:
    """Return what a text says, without the places."""
    return [
        (
            statement.operation,
            statement.target,
            sorted(set(statement.sources)),
            statement.output_columns,
            statement.completeness,
            sorted({str(edge._replace(span=None)) for edge in statement.edges}),
        )
        for statement in extract_script(sql, dialect, catalog)
    ]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_equal_fingerprints_mean_equal_lineage(seed: int) -> None:
    chance = random.Random(seed)
    same = 0
    for name, sql, dialect, catalog in texts():
        text = varied(sql, dialect, chance)
        if text == sql or fingerprint(text, dialect) != fingerprint(sql, dialect):
            continue
        same += 1
        assert lineage(text, dialect, catalog) == lineage(sql, dialect, catalog), (name, text)
    assert same > 200


VARIED = {
    "postgres": (
        "UPDATE t SET a = a + N, b = CASE WHEN c > N THEN S ELSE b || S END WHERE id = N",
        "INSERT INTO d SELECT x, DATE S, coalesce(y, N) + N, S FROM s GROUP BY 1, 2 ORDER BY 1",
        "CREATE VIEW v AS SELECT x AS y, S AS b, sum(a * N) OVER (ORDER BY substr(c, N, N)) AS z FROM s",
        "INSERT INTO d SELECT q.* FROM (SELECT y + N, S, left(z, N) FROM s) q",
    ),
    "mysql": (
        "INSERT INTO d SET a = N, b = S ON DUPLICATE KEY UPDATE a = a + N",
        "UPDATE t JOIN s ON t.id = s.id SET t.a = s.a * N, t.b = if(s.b = S, S, s.c)",
    ),
    "hive": ("INSERT OVERWRITE TABLE d PARTITION (day = S) SELECT a, round(b, N) FROM s",),
    "tsql": ("MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a + N, b = S;",),
}
"""Statements with places for numbers (N) and strings (S), each one template."""


@pytest.mark.parametrize(("dialect", "template"), [(d, text) for d, texts in VARIED.items() for text in texts])
def test_values_that_are_selected_and_written_make_no_template(dialect: str, template: str) -> None:
    chance = random.Random(template)

    def run() -> str:
        text = re.sub(r"\bN\b", lambda _: chance.choice(_OTHER_NUMBERS), template)
        return re.sub(r"\bS\b", lambda _: f"'{chance.choice(_OTHER_STRINGS)}'", text)

    catalog = Catalog.from_dict({}, dialect)
    runs = [run() for _ in range(20)]
    assert len({fingerprint(text, dialect) for text in runs}) == 1
    assert all(lineage(text, dialect, catalog) == lineage(runs[0], dialect, catalog) for text in runs)

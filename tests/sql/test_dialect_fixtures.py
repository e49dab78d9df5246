"""Odd and rare syntax of 14 dialects: no crash, no silence, and lineage wherever tables are named.

`python -m tests.sql.test_dialect_fixtures` prints how much of each dialect's statements is resolved.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage import extract_script
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.statement import Completeness, StatementLineage
from lineage.sql.scan import mask_literals

FIXTURES = Path(__file__).parents[1] / "data" / "dialect_fixtures"
DIALECTS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
OTHER_NAMES = {"sparksql": "spark"}
SLOWEST_FILE = 20.0
"""Seconds, on a machine that does other things as well; the slowest takes a tenth of one."""

# A table is named where a name stands behind one of these words, in a statement that moves data.
MOVES_DATA = re.compile(
    r"\s*\(*\s*(?:select|with|insert|update|delete|merge|truncate|replace|copy|create\s+(?:or\s+\w+\s+)?"
    r"(?:\w+\s+){0,2}(?:table|view)\b.*\bselect)\b",
    re.IGNORECASE | re.DOTALL,
)
NAMED = re.compile(
    r"\b(?:from|join|into|update|truncate\s+table)\s+(?:only\s+)?([a-z_`\"\[][\w$.`\"\]]*)(?!\s*[\w$.`\"\]]*\()",
    re.IGNORECASE,
)
NOT_A_NAME = re.compile(
    r"(?:select|values|unnest|lateral|table|where|set|on|with|json_table|xmltable|openrowset|outfile|current|statistics"
    r"|range_n|group|order|dual|files?)$",
    re.IGNORECASE,
)
WITHIN_A_CALL = re.compile(r"\b(?:extract|trim|substring|position|overlay|substr)\s*\([^()]*$", re.IGNORECASE)


def statements_of(dialect: str) -> Iterator[tuple[Path, str, StatementLineage]]:
    for path in sorted((FIXTURES / dialect).rglob("*.sql")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for statement in extract_script(text, OTHER_NAMES.get(dialect, dialect)):
            yield path, text, statement


def names_tables(sql: str, dialect: str) -> bool:
    """Return whether a statement names a table, told by its words alone."""
    plain = mask_literals(sql, OTHER_NAMES.get(dialect, dialect))
    if not MOVES_DATA.match(plain):
        return False
    for found in NAMED.finditer(plain):
        name = found.group(1)
        within = WITHIN_A_CALL.search(plain[: found.start()])
        is_cte = re.search(
            rf"(?:\bwith|,|\brecursive)\s+{re.escape(name)}\s*(?:\([^()]*\)\s*)?as\b", plain, re.IGNORECASE
        )
        if not NOT_A_NAME.match(name) and not within and not is_cte:
            return True
    return False


@pytest.mark.parametrize("dialect", DIALECTS)
def test_fixtures(dialect: str) -> None:
    silent, unexplained, broken = [], [], []
    for path, text, statement in statements_of(dialect):
        assert statement.span is not None
        sql = text[statement.span.start : statement.span.end]
        place = f"{path.name}:{statement.span.line} {' '.join(sql.split())[:90]}"
        if any(d.code is DiagnosticCode.INTERNAL_ERROR for d in statement.diagnostics):
            broken.append(f"{place} {statement.reason}")
        if statement.completeness is not Completeness.FULL and not statement.reason:
            unexplained.append(place)
        if statement.completeness is Completeness.NONE and names_tables(sql, dialect):
            silent.append(f"{place} {statement.reason}")
    assert broken == []
    assert unexplained == []
    assert silent == []


def test_no_file_takes_long() -> None:
    for dialect in DIALECTS:
        for path in sorted((FIXTURES / dialect).rglob("*.sql")):
            began = time.perf_counter()
            extract_script(path.read_text(encoding="utf-8", errors="replace"), OTHER_NAMES.get(dialect, dialect))
            assert time.perf_counter() - began < SLOWEST_FILE, path


def main() -> None:
    total: Counter[str] = Counter()
    for dialect in DIALECTS:
        counts = Counter(str(statement.completeness) for _, _, statement in statements_of(dialect))
        total += counts
        print(f"{dialect:<12}", *(f"{level} {counts[level]:>6}" for level in Completeness))
    print(f"{'all':<12}", *(f"{level} {total[level]:>6}" for level in Completeness))


if __name__ == "__main__":
    main()

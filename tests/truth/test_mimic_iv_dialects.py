"""The MIMIC-IV concepts as they are written for DuckDB and BigQuery: the lineage that they have in PostgreSQL.

Where it differs, `dialect_differences.json` says by which edges, and what in the text is the reason.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from lineage import Catalog, extract_script
from lineage.catalog.ddl import read_ddl
from lineage.model.dialects import dialect_named
from lineage.model.statement import ColumnRef, Edge
from tests.truth.compare import DATA, DEMO

DIFFERENCES = json.loads(Path(__file__).with_name("dialect_differences.json").read_text(encoding="utf-8"))
FOLDERS = {
    "postgres": DEMO / "concepts",
    "duckdb": DATA / "mimic_iv" / "duckdb",
    "bigquery": DATA / "mimic_iv" / "bigquery",
}
NAMES = sorted(path.relative_to(FOLDERS["postgres"]).as_posix() for path in FOLDERS["postgres"].glob("*/*.sql"))
PROJECT = "physionet-data"


@cache
def lineage_in(dialect: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Return the completeness and the edges of each file, without the parts of names that a dialect adds."""
    folder = FOLDERS[dialect]
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in NAMES}
    if dialect == "bigquery":  # each file is one SELECT, and named as its table
        ddl = read_ddl((DEMO / "create.sql").read_text(encoding="utf-8"), dialect_named("postgres"))
        tables = {f"{PROJECT}.{table.name}": [column.name for column in table.columns] for table in ddl}
        statements = extract_script(
            texts,
            dialect,
            Catalog.from_dict(tables, dialect),
            default_database=PROJECT,
            default_schema="mimiciv_derived",
        )
    else:
        statements = extract_script(texts, dialect, Catalog.from_ddl(DEMO / "create.sql", dialect))
    made = (s for s in statements if s.operation in ("CREATE_TABLE_AS", "SELECT"))
    return {s.source or "": (s.completeness, frozenset(map(_plain, s.edges))) for s in made}


def _plain(edge: Edge) -> str:
    table = (edge.source.table or "").rpartition(".")[2]
    target = edge.target.column if isinstance(edge.target, ColumnRef) else "*"
    arrow = "->" if edge.kind == "CONTRIBUTES" else "~>"
    marks = [edge.subtype, *(["masking"] if edge.masking else []), *(["limited"] if edge.limited else [])]
    return f"{table}.{edge.source.column} {arrow} {target} [{' '.join(marks)}]".lower()


@pytest.mark.parametrize("dialect", sorted(DIFFERENCES))
def test_the_same_files_are_resolved(dialect: str) -> None:
    found = lineage_in(dialect)
    assert sorted(found) == NAMES
    assert {name: completeness for name, (completeness, _) in found.items() if completeness != "full"} == {}


@pytest.mark.parametrize("dialect", sorted(DIFFERENCES))
def test_every_difference_is_explained(dialect: str) -> None:
    theirs, ours = lineage_in("postgres"), lineage_in(dialect)
    found = {
        name: (sorted(theirs[name][1] - ours[name][1]), sorted(ours[name][1] - theirs[name][1]))
        for name in NAMES
        if theirs[name][1] != ours[name][1]
    }
    explained = {
        name: tuple([edge.lower() for edge in one[key]] for key in ("only_postgres", "only_here"))
        for name, one in DIFFERENCES[dialect].items()
        if one["why"]
    }
    assert found == explained

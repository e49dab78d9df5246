"""Queries to make histories of: TPC-DS, TPC-H, MIMIC-IV, the cases, and a folder of the user's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lineage.sql.scan import split_statements
from tests.sql.case_files import read_cases

__all__ = ["Query", "queries_for"]

_DATA = Path(__file__).parents[1] / "data"
_DEMO = Path(__file__).parents[2] / "ingest" / "lineage_ingest" / "demo" / "mimic_iv" / "concepts"
_DEFINED = re.compile(r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW)\s+\S+\s+AS\b(.*)$", re.I | re.S)
_QUERY = re.compile(r"^\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*(?:SELECT|WITH)\b", re.I | re.S)


@dataclass(frozen=True)
class Query:
    """A query, SELECT or WITH, in a dialect."""

    sql: str
    dialect: str


def queries_for(dialect: str | None, folder: Path | None = None, longest: int = 6_000) -> list[list[Query]]:
    """Return groups of queries of at most `longest` characters, for a log in one dialect or (None) in several.

    The groups are to be drawn from in equal parts. TPC-DS and TPC-H, which are as good as standard SQL, stand in for
    dialects that have little of their own.
    """
    groups = [
        list(_files([_DATA / "tpcds", _DATA / "tpch"], "spark")),
        [
            *_files([_DEMO], "postgres"),
            *_files([_DATA / "mimic_iv" / "duckdb"], "duckdb"),
            *_files([_DATA / "mimic_iv" / "bigquery"], "bigquery"),
        ],
        [Query(case.sql, case.dialect) for case in read_cases() if case.dialect not in ("any", "ansi")],
        list(_folder(folder)) if folder else [],
    ]
    kept = [[q for q in group if _QUERY.match(q.sql) and len(q.sql) <= longest] for group in groups]
    if dialect is not None:
        standard = [Query(q.sql, dialect) for q in kept[0]]
        kept = [standard, *([q for q in group if q.dialect == dialect] for group in kept[1:])]
    return [group for group in kept if group]


def _files(folders: list[Path], dialect: str) -> Iterator[Query]:
    for file in (file for folder in folders for file in sorted(folder.rglob("*.sql"))):
        text = file.read_text(encoding="utf-8")
        for start, end in split_statements(text, dialect):
            statement = text[start:end]
            defined = _DEFINED.match(statement)
            yield Query((defined[1] if defined else statement).strip(), dialect)


def _folder(folder: Path) -> Iterator[Query]:
    """Yield the queries of JSON lines with `sql` (T-SQL, if they name no `dialect`) and of files DIALECT/*.sql."""
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Query(row["sql"].strip(), row.get("dialect", "tsql"))
    for inside in sorted(p for p in folder.iterdir() if p.is_dir()):
        yield from _files([inside], inside.name)

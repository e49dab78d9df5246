"""Statements whose column lineage is known from somebody else: a database, or an engine."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import duckdb

from lineage.sql.scan import split_statements
from tests.truth.compare import DATA, DEMO, read_truth

__all__ = ["ALL", "Corpus", "Statement", "corpora"]

ALL = "*"
"""As an ignored column: all that the truth does not list."""

Schema: TypeAlias = "dict[str, dict[str, str]]"

_PARTITION = re.compile(r"\bPARTITION\s*\(([^)]*)\)", re.IGNORECASE)
_JUDGED = Path(__file__).parents[2] / "truth" / "hive_differences.json"
_PROJECT = "physionet-data"
_IN_BIGQUERY = {
    "BIGINT": "INT64",
    "INTEGER": "INT64",
    "SMALLINT": "INT64",
    "DOUBLE": "FLOAT64",
    "FLOAT": "FLOAT64",
    "DECIMAL": "NUMERIC",
    "VARCHAR": "STRING",
    "BOOLEAN": "BOOL",
    "TIMESTAMP": "DATETIME",
    "TIMESTAMP_S": "DATETIME",
    "TIMESTAMP_MS": "DATETIME",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in the forms that tools take, with the sources that each of its output columns must and may have.

    `sql` is the statement as its corpus has it, `query` its query alone, `write` writes the query to a table. `ignored`
    are output columns of which the truth says nothing. `schema` has the tables that it may read and write.
    """

    name: str
    sql: str
    query: str
    write: str
    schema: Schema
    must: dict[str, frozenset[str]]
    may: dict[str, frozenset[str]]
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Corpus:
    """Statements of one dialect, and who says what their lineage is."""

    name: str
    title: str
    dialect: str
    truth: str
    statements: tuple[Statement, ...] = field(repr=False)


def corpora() -> tuple[Corpus, ...]:
    """Return all of them."""
    return (
        *(_mimic_iv(dialect) for dialect in ("postgres", "duckdb", "bigquery")),
        _tpch(),
        _tpcds(),
        _hive(),
    )


def _mimic_iv(dialect: str) -> Corpus:
    """The truth is PostgreSQL's; where a text says something else than PostgreSQL's, only references differ.

    `tests/truth/test_mimic_iv_dialects.py` checks that.
    """
    titles = {"postgres": "PostgreSQL", "duckdb": "DuckDB", "bigquery": "BigQuery"}
    prefix = f"{_PROJECT}." if dialect == "bigquery" else ""
    schema = {f"{prefix}{name}": columns for name, columns in _mimic_iv_tables(dialect == "bigquery").items()}
    truth = read_truth("mimic_iv")
    folder = DEMO / "concepts" if dialect == "postgres" else DATA / "mimic_iv" / dialect
    statements = []
    for name, columns in truth.items():
        text = (folder / name).read_text(encoding="utf-8")
        if dialect == "bigquery":
            sql = query = text.strip().rstrip(";")
            write = f"CREATE TABLE `{prefix}mimiciv_derived.{Path(name).stem}` AS\n{query}"
        else:
            parts = (text[start:end] for start, end in split_statements(text, dialect))
            sql = write = next(part for part in parts if part.startswith("CREATE TABLE"))
            query = write.partition(" AS\n")[2]
        statements.append(_statement(name, sql, query, write, schema, columns))
    title = f"MIMIC-IV, {titles[dialect]}"
    return Corpus(f"mimic_iv_{dialect}", title, dialect, "PostgreSQL's analysed parse tree", tuple(statements))


@cache
def _mimic_iv_tables(in_bigquery: bool) -> Schema:
    """Return the columns of the base and the derived tables, made by DuckDB, with its types or BigQuery's."""
    database = duckdb.connect()
    database.execute((DEMO / "create.sql").read_text(encoding="utf-8"))
    left = [path.read_text(encoding="utf-8") for path in sorted((DATA / "mimic_iv" / "duckdb").glob("*/*.sql"))]
    while left:
        texts, left = left, []
        for text in texts:
            try:
                database.execute(text)
            except duckdb.CatalogException:  # it reads a table that is not made yet
                left.append(text)
        assert len(left) < len(texts)
    found: Schema = {}
    listed = "SELECT table_schema || '.' || table_name, column_name, data_type FROM information_schema.columns"
    for table, column, data_type in database.execute(f"{listed} ORDER BY table_name, ordinal_position").fetchall():
        plain = data_type.partition("(")[0]
        found.setdefault(table, {})[column] = _IN_BIGQUERY.get(plain, plain) if in_bigquery else data_type
    return found


def _tpch() -> Corpus:
    schema = json.loads((DATA / "tpch" / "schema.json").read_text(encoding="utf-8"))
    statements = []
    for key, columns in read_truth("tpch").items():
        number = key.removeprefix("tpch_q")
        text = (DATA / "tpch" / f"{number}.sql").read_text(encoding="utf-8").strip().rstrip(";")
        # The file leaves this sum unnamed where the standard query, whose truth this is, names it.
        if number == "18":
            text = text.replace("sum(l_quantity)\nfrom", "sum(l_quantity) as total_quantity\nfrom")
        statements.append(_statement(f"q{number}", text, text, f"CREATE TABLE result AS\n{text}", schema, columns))
    return Corpus("tpch", "TPC-H, Spark", "spark", "PostgreSQL's analysed parse tree", tuple(statements))


def _tpcds() -> Corpus:
    """Columns that the text does not name have names of Spark's own, with brackets: they are left out."""
    schema = json.loads((DATA / "tpcds" / "schema.json").read_text(encoding="utf-8"))
    statements = []
    for name, columns in read_truth("tpcds").items():
        text = (DATA / "tpcds" / f"{name}.sql").read_text(encoding="utf-8").strip().rstrip(";")
        named = {column: sources for column, sources in columns.items() if "(" not in column}
        one = _statement(name, text, text, f"CREATE TABLE result AS\n{text}", schema, named)
        statements.append(one if named == columns else replace(one, ignored=frozenset({ALL})))
    return Corpus("tpcds", "TPC-DS, Spark", "spark", "Spark's analysed plan", tuple(statements))


def _statement(
    name: str, sql: str, query: str, write: str, schema: Schema, columns: dict[str, dict[str, list[str]]]
) -> Statement:
    must = {column: frozenset(sources["must"]) for column, sources in columns.items()}
    may = {column: frozenset(sources["may"]) for column, sources in columns.items()}
    return Statement(name, sql, query, write, schema, must, may)


def _hive() -> Corpus:
    """Hive's own answers, except where a difference was judged: there the text's sources and Hive's may be given."""
    judged: dict[str, list[str]] = {}
    for cause in json.loads(_JUDGED.read_text(encoding="utf-8")).values():
        if cause["right"] == "we":
            judged |= cause["statements"]
    numbers: Counter[str] = Counter()
    statements = []
    for line in (DATA / "hive_lineage" / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        file = one["file"].removesuffix(".q.out")
        numbers[file] += 1
        name, sql = f"{file} {numbers[file]}", one["sql"]
        must = {column.lower(): {s.lower() for s in sources} for column, (_, sources) in one["truth"].items()}
        may: dict[str, set[str]] = {column: set() for column in must}
        ignored = {  # Hive writes no lineage for partition columns
            item.split("=")[0].strip(" `\n").lower() for group in _PARTITION.findall(sql) for item in group.split(",")
        }
        for said in judged.get(name, ()):
            column, _, rest = said.partition(": ")
            if not rest:
                ignored.add(said.removesuffix(" is not a target"))
                continue
            source = rest.partition(" is ")[0]
            must[column].discard(source)
            may[column].add(source)
        statements.append(
            Statement(
                name,
                sql,
                sql,
                sql,
                one["schema"],
                {column: frozenset(sources) for column, sources in must.items()},
                {column: frozenset(sources) for column, sources in may.items()},
                frozenset(ignored),
            )
        )
    return Corpus("hive", "Apache Hive's tests", "hive", "Hive's own lineage, judged", tuple(statements))

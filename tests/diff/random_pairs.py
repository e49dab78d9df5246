"""`python -m tests.diff.random_pairs N [--seed S]`: do random queries with equal canonical forms return the same?

N pairs of a random query (those of `tests/soundness`) and one that differs by a few edits: a name, a prefix, a
constant, a clause. Both run on DuckDB over small random tables. Columns that the canonical form calls the same, in
rows that it calls the same, must be equal. Exit status: 0 no failure, 1 failures.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import duckdb
import sqlglot
from sqlglot import exp

from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.sql.canonical.definition import read_sql
from lineage.sql.canonical.forms.table_form import Stability, TableForm, base_table
from tests.diff.edits import TREE_EDITS
from tests.soundness.generator import random_statement
from tests.soundness.render import query_text
from tests.soundness.tree import TABLES

__all__ = ["PairCampaign", "run_pairs"]

_NAMING = Naming(dialect_named("duckdb"))
_BASE = {name: base_table(name, [(column, None) for column in columns]) for name, columns in TABLES.items()}
_TYPES = {"int": "INTEGER", "text": "VARCHAR", "bool": "BOOLEAN", "list": "INTEGER[]"}
_VALUES = {"int": "0 1 2 3 5 NULL", "text": "'1' '12' 'x' 'X' '' NULL", "bool": "true false NULL",
           "list": "[1,2] [3] [] [2,0,1] NULL"}  # fmt: skip
_SECONDS_MAX_ROWS = 5_000


@dataclass
class PairCampaign:
    """Counts of pairs: equal forms in all columns, in some, in none, and those that DuckDB refuses."""

    pairs: int = 0
    refused: int = 0
    equal: int = 0
    partly: int = 0
    differing_results: int = 0
    failures: list[str] = field(default_factory=list)
    by_edit: Counter[str] = field(default_factory=Counter)


def run_pairs(pairs: int, seed: int, *, progress: bool = False) -> PairCampaign:
    """Compare random pairs of queries."""
    found = PairCampaign()
    rng = random.Random(seed)
    connections = [_laboratory(random.Random(f"{seed}/{number}")) for number in range(3)]
    number = 0
    while found.pairs < pairs:
        number += 1
        statement = random_statement(f"{seed}/{number}")
        if statement.temporaries:
            continue
        tree = sqlglot.parse_one(query_text(statement), dialect="duckdb")
        one = tree.sql(dialect="duckdb")
        done = list(_edit(rng, tree))
        other = tree.sql(dialect="duckdb")
        if not done or one == other:
            continue
        results = [(_run(connection, one), _run(connection, other)) for connection in connections]
        if any(None in result for result in results):
            found.refused += 1
            continue
        found.pairs += 1
        _compare(found, f"seed {seed}, query {number} ({', '.join(done)})", one, other, results)
        if progress and found.pairs % 500 == 0:
            print(f"{found.pairs:,} pairs, {len(found.failures)} failures", file=sys.stderr)
    return found


def _edit(rng: random.Random, tree: exp.Expr) -> Iterator[str]:
    edits = {**TREE_EDITS, **_NAME_EDITS}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(sorted(edits))
        try:
            if edits[name](rng, tree):
                yield name
        except (AttributeError, ValueError, TypeError):  # an edit for simpler trees
            return


def _laboratory(rng: random.Random) -> duckdb.DuckDBPyConnection:
    # A query of some joins may want gigabytes: beyond the limit it is refused. Nothing is written to disk instead.
    limits: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": "256MB",
        "temp_directory": "",
    }
    connection = duckdb.connect(config=limits)
    for table, columns in TABLES.items():
        listed = ", ".join(f"{name} {_TYPES[kind]}" for name, kind in columns.items())
        connection.execute(f"CREATE TABLE {table} ({listed})")
        rows = ", ".join(
            f"({', '.join(rng.choice(_VALUES[kind].split()) for kind in columns.values())})"
            for _ in range(rng.randint(3, 6))
        )
        connection.execute(f"INSERT INTO {table} VALUES {rows}")
    return connection


_Result = tuple[list[str], list[tuple[object, ...]]]


def _run(connection: duckdb.DuckDBPyConnection, sql: str) -> _Result | None:
    try:
        result = connection.execute(sql)
        names = [str(one[0]).lower() for one in result.description or []]
        rows = result.fetchmany(_SECONDS_MAX_ROWS)
    except duckdb.Error:
        return None
    return (names, rows) if len(rows) < _SECONDS_MAX_ROWS else None


def _form(sql: str) -> TableForm:
    return read_sql(sql, _NAMING.dialect).canonical(_NAMING, _BASE.get, ())


def _compare(
    found: PairCampaign, label: str, one: str, other: str, results: list[tuple[_Result | None, _Result | None]]
) -> None:
    forms = _form(one), _form(other)
    differ = any(before != after for before, after in results)
    found.differing_results += differ
    if forms[0].rows != forms[1].rows or forms[0].stability is not Stability.STABLE:
        return
    names = [name for name, value in forms[0].columns
             if value.stability is Stability.STABLE and "\x00" not in name and forms[1].find(name) == value
             and forms[0].find(name) is not None]  # fmt: skip
    found.equal += len(names) == len(forms[0].columns) == len(forms[1].columns)
    found.partly += len(names) < len(forms[0].columns)
    for before, after in results:
        if before is None or after is None:
            continue
        projected = [_project(result, names) for result in (before, after)]
        if projected[0] != projected[1]:
            found.failures.append(f"{label}: {', '.join(names)} or the rows differ\n  {one}\n  {other}")
            return


def _project(result: _Result, names: list[str]) -> Counter[tuple[str, ...]] | None:
    numbers = [result[0].index(name) for name in names if result[0].count(name) == 1]
    return Counter(tuple(repr(row[at]) for at in numbers) for row in result[1]) if len(numbers) == len(names) else None


# Edits of names, which keep the text alike and change what it means


def _columns(tree: exp.Expr) -> list[exp.Column]:
    return [one for one in tree.find_all(exp.Column) if isinstance(one.this, exp.Identifier)]


def _other_column(rng: random.Random, tree: exp.Expr) -> bool:
    columns = _columns(tree)
    if len(columns) < 2:
        return False
    one, other = rng.sample(columns, 2)
    one.replace(other.copy())
    return True


def _other_name(rng: random.Random, tree: exp.Expr) -> bool:
    columns = _columns(tree)
    if not columns:
        return False
    rng.choice(columns).set("this", exp.to_identifier(rng.choice(["id", "a", "b", "c", "d", "e", "k", "n", "p", "s"])))
    return True


def _without_prefix(rng: random.Random, tree: exp.Expr) -> bool:
    columns = [one for one in _columns(tree) if one.table]
    if not columns:
        return False
    rng.choice(columns).set("table", None)
    return True


def _other_prefix(rng: random.Random, tree: exp.Expr) -> bool:
    columns = [one for one in _columns(tree) if one.table]
    if len(columns) < 2:
        return False
    one, other = rng.sample(columns, 2)
    one.set("table", other.args["table"].copy())
    return True


def _swap_tables(rng: random.Random, tree: exp.Expr) -> bool:
    tables = list(tree.find_all(exp.Table))
    if len(tables) < 2:
        return False
    one, other = rng.sample(tables, 2)
    first, second = one.this.copy(), other.this.copy()
    one.set("this", second)
    other.set("this", first)
    return True


def _swap_aliases(rng: random.Random, tree: exp.Expr) -> bool:
    aliases = list(tree.find_all(exp.TableAlias))
    if len(aliases) < 2:
        return False
    one, other = rng.sample(aliases, 2)
    first, second = one.this.copy(), other.this.copy()
    one.set("this", second)
    other.set("this", first)
    return True


def _swap_output_names(rng: random.Random, tree: exp.Expr) -> bool:
    aliases = list(tree.find_all(exp.Alias))
    if len(aliases) < 2:
        return False
    one, other = rng.sample(aliases, 2)
    first, second = one.args["alias"].copy(), other.args["alias"].copy()
    one.set("alias", second)
    other.set("alias", first)
    return True


def _rename_output(rng: random.Random, tree: exp.Expr) -> bool:
    aliases = list(tree.find_all(exp.Alias))
    if not aliases:
        return False
    rng.choice(aliases).set("alias", exp.to_identifier(rng.choice(["a", "b", "id", "s"])))
    return True


def _swap_arguments(rng: random.Random, tree: exp.Expr) -> bool:
    found = [one for one in tree.find_all(exp.Binary) if isinstance(one.args.get("expression"), exp.Expr)]
    if not found:
        return False
    node = rng.choice(found)
    left, right = node.this.copy(), node.args["expression"].copy()
    node.set("this", right)
    node.set("expression", left)
    return True


_NAME_EDITS: dict[str, Callable[[random.Random, exp.Expr], bool]] = {
    one.__name__.strip("_").replace("_", " "): one
    for one in (_other_column, _other_name, _without_prefix, _other_prefix, _swap_tables, _swap_aliases,
                _swap_output_names, _rename_output, _swap_arguments)
}  # fmt: skip


def main() -> int:
    """Compare the pairs that the command line asks for, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.diff.random_pairs", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("pairs", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same seed gives the same pairs")
    options = parser.parse_args()
    found = run_pairs(options.pairs, options.seed, progress=True)
    for failure in found.failures[:20]:
        print(failure)
    print(f"{found.pairs:,} pairs ({found.refused:,} more were refused by the database)")
    print(f"results that differ: {found.differing_results:,}; forms equal: {found.equal:,}, in part: {found.partly:,}")
    print(f"called the same and not the same: {len(found.failures):,}")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())

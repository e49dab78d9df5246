"""TPC-H and TPC-DS at tiny scale on DuckDB: each column that a query names is changed, and the output compared.

Values are drawn from the constants that the query compares with, so that its predicates sometimes hold. The queries
are Spark's; for running alone they are transpiled to DuckDB's SQL.

`python -m tests.soundness.tpc` runs every query over many contents and writes `untriggered.txt`: the edges that no
change of an input ever showed, for reading by hand.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from itertools import chain, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from lineage import Catalog, extract
from lineage.model.influence.transformations import Subtype
from lineage.model.statement import ColumnRef, Edge, StatementLineage
from tests.soundness.check import Finding, Reach, missed
from tests.soundness.experiment import WAYS, Change, Laboratory, Outcome, RejectedError

__all__ = ["UNTRIGGERED", "Tried", "catalog_of", "query_files", "schema_of", "try_query"]

DATA = Path(__file__).parents[1] / "data"
UNTRIGGERED = Path(__file__).with_name("untriggered.txt")
_TYPES = {"bigint": "BIGINT", "int": "INTEGER", "double": "DOUBLE", "string": "VARCHAR"}
_ISO_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
_NUMBER = re.compile(r"\d+(\.\d+)?")
_DATES = (date(1998, 3, 1), date(2000, 2, 1))


@dataclass(slots=True)
class Tried:
    """What the experiments with one statement showed: what was missed, and which edges were never triggered."""

    name: str
    finding: Finding | None = None
    rejected: str | None = None
    runs: int = 0
    edges: dict[str, bool] = field(default_factory=dict)
    """Edges that a change of rows or values can show, and whether one did."""


def query_files() -> list[Path]:
    """Return the files of both sets."""
    return [*sorted((DATA / "tpch").glob("*.sql")), *sorted((DATA / "tpcds").glob("*.sql"))]


def try_query(path: Path, contents: int, ways: int | None = None, tries: int = 0) -> list[Tried]:
    """Return what the experiments over so many random contents of the tables show, for each statement of a file.

    With `tries`, contents over which the query finds nothing are passed over, until so many were drawn.
    """
    schema = schema_of(path.parent.name)
    statements = extract(path.read_text(encoding="utf-8"), "spark", catalog_of(path.parent.name))
    trees = [tree for tree in sqlglot.parse(path.read_text(encoding="utf-8"), read="spark") if tree is not None]
    found = []
    for number, (lineage, tree) in enumerate(zip(statements, trees, strict=True)):
        name = f"{path.parent.name}/{path.stem}" + (f" ({number + 1})" if len(trees) > 1 else "")
        found.append(_try_statement(name, lineage, tree, schema, contents, ways, tries))
    return found


def _try_statement(
    name: str,
    lineage: StatementLineage,
    tree: exp.Expr,
    schema: dict[str, dict[str, str]],
    contents: int,
    ways: int | None,
    tries: int,
) -> Tried:
    tried = Tried(name, edges={_key(edge): False for edge in lineage.edges if _shows(edge)})
    named = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
    used = {
        table: {column: _type(column, kind) for column, kind in schema[table].items() if column in named}
        for table in sorted(lineage.sources)
    }
    used = {table: columns or {next(iter(schema[table])): "BIGINT"} for table, columns in used.items()}
    text = _runnable(tree)
    reach = Reach.of(lineage)
    constants = _constants(tree)
    dates = [date.fromisoformat(text) for text in sorted(set(_ISO_DATE.findall(text)))] or list(_DATES)
    left = contents
    for content in range(max(contents, tries)):
        rng = random.Random(f"{name}/{content}")
        domains = {
            (t, c): _domain(kind, constants[c], dates, rng)
            for t, columns in used.items()
            for c, kind in columns.items()
        }
        laboratory = Laboratory(used, domains, rng, rows=10, optimised=True)
        try:
            if tries and not _finds_something(laboratory.run([text])):
                continue
            left -= 1
            _change_each(tried, text, used, laboratory, reach, lineage.output_columns, ways)
        except RejectedError as error:
            tried.rejected = str(error)
        finally:
            tried.runs += laboratory.runs
            laboratory.close()
        if not left or tried.finding or tried.rejected or all(tried.edges.values()):
            break
    return tried


def _finds_something(outcome: Outcome) -> bool:
    """Return whether a result has a value at all; a sum over nothing has none."""
    return any(value is not None and value != 0 for row in outcome.rows for value in row)


def _change_each(
    tried: Tried,
    text: str,
    used: dict[str, dict[str, str]],
    laboratory: Laboratory,
    reach: Reach,
    names: list[str],
    ways: int | None,
) -> None:
    before = laboratory.run([text])
    for table, columns in used.items():
        for column in columns:
            source = f"{table}.{column}"
            for way in WAYS[:ways]:
                try:
                    change = Change.between(before, laboratory.run([text], changes={(table, column): way}))
                except RejectedError:
                    continue
                if change is None:
                    continue
                if not reach.covers(source, change, names):
                    run = ([text], (), None)
                    tried.finding = missed(laboratory, run, (table, column, way), before, reach, names)
                    if tried.finding is not None:
                        return
                _note(tried, source, change, names)


def _note(tried: Tried, source: str, change: Change, names: list[str]) -> None:
    """Mark the edges from a source that a change shows."""
    shown = [f"{source} * rows", *(f"{source} {names[position]}" for position in change.columns)]
    for key in shown:
        if key in tried.edges:
            tried.edges[key] = True


def _key(edge: Edge) -> str:
    return f"{edge.source} {edge.target.column}" if isinstance(edge.target, ColumnRef) else f"{edge.source} * rows"


def _shows(edge: Edge) -> bool:
    """Return whether an edge can change rows or values: an order alone changes neither."""
    return edge.subtype is not Subtype.SORT or edge.limited or isinstance(edge.target, ColumnRef)


def _runnable(tree: exp.Expr) -> str:
    """Return DuckDB's text of a query; `+` between strings, which q84 writes for `||`, is no sum there."""
    runnable = tree.copy()
    for node in reversed(list(runnable.find_all(exp.Add))):  # the inner ones first
        if any(isinstance(side, exp.DPipe) or side.is_string for side in (node.left, node.right)):
            node.replace(exp.DPipe(this=node.left.copy(), expression=node.right.copy()))
    return runnable.sql(dialect="duckdb")


@cache
def schema_of(folder: str) -> dict[str, dict[str, str]]:
    """Return the tables of a set, their columns and types."""
    schema: dict[str, dict[str, str]] = json.loads((DATA / folder / "schema.json").read_text(encoding="utf-8"))
    return schema


def catalog_of(folder: str) -> Catalog:
    """Return the tables of a set as a catalog."""
    return Catalog.from_dict({table: list(columns) for table, columns in schema_of(folder).items()}, "spark")


def _type(column: str, kind: str) -> str:
    return "DATE" if column.endswith("date") else _TYPES[kind]


@dataclass(slots=True)
class _Constants:
    """What a query compares a column with: values that satisfy a comparison, and all that are named in one."""

    fitting: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)


def _constants(tree: exp.Expr) -> dict[str, _Constants]:
    """Return the literals that a query compares each column with."""
    found: dict[str, _Constants] = defaultdict(_Constants)
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between, exp.Like):
        literals = [literal.name for literal in node.find_all(exp.Literal)]
        for column in node.find_all(exp.Column):
            constants = found[column.name.lower()]
            constants.named.extend(literals)
            if isinstance(node, exp.EQ | exp.GTE | exp.LTE | exp.In | exp.Between | exp.Like):
                constants.fitting.extend(literals)
    return found


def _domain(kind: str, constants: _Constants, dates: list[date], rng: random.Random) -> list[Any]:
    """Return the values of a column: one that may satisfy the query three times in four, and what lies beside it.

    Keys, which are compared with no constant, are mostly 1, so that tables meet.
    """
    fitting: list[Any]
    others: list[Any]
    if kind == "VARCHAR":
        texts = [[c.replace("%", "a").replace("_", "a") for c in cs] for cs in (constants.fitting, constants.named)]
        fitting, others = texts[0] or ["aa"], [*texts[1][:6], "aa", "b"]
    elif kind == "DATE":
        fitting = [day + timedelta(days=rng.choice((-120, -10, 0, 1, 10, 40))) for day in dates]
        others = [day + timedelta(days=rng.choice((-200, -40, -1, 40, 200))) for day in dates for _ in range(2)]
    else:
        numbers = [float(c) for c in constants.fitting if _NUMBER.fullmatch(c)]
        named = [float(c) for c in constants.named if _NUMBER.fullmatch(c)][:5]
        between = [(a + b) / 2 for a, b in pairwise(numbers)]
        fitting = [*numbers, *between] or [1.0]
        others = [*named, *(number + rng.choice((-1, 1)) for number in named)] or [1.0, 2.0, 3.0]
        if kind != "DOUBLE":
            fitting, others = [int(n) for n in fitting], [int(n) for n in others]
    favourite = rng.choice(fitting)
    return [*others, None, *([favourite] * (3 * len(others) + 3))]


def _untriggered() -> Iterator[str]:
    yield "# Edges of the TPC queries that no experiment triggered: for reading by hand. Made by"
    yield "# `python -m tests.soundness.tpc`; an order that no LIMIT makes matter is not among them."
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for tried in chain.from_iterable(pool.map(_long_try, query_files())):
            state = tried.rejected or (str(tried.finding) if tried.finding else "")
            print(
                f"{tried.name}: {sum(tried.edges.values())} of {len(tried.edges)} edges triggered {state}",
                file=sys.stderr,
                flush=True,
            )
            never = [key for key, triggered in tried.edges.items() if not triggered]
            if tried.rejected:
                yield f"\n{tried.name}: not run: {tried.rejected}"
            elif never:
                yield f"\n{tried.name}: {len(never)} of {len(tried.edges)}"
                yield from (f"  {key}" for key in sorted(never))


def _long_try(path: Path) -> list[Tried]:
    return try_query(path, contents=4, ways=1, tries=30)


if __name__ == "__main__":
    UNTRIGGERED.write_text("\n".join(_untriggered()) + "\n", encoding="utf-8")

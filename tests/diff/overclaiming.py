"""`python -m tests.diff.overclaiming N [--seed S]`: which columns does `lineage diff` call changed that are the same?

N edits of warehouses whose views call functions, each at least once: those of DuckDB's and PostgreSQL's own catalogues.
Every edit has its own view, and a second one that reads it. The engine runs both before and after the edit. Printed by
engine and kind of edit: columns that are called changed, those of them that contain the same, and columns that contain
something else though they are called the same (missed). What the engine returns otherwise each time is not counted.

`--keep FOLDER` leaves the views there, as `ENGINE/base`, `ENGINE/head` and `ENGINE/same.json` (whether each column
contains the same), for a comparison with another version. Exit status: 0 if nothing was missed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import psycopg

from lineage_ingest import RevisionOptions, diff_revisions
from tests.diff.function_catalogue import VALUES, duckdb_catalogue, postgres_catalogue
from tests.live_database.postgres_database import new_database
from tests.query_logs.servers.postgres_server import running_postgres

__all__ = ["Claims", "claims_of", "duckdb_engine", "make_edits"]

Views = dict[str, str]
"""The queries of views by name, each after what it reads."""
_Contents = dict[str, dict[str, tuple[str, Counter[str]]]]
"""What views contain: the type and the values of each column."""
_LEFT_OUT = ("error", "sleep_ms", "pg_sleep", "pg_sleep_for", "pg_sleep_until")


class Engine(NamedTuple):
    """A database: its dialect, calls of its functions with what they are, and how views are evaluated in it."""

    dialect: str
    calls: list[tuple[str, str]]
    evaluate: Callable[[Views], _Contents | None]


class Claims(NamedTuple):
    """Numbers of columns: called changed; of these, the same; called the same and different."""

    changed: int = 0
    too_much: int = 0
    missed: int = 0

    def __add__(self, other: object) -> Claims:
        assert isinstance(other, Claims)
        return Claims(*(one + another for one, another in zip(self, other, strict=True)))


class Edit(NamedTuple):
    """Views before and after an edit, and which of their columns contain the same."""

    kind: str
    call: str
    before: Views
    after: Views
    same: dict[str, bool]


def _scalar_views(call: str) -> dict[str, tuple[Views, Views]]:
    view = {"v": f"SELECT id, {call} AS x, b AS y, c FROM t"}
    reader = {"r": "SELECT id, x, y, c FROM v WHERE id > 1"}
    joined = {"r": "SELECT t.id, t.c AS z, v.x, v.y FROM t LEFT JOIN v ON v.id = t.id"}
    through = {"u": "SELECT id, b, c, p.* FROM t AS p", "v": f"SELECT id, {call} AS x, b AS y, c FROM u", **reader}
    found_once = {
        "v": f"SELECT id, max(b) AS y, min(c) AS c, count(*) AS x FROM (SELECT id, b, c, {call} AS f FROM t) AS q "
        "GROUP BY id",
        **joined,
    }
    return {
        "a value beside it": ({**view, **reader}, {"v": view["v"].replace("b AS y", "b + 1 AS y"), **reader}),
        "a column beside it": ({**view, **reader}, {"v": view["v"].replace(", c FROM", ", c, b AS z FROM"), **reader}),
        "a value that it does not read": (
            {**through, "u": _upstream("b")}, {**through, "u": _upstream("b + 1")},
        ),
        "a value in a view that is joined": (
            {**view, **joined}, {"v": view["v"].replace("b AS y", "b * 2 AS y"), **joined},
        ),
        "a condition in a view that is looked up": (
            found_once, {**found_once, "v": found_once["v"].replace("FROM t)", "FROM t WHERE b > 1)")},
        ),
        "formatting": ({**view, **reader}, {"v": f"/* one */ {view['v'].replace('FROM t', 'FROM t AS q')}", **reader}),
    }  # fmt: skip


def _upstream(value: str) -> str:
    return f"SELECT id, {value} AS b, c, {{columns}} FROM t"


def _aggregate_views(call: str) -> dict[str, tuple[Views, Views]]:
    view = {"v": f"SELECT c, {call} AS x, sum(b) AS y FROM t GROUP BY c"}
    reader = {"r": "SELECT c, x, y FROM v WHERE c > 0"}
    joined = {"r": "SELECT t.id, t.b AS z, v.x, v.y FROM t LEFT JOIN v ON v.c = t.c"}
    return {
        "a value beside it": ({**view, **reader}, {"v": view["v"].replace("sum(b)", "sum(b + 1)"), **reader}),
        "a column beside it": ({**view, **reader}, {"v": view["v"].replace(" FROM", ", max(id) AS z FROM"), **reader}),
        "a value in a view that is joined": (
            {**view, **joined}, {"v": view["v"].replace("sum(b)", "sum(b) * 2"), **joined},
        ),
        "a condition in a view that is looked up": (
            {**view, **joined}, {"v": view["v"].replace("FROM t", "FROM t WHERE id > 1"), **joined},
        ),
        "formatting": ({**view, **reader}, {"v": view["v"].replace("GROUP BY c", "/* by */ GROUP BY 1"), **reader}),
    }  # fmt: skip


def make_edits(engine: Engine, wanted: int, seed: int) -> Iterator[Edit]:
    """Yield edits beside the calls of an engine, each call at least once if there are enough of them."""
    rng = random.Random(seed)
    calls = list(engine.calls)
    rng.shuffle(calls)
    columns = ", ".join(f"p_{number}" for number in range(len(VALUES[engine.dialect])))
    made = 0
    for turn in itertools.count():
        made_before = made
        for number, (what, call) in enumerate(calls):
            kinds = _aggregate_views(call) if what == "aggregate" else _scalar_views(call)
            if turn >= len(kinds) or made >= wanted:
                continue
            kind = list(kinds)[(turn + number) % len(kinds)]
            before, after = ({name: sql.replace("{columns}", columns).replace("p.*", columns)
                              for name, sql in views.items()} for views in kinds[kind])  # fmt: skip
            contents = [engine.evaluate(views) for views in (before, before, after)]
            if (same := _same_columns(*contents)) is not None:
                made += 1
                yield Edit(kind, call, before, after, same)
        if made == made_before or made >= wanted:
            return


def _same_columns(one: _Contents | None, again: _Contents | None, other: _Contents | None) -> dict[str, bool] | None:
    """Return whether each column that both have contains the same; None if the views cannot be evaluated."""
    if one is None or again is None or other is None:
        return None
    return {
        f"{view}.{column}": content == other[view][column]
        for view, columns in one.items()
        for column, content in columns.items()
        if column in other[view] and again[view][column] == content
    }


def claims_of(dialect: str, edits: Iterable[Edit], folder: Path) -> dict[str, Claims]:
    """Return what the diff claims of edits, by kind; their views are written to the folder."""
    made = list(edits)
    for side in ("base", "head"):
        (folder / side).mkdir(parents=True)
        (folder / side / "t.sql").write_text(f"CREATE TABLE t ({', '.join(_table(dialect))});\n", encoding="utf-8")
        for number, edit in enumerate(made):
            views = edit.before if side == "base" else edit.after
            text = "".join(f"CREATE VIEW {name}_{number} AS {_numbered(sql, views, number)};\n"
                           for name, sql in views.items())  # fmt: skip
            (folder / side / f"e_{number}.sql").write_text(text, encoding="utf-8")
    (folder / "same.json").write_text(json.dumps([[one.kind, one.same] for one in made]), encoding="utf-8")
    tables = diff_revisions(folder / "base", folder / "head", options=RevisionOptions(dialect=dialect)).tables
    changed = {
        f"{diff.title}.{column.name}".lower()
        for diff in tables.values()
        for column in diff.columns
        if {str(one) for one in column.effects} & {"value changed", "row set changed", "type changed"}
    }
    found: dict[str, Claims] = {}
    for number, edit in enumerate(made):
        for name, is_same in edit.same.items():
            view, _, column = name.partition(".")
            is_claimed = bool({f"{view}_{number}.{column}", f"{view}_{number}.*"} & changed)
            claims = Claims(is_claimed, is_claimed and is_same, not is_claimed and not is_same)
            found[edit.kind] = found.get(edit.kind, Claims()) + claims
    return found


def _numbered(sql: str, views: Mapping[str, str], number: int) -> str:
    for name in views:
        for before in ("FROM ", "JOIN "):
            sql = sql.replace(f"{before}{name} ", f"{before}{name}_{number} AS {name} ")
            sql = f"{sql}_{number}" if sql.endswith(f"{before}{name}") else sql
    return sql


def _table(dialect: str) -> list[str]:
    """Return the columns of `t` with their types."""
    kinds = list(VALUES[dialect])
    generic = {"ANY": "INTEGER", "T": "INTEGER", "ANY[]": "INTEGER[]", "T[]": "INTEGER[]", "anyelement": "integer",
               "anycompatible": "integer", '"any"': "integer", "anyarray": "integer[]",
               "anycompatiblearray": "integer[]", "bit": "bit(3)"}  # fmt: skip
    return ["id integer", "b integer", "c integer",
            *(f"p_{number} {generic.get(kind, kind)}" for number, kind in enumerate(kinds))]  # fmt: skip


def _content_of(names: list[tuple[str, str]], rows: list[tuple[Any, ...]]) -> dict[str, tuple[str, Counter[str]]]:
    return {name: (kind, Counter(repr(row[at]) for row in rows)) for at, (name, kind) in enumerate(names)}


def _create(dialect: str) -> list[str]:
    values = ", ".join(VALUES[dialect].values())
    rows = [(1, 1, 1), (2, 2, 1), (3, 5, 2), (4, 1, 2), (5, 7, 3)]
    listed = "; ".join(f"INSERT INTO t SELECT {a}, {b}, {c}, {values}" for a, b, c in rows)
    return [f"CREATE TABLE t ({', '.join(_table(dialect))})", *listed.split("; ")]


def _calls(catalogue: Iterable[tuple[str, str, str | None]], runs: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return what each function is, and a call of it that the engine runs."""
    found: dict[str, tuple[str, str]] = {}
    for name, what, call in sorted(catalogue, key=lambda one: (one[0], one[2] or "")):
        is_new = name not in found and name not in _LEFT_OUT and "collate_" not in name
        if is_new and call is not None and runs(f"SELECT {call} AS x FROM t"):
            found[name] = (what, call)
    return list(found.values())


def _column_names(dialect: str) -> dict[str, str]:
    return {kind: f"p_{number}" for number, kind in enumerate(VALUES[dialect])}


def duckdb_engine() -> Engine:
    """Return DuckDB in memory."""
    connection = duckdb.connect(config={"threads": 1})
    for sql in _create("duckdb"):
        connection.execute(sql)

    def evaluate(views: Views) -> _Contents | None:
        found: _Contents = {}
        try:
            for name, sql in views.items():
                connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")
            for name in views:
                result = connection.execute(f"SELECT * FROM {name}")
                names = [(str(one[0]), str(one[1])) for one in result.description or ()]
                found[name] = _content_of(names, result.fetchall())
        except duckdb.Error:
            return None
        return found

    def runs(sql: str) -> bool:
        try:
            connection.execute(sql).fetchall()
        except duckdb.Error:
            return False
        return True

    calls = _calls(itertools.chain(duckdb_catalogue(_column_names("duckdb")), duckdb_catalogue()), runs)
    return Engine("duckdb", calls, evaluate)


@contextmanager
def postgres_engine() -> Iterator[Engine]:
    """Yield a PostgreSQL that was started for this."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with (
        running_postgres(listen_addresses="127.0.0.1", port=port),
        new_database(port) as database,
        psycopg.connect(database.uri, autocommit=True) as connection,
    ):
        for sql in _create("postgres"):
            connection.execute(sql.encode())

        def evaluate(views: Views) -> _Contents | None:
            found: _Contents = {}
            try:
                with connection.transaction(force_rollback=True):
                    for name, sql in views.items():
                        connection.execute(f"CREATE VIEW {name} AS {sql}".encode())
                    for name in views:
                        result = connection.execute(f"SELECT * FROM {name}".encode())
                        names = [(one.name, str(one.type_code)) for one in result.description or ()]
                        found[name] = _content_of(names, result.fetchall())
            except psycopg.Error:
                return None
            return found

        def runs(sql: str) -> bool:
            try:
                connection.execute(sql.encode()).fetchall()
            except psycopg.Error:
                return False
            return True

        own = postgres_catalogue(connection, _column_names("postgres"))
        yield Engine("postgres", _calls(itertools.chain(own, postgres_catalogue(connection)), runs), evaluate)


def main() -> int:
    """Make the edits that the command line asks for, half of them on each engine, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.diff.overclaiming", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("edits", type=int, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same seed gives the same edits")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the views in this folder")
    options = parser.parse_args()
    total, edits = Claims(), 0
    with tempfile.TemporaryDirectory() as temporary, postgres_engine() as postgres:
        folder = options.keep or Path(temporary)
        for engine in (duckdb_engine(), postgres):
            made = list(make_edits(engine, options.edits // 2, options.seed))
            edits += len(made)
            found = claims_of(engine.dialect, made, folder / engine.dialect)
            functions = len({one.call for one in made})
            print(f"{engine.dialect}: {len(made):,} edits beside calls of {functions:,} functions")
            for kind, claims in sorted(found.items()):
                print(f"  {kind:42} {claims.too_much:5} of {claims.changed:5} contain the same; missed {claims.missed}")
                total += claims
    share = total.too_much / total.changed if total.changed else 0.0
    print(f"{edits:,} edits; columns called changed: {total.changed:,}; contain the same: {total.too_much:,}; "
          f"share {share:.3f}; missed {total.missed}")  # fmt: skip
    return min(total.missed, 1)


if __name__ == "__main__":
    sys.exit(main())

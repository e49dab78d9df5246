"""Checks access audit and unused tables on a log of a year: python -m tests.governance.year.

Every figure is computed again by DuckDB from the raw rows of the log. Exit status 1: one differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from lineage.governance.access import audit_access
from lineage.governance.report.pii_report import make_report
from lineage.governance.tags.rules import default_rules
from lineage.governance.tags.tagging import classify, named_column
from lineage.governance.unused_tables import find_unused
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore, open_store
from lineage.store.values import StoredTag
from lineage_ingest.log_api import ingest_log
from lineage_ingest.query_log_options import LogOptions
from tests.governance.year_log import FIRST_DAY, GROUPS, HOLDERS, schema, write_facts, write_log

__all__ = ["Figures", "check"]

T = TypeVar("T")
_UNUSED_DAYS = 90


@dataclass(frozen=True)
class Figures:
    """What was compared, how long the answers took, and what differs."""

    rows: int
    accesses: int
    unused: int
    seconds: dict[str, float]
    differences: list[str]


def check(folder: Path, days: int, users: int, seed: int = 1) -> Figures:
    """Make a log, ask for its readers and unused tables, and compare with what DuckDB finds in the raw rows."""
    rows = write_log(folder / "log.parquet", days, users, seed)
    write_facts(folder / "facts.parquet")
    (folder / "schema.sql").write_text(schema())
    options = LogOptions(catalog=(folder / "schema.sql",), dialect="postgres", namespace="postgres")
    seconds: dict[str, float] = {}
    last = (FIRST_DAY + timedelta(days=days - 1)).date()
    with open_store(folder / "lineage.db") as store:
        _timed(
            seconds,
            "ingest",
            lambda: ingest_log(folder / "log.parquet", source="generic", store=store, options=options),
        )
        _tag(store)
        accesses = _timed(seconds, "access", lambda: _accesses(store))
        unused = _timed(seconds, "unused", lambda: {
            (one.name, one.last_read, one.cost_us, one.runs) for one in find_unused(store, _UNUSED_DAYS, last).tables
        })  # fmt: skip
    raw = _Raw(folder)
    found = _different("access", accesses, raw.accesses()) + _different("unused", unused, raw.unused(last))
    return Figures(rows, len(accesses), len(unused), seconds, found)


def _tag(store: GraphStore) -> None:
    now = datetime.now(UTC)
    store.change_tags(
        [
            StoredTag(named_column(store, f"raw.people_{n}.{name}"), name, "manual", now)
            for n in GROUPS
            for name in HOLDERS
        ]
    )


def _accesses(store: GraphStore) -> set[tuple[Any, ...]]:
    """Return (class, column, user, queries, first day, last day, whether new)."""
    found = classify(store, default_rules())
    audit = audit_access(store, make_report(store, found, value_functions(), datetime.now(UTC)))
    return {
        (name, one.column, one.user, one.queries, one.first_day, one.last_day, one.is_new)
        for one in audit.accesses
        for name in one.classes
    }


class _Raw:
    """The same figures, from the raw rows."""

    def __init__(self, folder: Path) -> None:
        self._db = duckdb.connect()
        holders = [(name, table, column) for name, of in HOLDERS.items() for table in of for column in of[table]]
        self._db.execute("create table holders (class text, tbl text, col text)")
        self._db.executemany("insert into holders values (?, ?, ?)", [list(one) for one in holders])
        self._db.execute("set timezone = 'UTC'")
        for name in ("log", "facts"):
            self._db.execute(f"create view {name} as select * from '{folder}/{name}.parquet'")

    def accesses(self) -> set[tuple[Any, ...]]:
        """Return who read which column of which class, as `_accesses` does."""
        return {
            *self._db.execute("""
            with days as (select started_at::date as day, * from log where status = 'success'),
                 bounds as (select min(day) as first, max(day) as last from days)
            select h.class, h.tbl || '_' || n || '.' || h.col, "user", count(*)::int, min(day), max(day),
                   any_value(last - first) + 1 > 30 and any_value(last) - min(day) < 30
            from days join facts f using (form) join holders h on h.tbl = f.tbl and h.col = f.col, bounds
            where side = 'read' group by h.class, h.tbl, h.col, n, "user"
        """).fetchall()
        }

    def unused(self, last: date) -> set[tuple[Any, ...]]:
        """Return the unused tables with their last read, and the time and number of the runs that wrote them."""
        return {
            *self._db.execute(
                """
            with recursive uses as (
                select tbl || '_' || n as name, side, form, n, started_at::date as day, duration_ms
                from log join facts using (form) where status = 'success' and col = ''
            ),
            flows as (
                select distinct r.name as source, w.name as target from uses r join uses w using (form, n)
                where r.side = 'read' and w.side = 'write'
            ),
            used as (
                select name from uses where side = 'read' and day > ?::date - ?
                and form not in (select form from facts where side = 'write')
                union select source from flows join used on used.name = target
            )
            select name, max(day) filter (side = 'read'),
                   coalesce(sum(duration_ms * 1000) filter (side = 'write'), 0)::bigint,
                   count(*) filter (side = 'write')::int
            from uses where name not in (select name from used) group by name
        """,
                [last, _UNUSED_DAYS],
            ).fetchall()
        }


def _different(what: str, found: set[tuple[Any, ...]], expected: set[tuple[Any, ...]]) -> list[str]:
    wrong = [f"{what}: found {one}" for one in sorted(found - expected, key=str)]
    return wrong + [f"{what}: expected {one}" for one in sorted(expected - found, key=str)]


def _timed(seconds: dict[str, float], name: str, work: Callable[[], T]) -> T:
    began = time.perf_counter()
    done = work()
    seconds[name] = time.perf_counter() - began
    return done


def main() -> int:
    """Run the check, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--users", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = check(Path(folder), given.days, given.users, given.seed)
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in done.seconds.items())
    print(f"{done.rows:,} rows of {given.users:,} users: {done.accesses:,} accesses, {done.unused:,} unused tables")
    print(times)
    print(f"{len(done.differences):,} differences", *done.differences[:20], sep="\n  ")
    return 1 if done.differences else 0


if __name__ == "__main__":
    sys.exit(main())

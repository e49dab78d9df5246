"""Policies of a warehouse, from SQL files and from query logs: cases as data, in `policies`.

A case is SQL, and lines `=> COLUMN: what protects it` or `=> COLUMN tag NAME = value`, without the table where it is
the first one. A statement of a log comes a minute after the one before.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from lineage.governance.warehouse_policies import load_warehouse_policies
from lineage.store import open_store
from lineage.traversal.lookup import names_of
from tests.cli.running import lineage

_FOLDER = Path(__file__).parent / "policies"
_ROLES = re.compile(r", for all( but .*)?$")


class Case(NamedTuple):
    name: str
    dialect: str
    statements: tuple[str, ...]
    expected: frozenset[str]


def cases() -> Iterator[Case]:
    for file in sorted(_FOLDER.glob("*.txt")):
        dialect = ""
        for part in re.split(r"^(?=#{1,2} )", file.read_text(encoding="utf-8"), flags=re.M):
            head, _, body = part.partition("\n")
            if head.startswith("# dialect: "):
                dialect = head.removeprefix("# dialect: ")
            elif head.startswith("## "):
                lines = body.splitlines()
                sql = tuple(line.rstrip(";") for line in lines if line and not line.startswith("=>"))
                expected = frozenset(line.removeprefix("=> ") for line in lines if line.startswith("=>"))
                yield Case(head.removeprefix("## "), dialect, sql, expected)


def _found(path: Path) -> frozenset[str]:
    found = set()
    with open_store(path, read_only=True) as store:
        columns = [one.key for one in store.columns(store.dataset_keys()) if one.dropped_at is None]
        policies = load_warehouse_policies(store, columns)
        names = names_of(store, columns)
    for key in columns:
        name = re.sub(r"^(?:crm|dbo|d)\.(?:people|persons)\.", "", names[key], flags=re.I)
        sentences = policies.protection(key).sentences
        found |= {f"{name}: {'; '.join(sentences)}"} if sentences else set()
        found |= {f"{name} tag {one.name}{f' = {one.value}' if one.value else ''}" for one in policies.tags(key)}
    return frozenset(found)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case.dialect}: {case.name}")
def test_from_files(case: Case, tmp_path: Path) -> None:
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "all.sql").write_text(";\n".join(case.statements), encoding="utf-8")
    store = tmp_path / "l.db"
    for _ in range(2):
        done = lineage("ingest", "sql", tmp_path / "sql", "--dialect", case.dialect, "--project", "x", "--store", store)
        assert done.code == 0, done.err
        assert _found(store) == case.expected


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case.dialect}: {case.name}")
def test_from_a_log(case: Case, tmp_path: Path) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("query_text", "started_at", "user"))
        for number, sql in enumerate(case.statements):
            writer.writerow((sql, f"{start + timedelta(minutes=number):%Y-%m-%dT%H:%M:%SZ}", "ana"))
    store = tmp_path / "l.db"
    log = ("--source", "generic", "--dialect", case.dialect, "--namespace", f"{case.dialect}://x", "--store", store)
    done = lineage("ingest", "log", tmp_path / "log.csv", *log)
    assert done.code == 0, done.err
    assert _found(store) == frozenset(map(_of_log, case.expected))


def _of_log(line: str) -> str:
    """In a log, policies that differ in the names of roles only are one template: for whom is not known."""
    return line if "()" in line else _ROLES.sub(", for whom is not known", line)

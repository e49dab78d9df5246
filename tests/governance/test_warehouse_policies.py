"""Policies of a warehouse, from SQL files and from query logs: cases as data, in `policies`.

A case is SQL, and lines `=> COLUMN: what protects it` or `=> COLUMN tag NAME = value`, without the table where it is
the first one. A statement of a log comes a minute after the one before.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from lineage.governance.warehouse.warehouse_policies import load_warehouse_policies
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
        done = lineage(
            "ingest",
            "sql",
            tmp_path / "sql",
            "--dialect",
            case.dialect,
            "--project",
            "x",
            "--namespace",
            "w",
            "--store",
            store,
        )
        assert done.code == 0, done.err
        assert _found(store) == case.expected


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case.dialect}: {case.name}")
def test_from_a_log(case: Case, tmp_path: Path) -> None:
    _ingest_log(tmp_path, case.dialect, case.statements, 3)
    assert _found(tmp_path / "l.db") == frozenset(map(_of_log, case.expected))


def test_files_say_what_is_to_be_there_in_any_order(tmp_path: Path) -> None:
    """A policy holds though the file of its table comes later, changes, or drops and creates the table."""
    sql, store = tmp_path / "sql", tmp_path / "l.db"
    sql.mkdir()
    (sql / "a.sql").write_text("alter table crm.people modify column email set masking policy sec.a", encoding="utf-8")
    for end in ("", ", phone string", ", phone string, name string"):
        text = f"drop table if exists crm.people; create or replace table crm.people (id int, email string{end})"
        (sql / "b.sql").write_text(text, encoding="utf-8")
        assert (
            lineage(
                "ingest", "sql", sql, "--dialect", "snowflake", "--project", "x", "--namespace", "w", "--store", store
            ).code
            == 0
        )
        assert _found(store) == {"EMAIL: masked by SEC.A, for whom is not known"}
    said = (sql / "a.sql").read_text(encoding="utf-8")
    for text, found in (
        ("create table crm.other (id int)", frozenset()),
        (f"create table crm.other (id int);{said}", {"EMAIL: masked by SEC.A, for whom is not known"}),
        ("create table crm.other (id int)", frozenset()),
        (said, {"EMAIL: masked by SEC.A, for whom is not known"}),
    ):
        (sql / "a.sql").write_text(text, encoding="utf-8")
        assert (
            lineage(
                "ingest", "sql", sql, "--dialect", "snowflake", "--project", "x", "--namespace", "w", "--store", store
            ).code
            == 0
        )
        assert _found(store) == found
    (sql / "a.sql").unlink()
    assert (
        lineage(
            "ingest", "sql", sql, "--dialect", "snowflake", "--project", "x", "--namespace", "w", "--store", store
        ).code
        == 0
    )
    assert _found(store) == frozenset()


def test_a_table_is_made_anew_in_a_later_log(tmp_path: Path) -> None:
    first = (
        "create table crm.people (id int, email string)",
        "alter table crm.people modify email set masking policy p",
    )
    store = tmp_path / "l.db"
    _ingest_log(tmp_path, "snowflake", first, 1)
    assert _found(store) == {"EMAIL: masked by P, for whom is not known"}
    _ingest_log(tmp_path, "snowflake", ("drop table crm.people", first[0]), 2)
    assert _found(store) == frozenset()
    _ingest_log(tmp_path, "snowflake", first[1:], 3)
    assert _found(store) == {"EMAIL: masked by P, for whom is not known"}


def _ingest_log(folder: Path, dialect: str, statements: Iterable[str], month: int) -> None:
    start = datetime(2026, month, 1, tzinfo=UTC)
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("query_text", "started_at", "user"))
        for number, sql in enumerate(statements):
            writer.writerow((sql, f"{start + timedelta(minutes=number):%Y-%m-%dT%H:%M:%SZ}", "ana"))
    log = ("--source", "generic", "--dialect", dialect, "--namespace", f"{dialect}://x", "--store", folder / "l.db")
    done = lineage("ingest", "log", folder / "log.csv", *log)
    assert done.code == 0, done.err


def _of_log(line: str) -> str:
    """In a log, policies that differ in the names of roles only are one template: for whom is not known."""
    return line if "()" in line else _ROLES.sub(", for whom is not known", line)

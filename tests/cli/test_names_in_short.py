"""A table that statements name with fewer parts than others do is another one in the graph: answers say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import lineage

FILES = {
    "short": "create table main.report as select total from main.daily; create view w as select st from daily",
    "long": "create table wh.main.daily as select total, st from wh.raw.o",
    "elsewhere": "create table main.daily_total as select x from other.daily2",
}
BOTH = "main.daily may be wh.main.daily, named in short"
CASES = [
    (("impact", "wh.main.daily.total"), True),
    (("impact", "wh.raw.o.total"), True),  # what it reaches has another name
    (("impact", "main.daily.total"), True),
    (("root-cause", "main.report.total"), True),
    (("path", "wh.main.daily.total", "main.report.total"), True),
    (("impact", "main.report.total"), False),
    (("root-cause", "main.daily_total.x"), False),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    for name, sql in FILES.items():
        (folder / f"{name}.sql").write_text(sql)
        given = ("-d", "duckdb", "--namespace", "postgres", "--project", name, "-s", folder / "s.db")
        done = lineage("ingest", "sql", folder / f"{name}.sql", *given)
        assert done.code == 0, done.err
    return folder / "s.db"


@pytest.mark.parametrize(("arguments", "is_said"), CASES)
def test_a_table_that_is_named_in_short(store: Path, arguments: tuple[str, ...], is_said: bool) -> None:
    done = lineage(*arguments, "-s", store)
    assert (BOTH in " ".join(done.err.split())) is is_said, done.err
    assert ("--default-database" in done.err) is is_said

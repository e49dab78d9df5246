"""A name that files no longer define is not found by what they define now: a second ingest is like a first one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage_ingest.sql_files import ingest_sql_files
from tests.store.log_rows import BEGIN
from tests.store.test_file_and_log import edges

MAIN = "create table main.v as select a as total from main.t"
READER = "create view s2.n as select total from v"
RENAMED = [
    pytest.param([READER.replace("s2.n", "s2.v"), READER], "duckdb", id="a view that has the name of what it reads"),
    pytest.param([READER.replace("s2.n", 's2."V"'), READER], "duckdb", id="a quoted name"),
    pytest.param([READER.replace("view s2.n", "table s2.v"), READER], "duckdb", id="a table"),
    pytest.param(["create view s2.v as select 1 as total", "select 1", READER], "duckdb", id="gone an ingest before"),
    pytest.param(["create view s2.v as select 1 as total", None, READER], "duckdb", id="the file is gone"),
    pytest.param(
        [READER.replace("s2.n", "s2.v"), "set search_path = s2, main; " + READER],
        "postgres",
        id="a search path whose first schema had the name",
    ),
]


@pytest.mark.parametrize(("versions", "dialect"), RENAMED)
def test_what_was_renamed_is_not_read(tmp_path: Path, versions: list[str | None], dialect: str) -> None:
    options = options_for(dialect, default_schema="main")
    folder, file = tmp_path / "files", tmp_path / "files" / "2.sql"
    folder.mkdir()
    (folder / "1.sql").write_text(MAIN, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store, open_store(tmp_path / "fresh.db") as fresh:
        for day, text in enumerate([*versions, versions[-1]]):
            file.unlink(missing_ok=True)
            if text is not None:
                file.write_text(text, encoding="utf-8")
            ingest_sql_files([folder], store, options, observed_at=BEGIN + timedelta(days=day), retire_most=True)
        ingest_sql_files([folder], fresh, options, observed_at=BEGIN)
        assert edges(store) == edges(fresh) == {"t.a -> v.total", "v.total -> s2.n.total"}


@pytest.mark.parametrize("kind", ["view", "table"])
def test_what_has_the_name_of_what_it_reads_is_read_alike_again(tmp_path: Path, kind: str) -> None:
    options = options_for("duckdb", default_schema="main")
    (tmp_path / "1.sql").write_text(MAIN, encoding="utf-8")
    (tmp_path / "2.sql").write_text(READER.replace("view s2.n", f"{kind} s2.v"), encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        for day in range(3):
            ingest_sql_files([tmp_path], store, options, observed_at=BEGIN + timedelta(days=day))
            assert (edges(store), day) == ({"t.a -> v.total", "v.total -> s2.v.total"}, day)


def test_a_table_of_another_project_is_read(tmp_path: Path) -> None:
    """Its files are not read again, so they say what there is."""
    options = options_for("duckdb", default_schema="main")
    for name, text in (("p1", "create view s2.v as select b as total from s2.t"), ("p2", MAIN)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.sql").write_text(text, encoding="utf-8")
    (tmp_path / "p2" / "2.sql").write_text(READER, encoding="utf-8")
    with open_store(tmp_path / "store.db") as store:
        for name in ("p1", "p2", "p2"):
            ingest_sql_files([tmp_path / name], store, options, observed_at=BEGIN, project=name)
        assert "s2.v.total -> s2.n.total" in edges(store)


def test_a_table_that_a_later_file_drops_is_dropped_once(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "1.sql").write_text(
        "create table t (a int); create table v as select a from t", encoding="utf-8"
    )
    with open_store(tmp_path / "store.db") as store:
        for day in range(4):
            if day == 1:
                (tmp_path / "files" / "2.sql").write_text("drop table t", encoding="utf-8")
            at = BEGIN + timedelta(days=day)
            ingest_sql_files([tmp_path / "files"], store, options_for("duckdb", default_schema="main"), observed_at=at)
        [dropped] = [one.dropped_at for one in store.datasets() if one.name == "main.t"]
        assert dropped == BEGIN + timedelta(days=1)

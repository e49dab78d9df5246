"""Large files of DDL that were read before: the same tables, until the text or the dialect is another."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage.catalog import Catalog, CatalogError, saved_ddl
from lineage.model.spelling import own_spelling
from lineage.model.statement import RowIdType

_DDL = """
CREATE TABLE Sales.Orders (OrderId INTEGER PRIMARY KEY, "Net Amount" DECIMAL(18, 2), Tags TEXT);
CREATE TABLE sales.gone (x INT);
CREATE TABLE sales.kept (a INT, b STRUCT<c INT, d VARCHAR>);
ALTER TABLE sales.kept ADD COLUMN later DATE;
DROP TABLE sales.gone;
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(saved_ddl, "saved_files_folder", lambda kind: tmp_path / "cache" / kind)
    monkeypatch.setattr(saved_ddl, "_LARGE", 10)
    return tmp_path / "cache"


def _listed(catalog: Catalog) -> list[tuple[object, ...]]:
    def spelled(name: str) -> tuple[str, str | None]:
        return str(name), own_spelling(name)

    return [
        (spelled(table.name), [(spelled(one.name), one.data_type, type(one.data_type)) for one in table.columns])
        for table in catalog
    ]


@pytest.mark.parametrize("dialect", ["sqlite", "snowflake", "duckdb", "bigquery", "postgres"])
def test_the_second_time_the_tables_are_the_same(tmp_path: Path, cache: Path, dialect: str) -> None:
    path = tmp_path / "schema.sql"
    path.write_text(_DDL.replace(", b STRUCT<c INT, d VARCHAR>", "") if dialect in ("sqlite", "postgres") else _DDL)
    found = [_listed(Catalog.from_files([path], dialect, cache=True)) for _ in range(2)]
    assert found[0] == found[1] == _listed(Catalog.from_files([path], dialect))
    assert len(found[0]) == 2
    assert len(list(cache.rglob("*.saved"))) == 1


def test_the_type_of_a_row_number_is_kept(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE t (id INTEGER PRIMARY KEY, n INT);")
    for _ in range(2):
        [table] = Catalog.from_files([path], "sqlite", cache=True)
        assert isinstance(table.columns[0].data_type, RowIdType)


def test_another_text_or_dialect_is_read_anew(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE t (a INT, b INT);")
    assert Catalog.from_files([path], "snowflake", cache=True).find("T") is not None
    assert Catalog.from_files([path], "postgres", cache=True).find("T") is None
    path.write_text("CREATE TABLE t (a INT, c INT);")
    [table] = Catalog.from_files([path], "postgres", cache=True)
    assert [one.name for one in table.columns] == ["a", "c"]


def test_a_damaged_file_is_read_anew_and_an_error_is_not_kept(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE t (a INT, b INT);")
    Catalog.from_files([path], "postgres", cache=True)
    [saved] = cache.rglob("*.saved")
    saved.write_bytes(saved.read_bytes()[:-3])
    assert len(list(Catalog.from_files([path], "postgres", cache=True))) == 1
    path.write_text("CREATE TABLE t (a INT, ((( ;")
    for _ in range(2):
        with pytest.raises(CatalogError, match=r"schema\.sql"):
            Catalog.from_files([path], "postgres", cache=True)

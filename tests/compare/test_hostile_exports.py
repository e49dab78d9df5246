"""Exports that are cut off, of another kind, of several accounts, or that state the same at two levels."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest.compare.verdicts import Comparison
from lineage_ingest.compare_api import compare_lineage
from tests.compare.exports import Said, databricks_rows, snowflake, trino
from tests.compare.test_verdicts import RIGHT, compare, ingest, lines


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as CSV, nested values as JSON text."""
    texts = [{name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()}
             for row in rows]  # fmt: skip
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(texts[0]))
        writer.writeheader()
        writer.writerows(texts)
    return path


def snowflake_rows(folder: Path, said: list[Said]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in snowflake(folder, said).read_text().splitlines()]


def databricks(folder: Path, rows: list[dict[str, Any]]) -> Comparison:
    if not (folder / "s.db").exists():
        compare(folder, RIGHT)
    return compare_lineage("databricks", written(folder / "rows.csv", rows), store=folder / "s.db")


def test_lineage_that_was_cut_off_in_its_cell(tmp_path: Path) -> None:
    compare(tmp_path, RIGHT, name="snowflake")
    rows = [*snowflake_rows(tmp_path, [RIGHT[0]]), *snowflake_rows(tmp_path, [RIGHT[1]]), *snowflake_rows(tmp_path, [])]
    cut = json.dumps(rows[1]["OBJECTS_MODIFIED"])
    rows[1]["OBJECTS_MODIFIED"] = cut[: len(cut) // 2]
    file = written(tmp_path / "rows.csv", rows)
    found = compare_lineage("snowflake", file, store=tmp_path / "s.db")
    assert [(one.place, one.reason) for one in found.unread] == [
        (f"{file}: record 2", "its objects_modified is no JSON")
    ]


def test_an_export_that_states_no_lineage_says_so(tmp_path: Path) -> None:
    ingest(tmp_path, "create table a.b.c (d int)", "snowflake")
    file = written(tmp_path / "history.csv", [{"QUERY_ID": "1", "QUERY_TEXT": "SELECT 1", "START_TIME": "2026-01-01"}])
    found = compare_lineage("snowflake", file, store=tmp_path / "s.db")
    assert found.notices == ["none of 1 records states column lineage: is it the export of Snowflake ACCESS_HISTORY?"]


def test_empty_files_are_named(tmp_path: Path) -> None:
    ingest(tmp_path, "create table a.b.c (d int)", "snowflake")
    (tmp_path / "empty.csv").touch()
    found = compare_lineage("snowflake", tmp_path / "empty.csv", store=tmp_path / "s.db")
    assert found.notices == [f"{tmp_path / 'empty.csv'}: the file has no records"]


@pytest.mark.parametrize("name", ["databricks", "snowflake"])
def test_rows_of_several_accounts(tmp_path: Path, name: str) -> None:
    compare(tmp_path, RIGHT, name="snowflake" if name == "snowflake" else "databricks csv")
    if name == "snowflake":
        rows, column = [row for one in RIGHT for row in snowflake_rows(tmp_path, [one])], "ACCOUNT_LOCATOR"
    else:
        rows, column = databricks_rows(RIGHT), "metastore_id"
    for value, told in (("A", False), ("B", True)):
        rows[1][column] = value
        rows[0][column] = "A"
        found = compare_lineage(name, written(tmp_path / "rows.csv", rows), store=tmp_path / "s.db")
        assert any("tables of one name are not told apart" in text for text in found.notices) == told


def test_table_lineage_beside_column_lineage_hides_nothing(tmp_path: Path) -> None:
    compare(tmp_path, RIGHT)
    tables = {"source_table_full_name": "wh.shop.clean", "target_table_full_name": "wh.mart.daily",
              "source_column_name": "", "target_column_name": "", "event_time": "2026-03-01T10:00:01Z"}  # fmt: skip
    without_source = {**tables, "source_table_full_name": ""}
    rows = [{name: row.get(name) or "" for name in tables} for row in databricks_rows([RIGHT[0]])]
    found = databricks(tmp_path, [*rows, tables, without_source])
    assert "only ours: mart.daily.total <- shop.clean.amount (column not stated)" in lines(found)
    assert found.counts["tables only"] == 0
    assert not found.has_errors
    alone = databricks(tmp_path, [tables])
    assert lines(alone) == ["tables only: mart.daily <- shop.clean"]


def test_another_field_of_the_same_struct_does_not_agree(tmp_path: Path) -> None:
    sql = """create table p.d.src (addr struct<city string, zip string>);
    create table p.d.dst as select addr.zip as zip, addr.zip as z, addr as whole from p.d.src;
    create table p.d.last as select zip as y from p.d.dst;"""
    store = ingest(tmp_path, sql, "bigquery")

    def end(table: str, *field: str) -> dict[str, Any]:
        return {"fullyQualifiedName": f"bigquery:p.d.{table}", "field": list(field)}

    pairs = [
        (end("src", "addr", "city"), end("dst", "zip")),
        (end("src", "addr", "zip"), end("dst", "z")),
        (end("src", "addr"), end("dst", "whole")),
        (end("src", "addr", "city"), end("last", "y")),
        (end("dst", "zip"), end("last", "y")),
    ]
    exact = [{"dependencyType": "EXACT_COPY"}]
    links = [{"source": source, "target": target, "dependencyInfo": exact} for source, target in pairs]
    (tmp_path / "links.json").write_text(json.dumps({"links": links}))
    found = compare_lineage("bigquery", tmp_path / "links.json", store=store)
    assert [line.replace("p.d.", "") for line in lines(found)] == [
        "agree: dst.whole <- src.addr",
        "agree: dst.z <- src.addr.zip",
        "agree: last.y <- dst.zip",
        "only ours: dst.zip <- src.addr.zip (unexplained)",
        "only theirs: dst.zip <- src.addr.city (unexplained)",
        "only theirs: last.y <- src.addr.city (statement unknown)",
    ]


def test_two_tables_whose_names_differ_in_case(tmp_path: Path) -> None:
    """The graph has one of them: what is stated of the other is not compared with it."""
    sql = "create table DB.S.T (A int); create table DB.S.V as select A from DB.S.T;"
    store = ingest(tmp_path, sql, "snowflake")
    said = [Said("db.s.t.a", "db.s.v.a")]
    rows = snowflake_rows(tmp_path, said)
    rows.append(json.loads(json.dumps(rows[0]).replace('"DB.S.V"', '"DB.S.v"').replace('"A"', '"B"')))
    found = compare_lineage("snowflake", written(tmp_path / "rows.csv", rows), store=store)
    assert lines(found) == ["agree: db.s.v.a <- db.s.t.a"]
    assert list(found.not_compared) == ["snowflake/DB.S.v"]


def test_names_with_dots_in_trino(tmp_path: Path) -> None:
    sql = 'create table k.web."raw.clicks" (a int); create table h.web.clicks as select a from k.web."raw.clicks";'
    store = ingest(tmp_path, sql, "trino")
    file = trino(tmp_path, [Said("k.web.raw%clicks.a", "h.web.clicks.a")])
    file.write_text(file.read_text().replace("%", "."))
    found = compare_lineage("trino", file, store=store)
    assert lines(found) == ['agree: h.web.clicks.a <- k.web."raw.clicks".a']


def test_names_with_dots_and_quotes_in_databricks(tmp_path: Path) -> None:
    """The full name has no quotes around its parts; the export has the parts as well."""
    sql = """create table wh.s.`raw.t` (a int); create table wh.s.`q"` (a int);
    create table wh.s.v as select x.a, y.a as b from wh.s.`raw.t` x, wh.s.`q"` y;"""
    store = ingest(tmp_path, sql, "databricks")
    rows = databricks_rows([Said("wh.s.raw%t.a", "wh.s.v.a"), Said('wh.s.q".a', "wh.s.v.b")])
    text = json.dumps(rows).replace("%", ".")
    (tmp_path / "rows.json").write_text(text)
    found = compare_lineage("databricks", tmp_path / "rows.json", store=store)
    assert lines(found) == ['agree: s.v.a <- s."raw.t".a', 'agree: s.v.b <- s."q""".a']


def test_a_dataset_event_states_lineage_too(tmp_path: Path) -> None:
    store = ingest(tmp_path, "create table s.t (a int, b int); create table s.v as select a from s.t;", "postgres")
    field = {"inputFields": [{"namespace": "postgres", "name": "s.t", "field": "b"}]}
    dataset = {"namespace": "postgres", "name": "s.v", "facets": {"columnLineage": {"fields": {"a": field}}}}
    (tmp_path / "events.ndjson").write_text(json.dumps({"eventTime": "2026-03-01T10:00:00Z", "dataset": dataset}))
    found = compare_lineage("openlineage", tmp_path / "events.ndjson", store=store)
    assert "only theirs: s.v.a <- s.t.b (unexplained)" in lines(found)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"columnName": "TOTAL"', '"columnName": null'), ('"objectName": "WH.SHOP.CLEAN"', '"objectId": 9')],
)
def test_names_that_are_missing_are_reported(tmp_path: Path, old: str, new: str) -> None:
    """The column is not one named None, and not one without sources."""
    compare(tmp_path, RIGHT, name="snowflake")
    text = snowflake(tmp_path, [RIGHT[1]]).read_text()
    (tmp_path / "rows.jsonl").write_text(text.replace(old, new))
    found = compare_lineage("snowflake", tmp_path / "rows.jsonl", store=tmp_path / "s.db")
    assert old in text
    assert not found.edges
    assert [one.reason for one in found.unread] == [
        "its objects_modified has a table or column without a name, which is not compared"
    ]


@pytest.mark.parametrize(
    ("said", "notice"),
    [
        (Said("db.s.t.a", "db.s.v.a"), None),
        (Said('db.s."t".a', "db.s.v.a"), "DB.S.t as DB.S.T"),
        (Said("db.s.t.a", "db.s.v.%"), "a as A"),
    ],
)
def test_names_found_in_another_case(tmp_path: Path, said: Said, notice: str | None) -> None:
    store = ingest(tmp_path, "create table DB.S.T (A int); create table DB.S.V as select A from DB.S.T;", "snowflake")
    (row,) = snowflake_rows(tmp_path, [said])
    text = json.dumps(row).replace("%", "a").replace(json.dumps('"T"')[1:-1], json.dumps('"t"')[1:-1])
    (tmp_path / "rows.jsonl").write_text(text)
    found = compare_lineage("snowflake", tmp_path / "rows.jsonl", store=store)
    assert lines(found) == ["agree: db.s.v.a <- db.s.t.a"]
    expected = f"found by a name that differs in case: {notice}; where case matters, they are not the same"
    assert found.notices == ([expected] if notice else [])


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("bigquery:sharded:p.d.events_", ["a"], "agree: p.d.out.a <- p.d.events_*.a"),
        ("bigquery:p.d.events_20260102", ["a"], "agree: p.d.out.a <- p.d.events_*.a"),
        ("bigquery:p.d.days$20260102", ["b"], "agree: p.d.out.b <- p.d.days.b"),
        ("bigquery:routine:p.d.events_", ["a"], "links of the system bigquery:routine, which are not compared"),
        ("bigquery:p.d.events_20260102", [None], "the field of its source is no list of names"),
        ("bigquery:p.d.events_20260102", [""], "the field of its source is no list of names"),
        ("bigquery:p.d.events_20260102", 7, "the field of its source is no list of names"),
    ],
)
def test_names_of_bigquery(tmp_path: Path, name: str, field: object, expected: str) -> None:
    sql = """create table p.d.events_20260101 (a int64); create table p.d.days (b int64);
    create table p.d.out as select e.a, d.b from `p.d.events_*` as e cross join p.d.days as d;"""
    store = ingest(tmp_path, sql, "bigquery")
    target = {
        "fullyQualifiedName": "bigquery:p.d.out",
        "field": field if isinstance(field, list) and field[0] else ["a"],
    }
    link = {"source": {"fullyQualifiedName": name, "field": field}, "target": target}
    (tmp_path / "links.json").write_text(json.dumps({"links": [link]}))
    found = compare_lineage("bigquery", tmp_path / "links.json", store=store)
    assert expected in [*lines(found), *found.notices, *(one.reason for one in found.unread)]
    assert not [one for one in found.edges if one.verdict == "only theirs"]

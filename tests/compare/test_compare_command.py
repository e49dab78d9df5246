"""`lineage compare`, as it is typed: output, exit status, bad input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.running import lineage
from tests.compare.exports import Said, bigquery, databricks_csv, openlineage, snowflake
from tests.compare.test_verdicts import RIGHT, ingest

LONG = "create table wh.shop.orders (id int, day date, amount int, a_very_long_name_of_a_column_that_nobody_reads int);"
SQL = f"""{LONG}
create table wh.mart.daily_revenue_of_all_regions_and_customers as
select day, sum(amount) as total, max(a_very_long_name_of_a_column_that_nobody_reads) as longest
from wh.shop.orders where id > 1234567 and day > '2026-01-01' group by day;
"""
WRONG = [
    Said("wh.shop.orders.day", "wh.mart.daily_revenue_of_all_regions_and_customers.day"),
    Said("wh.shop.orders.id", "wh.mart.daily_revenue_of_all_regions_and_customers.longest"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINEAGE_STORE", raising=False)
    return tmp_path


def test_the_table_fits_80_columns_also_in_a_pipe(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, WRONG)
    for columns in (None, 80):
        done = lineage("compare", "databricks", "column_lineage.csv", "--store", store, columns=columns)
        assert done.code == 0
        assert max(map(len, done.out.splitlines())) <= 80, done.out
        assert "ours: FILTER, all.sql" in done.out
        assert "1234567" not in done.out


def test_both_proofs_in_json(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, WRONG)
    found = lineage("compare", "databricks", "column_lineage.csv", "--store", store, "--json").json
    assert found["counts"] == {"agree": 1, "through": 0, "tables_only": 0, "kind_differs": 1, "only_theirs": 0,
                               "only_ours": 2}  # fmt: skip
    edges = {(edge["verdict"], edge["target"].rpartition(".")[2]): edge for edge in found["edges"]}
    kind = edges["kind differs", "longest"]
    assert kind["theirs"]["run"] == "q1"
    assert kind["theirs"]["entity"] == "job 77"
    assert kind["theirs"]["place"] == "column_lineage.csv: record 2"
    assert kind["ours"][0]["completeness"] == "full"
    assert kind["ours"][0]["subtypes"] == ["FILTER"]
    assert "1234567" not in str(found)
    assert "2026-01-01" not in kind["ours"][0]["statement"]
    total = edges["only ours", "total"]
    assert total["ours"][0]["evidence"][0]["expression"] == "sum(amount)"
    assert total["reason"] == "column not stated"
    every = lineage("compare", "databricks", "column_lineage.csv", "--store", store, "--json", "--all").json
    assert len(every["edges"]) == len(found["edges"]) + 1


def test_all_edges_have_their_proofs(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, WRONG[:1])
    done = lineage("compare", "databricks", "column_lineage.csv", "--store", store, "--all")
    assert re.search(r"ours: IDENTITY, all\.sql:\d, `day`, full", " ".join(done.out.split()))
    assert "no SQL" not in done.out
    found = lineage("compare", "databricks", "column_lineage.csv", "--store", store, "--all", "--json").json
    assert all(one["statement"] for edge in found["edges"] for one in edge["ours"])


def test_csv_has_a_row_for_each_difference(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, WRONG)
    done = lineage("compare", "databricks", "column_lineage.csv", "--store", store, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["verdict"] for row in rows].count("only ours") == 2
    assert all(row["why"] for row in rows)


@pytest.mark.parametrize(
    ("condition", "code"), [("any", 1), ("kind", 1), ("only-ours", 1), ("only-theirs", 0), ("unexplained", 1)]
)
def test_exit_status(folder: Path, condition: str, code: int) -> None:
    store = ingest(folder, SQL)
    databricks_csv(
        folder, [*WRONG, Said("wh.shop.orders.id", "wh.mart.daily_revenue_of_all_regions_and_customers.total")]
    )
    arguments = ("compare", "databricks", "column_lineage.csv", "--store", store)
    assert lineage(*arguments, "--fail-on", condition).code == code
    assert lineage(*arguments).code == 0


def test_a_gate_that_compares_nothing_does_not_pass(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, [Said("wh.other.t.a", "wh.other.u.a"), Said("wh.other.t.a", "wh.shop.orders.id")])
    arguments = ("compare", "databricks", "column_lineage.csv", "--store", store)
    done = lineage(*arguments, "--fail-on", "unexplained")
    assert (done.code, lineage(*arguments).code) == (1, 0)
    assert "nothing was compared" in done.err
    assert "not compared: 2 edges of 2 tables" in " ".join(done.out.split())


def test_events_of_something_else_are_reported(folder: Path) -> None:
    store = ingest(folder, SQL)
    (folder / "other.ndjson").write_text('{"a": 1}\n', encoding="utf-8")
    done = lineage("compare", "openlineage", "other.ndjson", "--store", store)
    assert (done.code, "not an OpenLineage event" in done.err) == (1, True)


def test_bad_records_are_listed_and_the_rest_is_compared(folder: Path) -> None:
    store = ingest(folder, SQL)
    file = databricks_csv(folder, [*WRONG, *WRONG])
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[2] = "half,a,record"
    lines[3] = lines[3].replace("2026-03-01T10:00:01Z", "yesterday")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = lineage("compare", "databricks", file.name, "--store", store)
    assert done.code == 1
    assert "column_lineage.csv: record 2: it cannot be read" in done.err
    assert "column_lineage.csv: record 3: its event_time cannot be read" in done.err
    assert "yesterday" not in done.err
    assert "1 agree, 1 kind differs" in done.out


def test_a_file_that_breaks_off(folder: Path) -> None:
    store = ingest(folder, SQL)
    whole = gzip.compress(snowflake(folder, WRONG * 200).read_bytes())
    (folder / "broken.jsonl.gz").write_bytes(whole[:-20])
    done = lineage("compare", "snowflake", "broken.jsonl.gz", "--store", store)
    assert done.code == 1
    assert "broken.jsonl.gz" in done.err


def test_links_that_are_none(folder: Path) -> None:
    store = ingest(folder, SQL, "bigquery")
    file = bigquery(folder, WRONG)
    text = file.read_text(encoding="utf-8")
    ends = {"source": {"fullyQualifiedName": "pubsub:topic:p.t"}, "target": {"fullyQualifiedName": "bigquery:a.b.c"}}
    topic = json.dumps({"links": [ends]})
    more = ['{"links": []}', "{}", "[1]", topic, '{"source": {}, "target": {}}', '{"a": 1}', "not json"]
    file.write_text("\n".join([text, *more, ""]), encoding="utf-8")
    done = lineage("compare", "bigquery", file.name, "--store", store)
    assert done.code == 1
    assert "1 agree" in done.out
    assert "links of the system pubsub, which are not compared" in done.err
    problems = [line for line in done.err.splitlines() if line.startswith("links.json:")]
    assert len(problems) == 4, done.err


def test_events_that_are_none(folder: Path) -> None:
    store = ingest(folder, SQL, "postgres", "postgres://db:5432")
    file = openlineage(folder, WRONG)
    text = file.read_text(encoding="utf-8")
    started = text.replace("COMPLETE", "START").replace("wh.shop.orders", "wh.shop.never")
    file.write_text(f'{text}{started}[]\n{{"outputs": [{{"name": 1}}]}}\n', encoding="utf-8")
    done = lineage("compare", "openlineage", file.name, "--store", store)
    assert done.code == 1
    assert done.err.count("not an OpenLineage event") == 2
    assert "never" not in done.out


def test_wrong_use(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, RIGHT)
    for arguments, words in [
        (("databricks", "none.csv"), "no files: none.csv"),
        (("snowflake", "column_lineage.csv"), "Snowflake ACCESS_HISTORY has"),
        (("dbt", "column_lineage.csv"), "--generate-info-schema"),
        (("bigquery", "none.json"), "none.json"),
        (("oracle", "column_lineage.csv"), "oracle"),
    ]:
        done = lineage("compare", *arguments, "--store", store)
        assert done.code == 2, arguments
        assert words in " ".join(done.err.split()), done.err
    done = lineage("compare", "databricks", "column_lineage.csv", "--store", folder / "no.db")
    assert done.code == 3


def test_no_table_in_common(folder: Path) -> None:
    store = ingest(folder, SQL)
    databricks_csv(folder, [Said("a.b.c.x", "a.b.d.y")])
    done = lineage("compare", "databricks", "column_lineage.csv", "--store", store)
    assert "no table of the export is in the graph" in " ".join(done.err.split())
    assert "nothing to compare" in done.out


def test_the_help_teaches() -> None:
    shown = lineage("compare", "--help", columns=80)
    assert shown.code == 0
    assert "Example: lineage compare snowflake" in " ".join(shown.out.split())
    assert max(map(len, shown.out.splitlines())) <= 80

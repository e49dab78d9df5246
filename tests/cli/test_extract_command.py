from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.running import lineage

SQL = "CREATE VIEW v AS SELECT a + b AS c FROM t WHERE d"


def test_edges_as_a_table() -> None:
    done = lineage("extract", "-d", "postgres", "-q", SQL)
    assert done.code == 0
    assert done.err == ""
    for word in ("t.a", "CONTRIBUTES", "TRANSFORMATION", "v.c", "REFERENCES", "FILTER", "v (rows)", "1:25"):
        assert word in done.out


def test_statements_as_json() -> None:
    [statement] = lineage("extract", "-d", "postgres", "-q", SQL, "-f", "json").json
    assert set(statement) == {
        "operation",
        "target",
        "sources",
        "output_columns",
        "edges",
        "diagnostics",
        "completeness",
    }
    assert statement["operation"] == "CREATE_VIEW"
    edge = statement["edges"][0]
    assert (edge["source"], edge["target"]) == ({"table": "t", "column": "a"}, {"table": "v", "column": "c"})
    assert SQL[edge["span"]["start"] : edge["span"]["end"]] == "a"


def test_names_are_shown_as_they_are_written() -> None:
    query = "SELECT f.SALESID, o.[Net Total] FROM DBO.factsales f JOIN dbo.Other o ON o.Id = f.salesid"
    sql = f"CREATE TABLE dbo.FactSales (SalesId int); CREATE VIEW dbo.vX AS {query}"
    shown = lineage("extract", "-d", "tsql", "-q", sql).out
    for name in ("dbo.FactSales.SalesId", "dbo.vX.SALESID", "dbo.Other.Net Total", "dbo.vX (rows)"):
        assert name in shown
    assert "dbo.factsales" not in shown
    tables = lineage("tables", "-d", "tsql", "-q", sql).out
    assert "dbo.FactSales, dbo.Other" in tables
    assert "dbo.factsales.salesid" in lineage("extract", "-d", "tsql", "-q", sql, "-f", "csv").out


def test_edges_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(lineage("extract", "-d", "postgres", "-q", SQL, "-f", "csv").out)))
    assert [row["source"] for row in rows] == ["t.a", "t.b", "t.d"]


def test_standard_input_and_files(tmp_path: Path) -> None:
    assert "v.c" in lineage("extract", "-d", "postgres", stdin=SQL).out
    path = tmp_path / "v.sql"
    path.write_text(SQL, encoding="utf-8")
    assert "v.c" in lineage("extract", "-d", "postgres", path).out


def test_a_catalog_names_the_columns_behind_a_star(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text('{"t": {"a": "int", "b": "int"}}', encoding="utf-8")
    [statement] = lineage("extract", "-d", "postgres", "-c", path, "-q", "SELECT * FROM t", "-f", "json").json
    assert statement["output_columns"] == ["a", "b"]


def test_tables() -> None:
    done = lineage("tables", "-d", "postgres", "-f", "json", "-q", "INSERT INTO r SELECT * FROM a JOIN b USING (i)")
    [row] = done.json
    assert (row["operation"], row["destination"], row["upstream"]) == ("INSERT", "r", ["a", "b"])


def test_errors_in_the_input_are_listed_and_end_with_1() -> None:
    done = lineage("extract", "-d", "postgres", "-q", f"SELECT (; {SQL}")
    assert done.code == 1
    assert "v.c" in done.out
    assert "PARSE_ERROR at 1:" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "-d", "postgras", "-q", "SELECT 1"], "did you mean 'postgres'"),
        (["extract", "-d", "postgres", "no-such-file.sql"], "no-such-file.sql"),
        (["extract", "-d", "postgres", "-q", "SELECT 1", "a.sql"], "not both"),
        (["extract", "--no-such-option"], "No such option"),
        (["no-such-command"], "No such command"),
        (["ingets"], "Did you mean 'ingest'?"),
        (["ingest", "postgers"], "Did you mean 'postgres'?"),
    ],
)
def test_wrong_use_ends_with_2(arguments: list[str], message: str) -> None:
    done = lineage(*arguments)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())


def test_tables_are_known_where_columns_are_not() -> None:
    sql = "WITH cte AS (SELECT * FROM t) INSERT INTO r SELECT *, x FROM cte, u; SELECT * FROM f(1)"
    first, second = lineage("tables", "-d", "postgres", "-f", "json", "-q", sql).json
    assert (first["destination"], first["upstream"], first["completeness"]) == ("r", ["t", "u"], "full")
    assert second["completeness"] == "partial"  # the function may read tables


@pytest.mark.parametrize("command", ["extract", "tables", "impact", "root-cause", "path", "neo4j", "ingest", "demo"])
def test_every_command_has_help(command: str) -> None:
    done = lineage(command, "--help")
    assert done.code == 0
    assert "Usage: lineage" in done.out


def test_a_report_of_a_folder_and_of_json_lines(tmp_path: Path) -> None:
    (tmp_path / "good.sql").write_text(SQL, encoding="utf-8")
    (tmp_path / "bad.sql").write_text("SELECT (; SELECT x.a FROM t", encoding="utf-8")
    report = lineage("extract", "-d", "postgres", "--report", tmp_path, "-f", "json").json
    assert report["texts"] == 2
    assert report["statements"] == {"full": 1, "partial": 1, "tables": 0, "none": 1}
    assert {found["first"] for found in report["needs"]} == {"bad.sql:1"}
    rows = tmp_path / "log.jsonl"
    rows.write_text('{"query": "SELECT a FROM t"}\n{"sql": "SELECT b FROM t"}\n', encoding="utf-8")
    done = lineage("extract", "-d", "postgres", "--report", rows)
    assert "2 texts, 2 statements" in done.out
    rows.write_text('{"query": "SELECT a FROM t"}\n{"a": 1}\n', encoding="utf-8")
    wrong = lineage("extract", "-d", "postgres", "--report", rows)
    assert wrong.code == 2
    assert "log.jsonl:2" in "".join(wrong.err.replace("│", "").split())


def test_a_report_of_a_folder_without_sql_is_refused(tmp_path: Path) -> None:
    wrong = lineage("extract", "-d", "postgres", "--report", tmp_path)
    assert wrong.code == 2
    assert "no .sql files" in wrong.err


def test_functions_and_budget(tmp_path: Path) -> None:
    file = tmp_path / "functions.toml"
    file.write_text('[masking]\nany = ["veil"]\n', encoding="utf-8")
    sql = "SELECT veil(a) AS x FROM t"
    [statement] = lineage("extract", "-d", "postgres", "-q", sql, "--functions", str(file), "-f", "json").json
    assert statement["edges"][0]["masking"] is True
    cut = lineage("extract", "-d", "postgres", "-q", "SELECT a, b FROM t", "--budget", "edges=1", "-f", "json")
    assert cut.code == 1
    [statement] = cut.json
    assert (statement["completeness"], statement["diagnostics"][0]["code"]) == ("tables", "RESULT_TOO_LARGE")


def test_wrong_functions_and_budget_are_wrong_use(tmp_path: Path) -> None:
    file = tmp_path / "functions.toml"
    file.write_text("[mask]\n", encoding="utf-8")
    for options in (["--functions", str(file)], ["--budget", "days=1"]):
        assert lineage("extract", "-d", "postgres", "-q", "SELECT 1", *options).code == 2


def test_of_a_statement_beyond_its_budget_the_tables_are_shown() -> None:
    done = lineage("extract", "-d", "postgres", "--budget", "edges=1", "-q", SQL, "-f", "csv")
    [row] = csv.DictReader(io.StringIO(done.out))
    assert (row["source"], row["kind"], row["target"]) == ("t", "FEEDS", "v")
    assert "RESULT_TOO_LARGE" in done.err


def test_of_several_files_each_place_names_its_file(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.sql", "b.sql")]
    for name in names:
        Path(name).write_text("CREATE VIEW v AS SELECT a FROM t", encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(lineage("extract", "-d", "postgres", *names, "-f", "csv").out)))
    assert [row["place"] for row in rows] == [f"{name}:1:25" for name in names]
    statements = lineage("extract", "-d", "postgres", *names, "-f", "json").json
    assert [statement["file"] for statement in statements] == names


def test_a_query_that_is_no_sql_is_a_syntax_error_behind_any_head() -> None:
    done = lineage("extract", "-q", "CREATE TABLE x AS SELECT foo bar baz FROM")
    assert done.code == 1
    assert "PARSE_ERROR at 1:34" in done.err
    assert "no lineage in 1 statement" in done.err


def test_a_command_without_lineage_is_no_error() -> None:
    done = lineage("extract", "-d", "postgres", "-q", "GRANT SELECT ON t TO u")
    assert (done.code, done.out) == (0, "")
    assert done.err.strip() == "no lineage in 1 statement"


def test_a_report_of_a_folder_resolves_its_files_against_each_other(tmp_path: Path) -> None:
    for name, text in (("a", "create view v as select * from t"), ("b", "create table t (x int, y int)")):
        (tmp_path / f"{name}.sql").write_text(text, encoding="utf-8")
    (tmp_path / "c.ddl").write_text("create view w as select * from v", encoding="utf-8")
    report = lineage("extract", "-d", "postgres", "--report", tmp_path, "-f", "json").json
    assert (report["texts"], report["statements"]) == (3, {"full": 3, "partial": 0, "tables": 0, "none": 0})
    assert sorted(one["text"] for one in report["slowest"]) == ["a.sql", "b.sql", "c.ddl"]


def test_schemas_of_a_store_count(tmp_path: Path) -> None:
    store, ddl = tmp_path / "graph.db", tmp_path / "ddl.sql"
    ddl.write_text("create table shop.t (x int, y int)", encoding="utf-8")
    assert lineage("ingest", "sql", ddl, "--namespace", "postgres://h:1", "-d", "postgres", "-s", store).code == 0
    sql = ("-d", "postgres", "-f", "json", "-q", "insert into u select * from shop.t")
    [found] = lineage("extract", *sql, "--store", store).json
    assert [edge["source"]["column"] for edge in found["edges"]] == ["x", "y"]
    [found] = lineage("extract", *sql).json
    assert [edge["source"]["column"] for edge in found["edges"]] == ["*"]
    [traced] = lineage("tables", *sql, "--store", store).json
    assert (traced["upstream"], traced["completeness"]) == (["shop.t"], "full")
    assert lineage("ingest", "sql", ddl, "--namespace", "postgres://h:2", "-d", "postgres", "-s", store).code == 0
    assert lineage("extract", *sql, "--store", store).code == 2
    assert lineage("extract", *sql, "--store", store, "--namespace", "postgres://h:2").code == 0


def test_the_papers_reading_of_set_operations() -> None:
    sql = "CREATE VIEW v AS SELECT a FROM t UNION ALL SELECT b FROM u"
    assert "SET_OPERATION" not in lineage("extract", "-d", "postgres", "-q", sql).out
    assert "SET_OPERATION" in lineage("extract", "-d", "postgres", "-q", sql, "--set-operations", "paper").out
    assert lineage("extract", "-q", sql, "--set-operations", "typo").code == 2


def test_all_tables_that_a_statement_writes() -> None:
    sql = "FROM s INSERT INTO a SELECT x INSERT INTO b SELECT y"
    [row] = lineage("tables", "-d", "hive", "-q", sql, "-f", "json").json
    assert (row["destination"], row["other_destinations"]) == ("a", ["b"])
    [statement] = lineage("extract", "-d", "hive", "-q", sql, "-f", "json").json
    assert statement["targets"] == ["a", "b"]


def test_tables_of_several_files_say_where(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.sql").write_text(f"\ncreate view {name} as select 1 as one from t", encoding="utf-8")
    files = [str(tmp_path / f"{name}.sql") for name in "ab"]
    rows = lineage("tables", "-d", "postgres", *files, "--json").json
    assert [(row["destination"], row["place"]) for row in rows] == [
        (name, f"{file}:2:1") for name, file in zip("ab", files, strict=True)
    ]
    assert "place" not in lineage("tables", "-d", "postgres", files[0], "--json").json[0]

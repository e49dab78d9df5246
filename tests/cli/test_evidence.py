"""The SQL that proves an edge, on the command line: each expression in its turn, and where the file has it."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.running import lineage
from tests.dbt.manifests import manifest, model, write

SQL = """CREATE TABLE fct (region text, net_eur numeric); CREATE TABLE daily (region text, revenue numeric);
  CREATE TABLE other AS SELECT 1 AS one; INSERT INTO daily
WITH lines AS (SELECT * FROM fct)
SELECT region, sum(net_eur) FROM lines GROUP BY region; CREATE VIEW top AS SELECT revenue * 2 AS twice FROM daily;
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("evidence")
    (folder / "daily.sql").write_text(SQL)
    done = lineage("ingest", "sql", folder / "daily.sql", "-d", "postgres", "-s", folder / "s", "--project", "shop")
    assert done.code == 0, done.err
    return "-s", folder / "s"


def test_each_expression_in_its_turn(store: tuple[str, Path]) -> None:
    out = lineage("path", "fct.net_eur", "top.twice", *store).out
    shown = [line.split()[0] for line in out.splitlines() if "daily.sql" in line]
    assert shown == ["daily.sql:3:23", "daily.sql:4:20", "daily.sql:4:83"]


def test_the_file_has_at_each_place_what_is_shown(store: tuple[str, Path]) -> None:
    lines = SQL.splitlines()
    reached = lineage("impact", "fct.net_eur", *store, "-f", "json", "--paths").json["columns"]
    steps = [step for column in reached for step in column["path"]]
    pieces = [piece for step in steps for proof in step["evidence"] for piece in (proof, *proof["via"])]
    assert {piece["expression"] for piece in pieces} == {"*", "sum(net_eur)", "revenue * ?"}
    for piece in pieces:
        begin = piece["column"] - 1
        assert lines[piece["line"] - 1][begin : begin + len(piece["sql"])] == piece["sql"]


@pytest.mark.parametrize("question", [("impact", "fct.net_eur"), ("root-cause", "top.twice")])
def test_the_tree_of_paths_has_each_step_once(store: tuple[str, Path], question: tuple[str, str]) -> None:
    """Following the predecessors of a column's path leads to the start, over the steps that `--paths` lists."""
    whole = lineage(*question, *store, "-f", "json", "--paths").json
    tree = lineage(*question, *store, "-f", "json").json
    steps, paths = tree.pop("steps"), tree.pop("paths")
    assert len({json.dumps(one) for one in steps}) == len(steps) > 1
    assert all(step["evidence"] for step in steps)

    def unfolded(node: int | None) -> list[object]:
        found = []
        while node is not None:
            found.append(steps[paths[node]["step"]])
            node = paths[node]["predecessor"]
        return found if question[0] == "root-cause" else found[::-1]

    for column in tree["columns"]:
        column["path"] = unfolded(column["path"])
        if column["contribution"] is not None:
            column["contribution"] = unfolded(column["contribution"])
    for column in whole["columns"]:
        column["contribution"] = column["contribution"] and column["contribution"]["steps"]
    assert tree == whole
    assert lineage(*question, *store, "--paths").code == 2


def test_an_excerpt_does_not_begin_or_end_within_a_word(tmp_path: Path) -> None:
    others = [f"measurement_number_{number} as column_number_{number}" for number in range(20)]
    sql = f"create table r as select {', '.join([*others[:10], 'wanted + 1 as shown', *others[10:]])} from t"
    (tmp_path / "q.sql").write_text(sql)
    assert lineage("ingest", "sql", tmp_path / "q.sql", "-s", tmp_path / "s").code == 0
    out = " ".join(lineage("path", "t.wanted", "r.shown", "-s", tmp_path / "s").out.split())
    shown = out.partition("… ")[2].rpartition(" …")[0]
    assert "wanted + ? as shown" in shown
    assert set(shown.split()) <= set(sql.replace("+ 1", "+ ?").split())


def test_csv_names_the_expressions(store: tuple[str, Path]) -> None:
    rows = lineage("path", "fct.net_eur", "daily.revenue", *store, "-f", "csv").out.splitlines()
    assert rows[1].endswith(",daily.sql,3,* → sum(net_eur)")


def test_a_value_that_flows_is_shown_beside_a_shorter_influence(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(
        "CREATE TABLE r AS SELECT v + 1 AS w FROM y; CREATE VIEW s AS SELECT r.w FROM r JOIN y ON y.v = r.w"
    )
    given = ("-s", tmp_path / "s", "-f", "json")
    assert lineage("ingest", "sql", tmp_path / "q.sql", "-d", "postgres", *given).code == 0
    paths = lineage("path", "y.v", "s.w", *given).json
    assert [(one["transformation"], one["hops"]) for one in paths] == [("JOIN", 1), ("TRANSFORMATION", 2)]
    assert [one["hops"] for one in lineage("path", "y.v", "s.w", "--kind", "references", *given).json] == [1]


def test_sql_of_a_dbt_model_and_of_a_dashboard_is_not_the_text_of_their_files(tmp_path: Path) -> None:
    """A view's text in the database is an observation of its model, whose file has other lines."""
    project = manifest(model("m", "select\n a as b from shop.main.raw", relation_name="shop.main.m"))
    project["metadata"]["adapter_type"] = "duckdb"
    target = write(tmp_path / "target", project, catalog=False)
    (tmp_path / "boards.yaml").write_text(
        "server: s\nconnections:\n  w: {dialect: duckdb, namespace: duckdb, database: shop, schema: main}\n"
        "queries:\n  - {name: q, connection: w, sql: SELECT b FROM m}\n"
    )
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE raw (a INT); CREATE VIEW m AS SELECT a AS b FROM raw")
    at = ("-s", tmp_path / "s")
    assert lineage("ingest", "dbt", target, *at).code == 0
    assert lineage("ingest", "bi", "plain", tmp_path / "boards.yaml", *at).code == 0
    for observe in (False, True):
        if observe:
            assert lineage("ingest", "duckdb", tmp_path / "shop.duckdb", *at).code == 0
        out = lineage("path", "raw.a", "query/q.b", *at, columns=80).out
        shown = [line.strip().split("  ")[0] for line in out.splitlines() if "SQL line" in line]
        of_model = "1:25" if observe else "2:2"
        assert [one.removeprefix(f"{tmp_path}/") for one in shown] == [
            f"models/m.sql, SQL line {of_model}",
            "boards.yaml#queries/0, SQL line 1:8",
        ]

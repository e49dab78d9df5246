"""What commands print on terminals of several widths: names in one piece, lines that fit, evidence in JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.running import lineage

WAREHOUSE = "acme_analytics_warehouse"
ORDERS = f"{WAREHOUSE}.raw_customer_data.customer_orders_history"
CLEANED = f"{WAREHOUSE}.staging_layer.customer_orders_cleaned_up"
REVENUE = f"{WAREHOUSE}.reporting_layer.monthly_customer_revenue_summary"
AMOUNT, GROSS, TOTAL = f"{ORDERS}.order_amount_in_euros", f"{CLEANED}.gross_amount", f"{REVENUE}.total_revenue_in_euros"
FILES = {
    "orders.sql": f"CREATE TABLE {ORDERS} (customer_identifier int, order_amount_in_euros numeric, placed timestamp);\n"
    f"CREATE VIEW {CLEANED} AS SELECT customer_identifier,\n  order_amount_in_euros * 1.19 AS gross_amount, placed\n"
    f"FROM {ORDERS} WHERE order_amount_in_euros > 0;",
    "revenue.sql": f"CREATE VIEW {REVENUE} AS SELECT customer_identifier, md5(placed::text) AS placed,\n"
    f"  sum(gross_amount) AS total_revenue_in_euros, amuont FROM {CLEANED} GROUP BY 1, 2;",
}
WIDTHS = [40, 80, 100, 120]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warehouse")
    (folder / "models").mkdir()
    for name, sql in FILES.items():
        (folder / "models" / name).write_text(sql)
    done = lineage("ingest", "sql", folder / "models", "-d", "postgres", "-s", folder / "s.db", "--project", "shop")
    assert done.code == 0, done.err
    return folder


def commands(folder: Path) -> list[tuple[object, ...]]:
    store = ("-s", folder / "s.db")
    files = [folder / "models" / name for name in FILES]
    return [
        ("impact", AMOUNT, *store),
        ("root-cause", REVENUE, *store),
        ("path", AMOUNT, TOTAL, *store),
        ("runs", *store),
        ("usage", ORDERS, *store),
        ("search", "customer", *store),
        ("show", CLEANED, *store),
        ("columns", REVENUE, *store),
        ("jobs", *store),
        ("diagnostics", *store),
        ("diff", "--as-of", "2020-01-01", *store),
        ("extract", "-d", "postgres", *files),
        ("extract", "-d", "postgres", "--report", folder / "models"),
        ("tables", "-d", "postgres", *files),
        ("forget", "--project", "shop", "--dry-run", *store),
    ]


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_line_is_longer_than_the_terminal_but_for_a_single_name(folder: Path, columns: int) -> None:
    for command in commands(folder):
        done = lineage(*command, columns=columns)
        for line in (done.out + done.err).splitlines():
            assert cell_len(line) <= columns or len(line.strip("→ ").split()) <= 2, (command, line)


def test_in_a_file_lines_have_80_columns_and_names_are_in_full(folder: Path) -> None:
    for command in commands(folder):
        out = lineage(*command).out
        for line in out.splitlines():
            assert cell_len(line) <= 80 or len(line.removeprefix("      by way of").strip("→ ").split()) <= 2, (
                command,
                line,
            )
    out = lineage("impact", AMOUNT, "-s", folder / "s.db").out
    assert {GROSS, TOTAL} <= set(out.split())


@pytest.mark.parametrize("columns", [*WIDTHS, None])
def test_names_are_in_one_piece(folder: Path, columns: int | None) -> None:
    store = ("-s", folder / "s.db")
    for command, names in [
        (("impact", AMOUNT, *store), [AMOUNT, GROSS, TOTAL]),
        (("root-cause", TOTAL, *store), [AMOUNT, GROSS]),
        (("path", AMOUNT, TOTAL, *store), [AMOUNT, GROSS, TOTAL]),
        (("tables", "-d", "postgres", folder / "models" / "revenue.sql"), [REVENUE, CLEANED]),
        (("extract", "-d", "postgres", folder / "models" / "revenue.sql"), [GROSS, TOTAL]),
    ]:
        out = lineage(*command, columns=columns).out
        for name in names:
            shown = [name, *(name.split(".", at)[-1] for at in range(1, name.count(".") + 1))]
            assert any(
                one in out.replace(",", " ").split() for one in shown[: shown.index(name.split(".", 2)[-1]) + 2]
            ), (name, out)


def test_columns_without_values_are_left_out(folder: Path) -> None:
    store = ("-s", folder / "s.db")
    assert "masked" not in lineage("impact", AMOUNT, *store).out
    assert "masked" in lineage("impact", f"{ORDERS}.placed", *store).out
    assert "masked" in lineage("impact", AMOUNT, *store, "-f", "csv").out.splitlines()[0]


def test_values_come_before_references(folder: Path) -> None:
    for command in ("impact", AMOUNT), ("root-cause", REVENUE):
        for output, header in ("csv", 1), ("table", 4):
            out = lineage(*command, "-s", folder / "s.db", "-f", output, columns=300).out
            flows = ["CONTRIBUTES" in line for line in out.splitlines()[header:]]
            assert flows == sorted(flows, reverse=True), out
            assert any(flows), out


def test_the_first_rows_are_those_that_the_value_flows_to(folder: Path) -> None:
    out = lineage("impact", AMOUNT, "-s", folder / "s.db", "--rows", 2).out
    assert out.count("hops") == 3
    assert [name for name in out.splitlines() if name in (GROSS, TOTAL)] == [GROSS, TOTAL]


def test_json_carries_the_sql_its_file_and_line(folder: Path) -> None:
    store = ("-s", folder / "s.db", "-f", "json")
    proof = {
        "sql": "order_amount_in_euros",
        "expression": "order_amount_in_euros * ?",
        "file": "orders.sql",
        "line": 3,
        "column": 3,
        "project": "shop",
        "via": [],
    }
    [path, *_] = lineage("path", AMOUNT, TOTAL, *store).json
    assert path["steps"][0]["evidence"][0] == proof
    assert (path["steps"][1]["evidence"][0]["file"], path["steps"][1]["evidence"][0]["line"]) == ("revenue.sql", 2)
    reached = {one["column"]: one for one in lineage("impact", AMOUNT, *store, "--paths").json["columns"]}
    assert reached["gross_amount"]["path"][0]["evidence"][0] == proof
    assert reached["total_revenue_in_euros"]["contribution"]["steps"][0]["evidence"][0] == proof
    first = lineage("path", AMOUNT, TOTAL, "-s", folder / "s.db", "-f", "csv").out.splitlines()[1]
    assert first.endswith(",orders.sql,3,order_amount_in_euros * ?")


@pytest.mark.parametrize("columns", WIDTHS)
def test_errors_about_arguments_fit(columns: int) -> None:
    for arguments in (("diff", "a", "b", "--fail-on", "everything"), ("ingest", "log", "x", "--source", "paper")):
        done = lineage(*arguments, columns=columns)
        assert done.code == 2
        message = done.err[done.err.index("Error: ") :]
        assert max(map(cell_len, message.splitlines())) <= columns
        assert "Value error" not in message


def test_keys_and_places_lose_their_middle(tmp_path: Path) -> None:
    folder, store = tmp_path / "models" / "marts" / "finance_of_the_company", ("-s", tmp_path / "graph.db")
    folder.mkdir(parents=True)
    (folder / "revenue.sql").write_text("create view prod.mart.revenue_by_customer as select o.a, z.b from raw.o")
    lineage("ingest", "sql", tmp_path, "-d", "snowflake", "--project", "shop", *store)
    key = lineage("jobs", *store, columns=60).out.splitlines()[2]
    assert len(key) == 60
    assert lineage("jobs", key, *store, "--json").json[0]["writes"] == ["PROD.MART.REVENUE_BY_CUSTOMER"]
    lines = lineage("diagnostics", *store, columns=60).out.splitlines()
    assert lines[0].split() == ["severity", "code", "place"]
    assert "…" in lines[2]


def test_an_answer_without_columns_claims_no_more_than_is_known(folder: Path) -> None:
    def said(*command: str) -> str:
        return " ".join(lineage(*command, "-s", folder / "s.db").out.split())

    assert said("impact", TOTAL) == f"no column is known to depend on {TOTAL}"
    assert said("impact", TOTAL, "--kind", "contributes").endswith(f"{TOTAL}, by contributes edges only")
    assert said("root-cause", AMOUNT) == f"no source of {AMOUNT} is known"

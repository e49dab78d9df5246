"""The graph in the form of LineageX's output.json."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from lineage.cli.main import app
from lineage_ingest import SqlOptions, ingest_sql

SQL = """CREATE TABLE shop.orders (id int, amount numeric, country text);
CREATE VIEW mart.revenue AS SELECT sum(amount) AS total FROM shop.orders WHERE country = 'secret' GROUP BY id;
CREATE VIEW mart.copied AS SELECT total FROM mart.revenue;
"""


def test_each_column_has_what_contributes_and_what_it_references(tmp_path: Path) -> None:
    (tmp_path / "shop.sql").write_text(SQL)
    store = tmp_path / "lineage.db"
    ingest_sql([tmp_path / "shop.sql"], store=store, options=SqlOptions(dialect="postgres"))
    output = tmp_path / "output.json"
    done = CliRunner().invoke(app, ["export", "json", "--store", str(store), "--output", str(output)])
    assert done.exit_code == 0, done.output
    found = json.loads(output.read_text())
    assert "secret" not in output.read_text()
    assert found["shop.orders"] == {
        "tables": [""],
        "columns": {"id": [[""], [""]], "amount": [[""], [""]], "country": [[""], [""]]},
        "table_name": "shop.orders",
        "sql": "this is a base table",
    }
    revenue = found["mart.revenue"]
    assert revenue["tables"] == ["shop.orders"]
    assert revenue["columns"] == {"total": [["shop.orders.amount"], ["shop.orders.country", "shop.orders.id"]]}
    assert "sum(amount)" in revenue["sql"]
    assert found["mart.copied"]["columns"] == {"total": [["mart.revenue.total"], []]}


def test_a_focus_chooses_tables(tmp_path: Path) -> None:
    (tmp_path / "shop.sql").write_text(SQL)
    store = tmp_path / "lineage.db"
    ingest_sql([tmp_path / "shop.sql"], store=store, options=SqlOptions(dialect="postgres"))
    arguments = ["export", "json", "--store", str(store), "--focus", "mart.copied.total", "--hops", "1"]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert set(found) == {"mart.revenue", "mart.copied"}

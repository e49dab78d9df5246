"""`--tree`: each column below the one that it is reached from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import lineage

SQL = """
CREATE VIEW "ANALYTICS"."STAGING"."STG_CUSTOMER_ORDERS" AS SELECT id, net / 100 AS net_amount FROM shop.raw.orders;
CREATE VIEW "ANALYTICS"."MART"."REVENUE" AS
SELECT sum(net_amount) AS total_revenue_in_euros FROM "ANALYTICS"."STAGING"."STG_CUSTOMER_ORDERS" WHERE id > 1;
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "v.sql").write_text(SQL, encoding="utf-8")
    assert lineage("ingest", "sql", tmp_path / "v.sql", "-d", "postgres", "-s", tmp_path / "s.db").code == 0
    return tmp_path / "s.db"


def test_impact_as_a_tree(store: Path) -> None:
    printed = lineage("impact", "shop.raw.orders.net", "--tree", "-s", store).out.splitlines()
    assert printed[-3:] == [
        "shop.raw.orders.net",
        "└─ ANALYTICS.STAGING.STG_CUSTOMER_ORDERS.net_amount  TRANSFORMATION",
        "   └─ ANALYTICS.MART.REVENUE.total_revenue_in_euros  AGGREGATION",
    ]


def test_columns_of_rows_that_are_influenced(store: Path) -> None:
    printed = lineage("impact", "shop.raw.orders.id", "--tree", "-s", store).out.splitlines()
    assert printed[-2:] == [
        "   └─ ANALYTICS.MART.REVENUE (rows)",
        "      └─ ANALYTICS.MART.REVENUE.total_revenue_in_euros  FILTER",
    ]


def test_root_cause_as_a_tree(store: Path) -> None:
    printed = lineage("root-cause", "ANALYTICS.MART.REVENUE.total_revenue_in_euros", "--tree", "-s", store).out
    assert "└─ shop.raw.orders.net  AGGREGATION, root" in printed


def test_a_narrow_terminal_cuts_the_middle_of_names(store: Path) -> None:
    printed = lineage("impact", "shop.raw.orders.net", "--tree", "-s", store, columns=60).out.splitlines()
    assert "…" in printed[-1]
    assert all(len(line) <= 60 for line in printed[2:])


def test_a_tree_is_for_people(store: Path) -> None:
    done = lineage("impact", "shop.raw.orders.net", "--tree", "--json", "-s", store)
    assert done.code == 2
    assert "--tree is for people" in done.err

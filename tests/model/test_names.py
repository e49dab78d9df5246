from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.model.dialects import DIALECTS, UnknownDialectError, dialect_named
from lineage.model.names import (
    Naming,
    column_key,
    dataset_key,
    format_name,
    parse_column_name,
    parse_table_name,
    split_column_key,
    split_name,
)
from lineage.sql.procedural.text.tokens import parser_of

parts = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8), min_size=1, max_size=4
)


@given(parts.filter(lambda names: all(name.strip() == name for name in names)))
def test_a_name_survives_being_written_and_read(names: list[str]) -> None:
    assert [part for part, _ in split_name(format_name(names))] == names


@pytest.mark.parametrize(
    ("dialect", "unquoted", "quoted"),
    [
        ("postgres", "orders", "Orders"),
        ("snowflake", "ORDERS", "Orders"),
        ("oracle", "ORDERS", "Orders"),
        ("bigquery", "Orders", "Orders"),
        ("mysql", "Orders", "Orders"),
        ("clickhouse", "Orders", "Orders"),
        ("spark", "orders", "orders"),
        ("duckdb", "orders", "orders"),
        ("redshift", "orders", "orders"),
        ("trino", "orders", "orders"),
        ("tsql", "orders", "orders"),
        ("hive", "orders", "orders"),
        ("sqlite", "orders", "orders"),
    ],
)
def test_case_of_tables(dialect: str, unquoted: str, quoted: str) -> None:
    assert parse_table_name("Orders", dialect_named(dialect)) == (unquoted,)
    assert parse_table_name('"Orders"', dialect_named(dialect)) == (quoted,)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_known_to_the_parser(dialect: str) -> None:
    assert parser_of(dialect_named(dialect))


def test_columns_keep_no_case_in_bigquery_and_mysql() -> None:
    for name in ("bigquery", "mysql"):
        assert parse_column_name("Shop.Total", dialect_named(name)) == (("Shop",), "total")


@pytest.mark.parametrize("alias", ["PostgreSQL", "mssql", "SparkSQL", "MariaDB"])
def test_aliases_of_dialects(alias: str) -> None:
    assert dialect_named(alias)


def test_an_unknown_dialect_offers_the_nearest() -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'snowflake'"):
        dialect_named("snowflak")


@pytest.mark.parametrize(
    ("given_parts", "full"),
    [
        (["t"], "db.s.t"),
        (["x", "t"], "db.x.t"),
        (["y", "x", "t"], "y.x.t"),
    ],
)
def test_defaults_fill_what_is_missing(given_parts: list[str], full: str) -> None:
    naming = Naming(dialect_named("postgres"), default_database="db", default_schema="s")
    assert naming.qualify(given_parts) == full


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("snowflake", "SHOP.PUBLIC.t"), ("postgres", "SHOP.public.t"), ("redshift", "SHOP.public.t"),
        ("tsql", "SHOP.dbo.t"), ("duckdb", "SHOP.main.t"), ("trino", "t"), ("mysql", "t"),
    ],
)  # fmt: skip
def test_a_database_needs_a_schema_after_it(dialect: str, name: str) -> None:
    assert Naming(dialect_named(dialect), default_database="SHOP").qualify(["t"]) == name
    assert Naming(dialect_named(dialect)).qualify(["t"]) == "t"


@pytest.mark.parametrize(
    ("table", "normalised"),
    [
        ("events_20240131", "events_*"),
        ("events_20241301", "events_20241301"),
        ("ga20240131", "ga_*"),
        ("events_2024", "events_2024"),
    ],
)
def test_bigquery_shards(table: str, normalised: str) -> None:
    assert Naming(dialect_named("bigquery")).qualify([table]) == normalised
    assert Naming(dialect_named("postgres")).qualify([table]) == table


def test_keys() -> None:
    dataset = dataset_key("postgres://db:5432", "shop.public.orders")
    assert split_column_key(column_key(dataset, "address.city")) == (dataset, "address.city")

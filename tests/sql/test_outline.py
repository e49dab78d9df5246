"""Outlines: they change nothing of the lineage, and their steps lead to every column that the resolver has traced."""

from __future__ import annotations

from typing import Any

from lineage import Catalog, extract_script
from lineage.model.influence.transformations import EdgeKind
from lineage.sql.extraction import options_for
from lineage.sql.outline.outlined_text import outline_text
from lineage.sql.outline.query_outline import ColumnPlace, OutlinedStatement
from tests.sql.case_files import Case, read_cases

CATALOG = Catalog.from_dict({"shop.orders": ["id", "amount", "customer_id"], "shop.people": ["id", "mail"]}, "postgres")


def _outlined(case: Case) -> tuple[list[Any], list[OutlinedStatement]]:
    catalog = Catalog.from_dict(case.schemas, case.dialect)
    defaults: dict[str, Any] = {name: value for name, value in case.options.items() if name.startswith("default_")}
    plain = extract_script(case.sql, case.dialect, catalog, **defaults)
    return plain, outline_text(case.sql, options_for(case.dialect, **defaults), catalog)


def _reached(statement: OutlinedStatement, place: ColumnPlace, seen: set[ColumnPlace]) -> set[tuple[str, str]]:
    if place in seen:
        return set()
    seen.add(place)
    if place.table is not None:
        return {(place.table, place.name)}
    column = statement.column(place)  # None for what SEARCH and CYCLE add to a CTE
    return {found for read in (column.reads if column else ()) for found in _reached(statement, read, seen)}


def test_the_outlines_of_all_cases_fit_their_lineage() -> None:
    columns = 0
    for case in read_cases():
        plain, outlined = _outlined(case)
        assert [one.lineage for one in outlined] == plain, case.name
        for statement in outlined:
            for reading in statement.readings:
                assert 0 <= reading.span.start < reading.span.end <= len(case.sql), case.name
            for number, block in enumerate(statement.blocks):
                for index, column in enumerate(block.columns):
                    columns += 1
                    own = ColumnPlace(column.name, None, number, index)
                    traced = {
                        (one.table, one.column)
                        for one in column.sources
                        if one.table and one.subtype.kind is EdgeKind.CONTRIBUTES  # a recursive query has no table
                    }
                    assert traced <= _reached(statement, own, set()), (case.name, column.name)
    assert columns > 2_000


def test_names_mean_columns_of_ctes_tables_and_outputs() -> None:
    sql = """WITH o AS (SELECT *, amount * 2 AS twice FROM shop.orders)
    SELECT o.twice AS total, (SELECT max(mail) FROM shop.people p WHERE p.id = o.customer_id) AS m
    FROM o ORDER BY total"""
    [found] = outline_text(sql, options_for("postgres"), CATALOG)
    meant = {
        (sql[one.span.start : one.span.end], one.influences): [
            place.table or f"{found.blocks[place.block or 0].name}.{place.name}" for place in one.places
        ]
        for one in found.readings
    }
    assert meant == {
        ("amount", False): ["shop.orders"],
        ("o.twice", False): ["o.twice"],
        ("mail", False): ["shop.people"],
        ("p.id", True): ["shop.people"],
        ("o.customer_id", True): ["o.customer_id"],
        ("total", True): ["None.total"],
    }
    texts = [sql[block.span.start : block.span.end] for block in found.blocks]
    assert "SELECT *, amount * 2 AS twice FROM shop.orders" in texts
    assert "SELECT max(mail) FROM shop.people p WHERE p.id = o.customer_id" in texts
    assert [block.is_output for block in found.blocks].count(True) == 1
    star = next(
        column for block in found.blocks if block.name == "o" for column in block.columns if column.name == "id"
    )
    assert (star.from_star, star.span and sql[star.span.start : star.span.end]) == (True, "*")

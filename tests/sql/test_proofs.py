"""What proves an edge: where its source is read, and where what that gives is read in turn."""

from __future__ import annotations

import pytest

from lineage import Catalog, extract_script
from lineage.model.diagnostics import Span
from lineage.model.influence.evidence import spans_of
from lineage.model.statement import Edge

CATALOG = Catalog.from_dict({"fct": ["region", "sold_at", "net_eur"], "dim": ["region", "name"]}, "postgres")

CASES = [
    pytest.param(
        "with l as (select * from fct) select sum(net_eur) as revenue from l",
        {"net_eur": ["*", "net_eur"]},
        id="an import CTE",
    ),
    pytest.param(
        "with l as (select * from fct), r as (select *, row_number() over (order by sold_at) as n from l) "
        "select max(n) as last from r",
        {"sold_at": ["*", "sold_at", "n"]},
        id="a window over an import CTE",
    ),
    pytest.param("select sum(net_eur) as n from fct", {"net_eur": ["net_eur"]}, id="read once"),
    pytest.param(
        "select a from (select net_eur + 1 as a from fct) s",
        {"net_eur": ["net_eur"]},
        id="handed on as it is",
    ),
    pytest.param(
        "select b + 1 as c from (select a * 2 as b from (select net_eur as a from fct) s) t",
        {"net_eur": ["net_eur", "a", "b"]},
        id="sub-queries",
    ),
    pytest.param(
        "with recursive r(x, n) as (select net_eur, 1 from fct union all select x + 1, n + 1 from r) "
        "select round(x) as y from r",
        {"net_eur": ["net_eur", "x"]},
        id="a recursive CTE",
    ),
    pytest.param(
        "with l as (select * from fct) select a + 1 as b from (select net_eur + 1 as a from l) s",
        {"net_eur": ["*", "net_eur", "a"]},
        id="a sub-query over a CTE",
    ),
]


def proofs(sql: str, edges: list[Edge]) -> dict[str, list[str]]:
    return {
        edge.source.column: [sql[span.start : span.end] for span in (edge.span, *edge.via) if span is not None]
        for edge in edges
    }


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_the_places_of_a_value_in_order(query: str, expected: dict[str, list[str]]) -> None:
    sql = f"create view v as {query}"
    [statement] = extract_script(sql, "postgres", CATALOG)
    assert proofs(sql, [e for e in statement.edges if e.source.column in expected]) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select left(region, 1) || region as a from fct", [["region"], ["region"]]),
        ("select left(region, 1) as a from fct union all select upper(region) from dim", [["region"]]),
        ("select left(region, 1) as a from fct union all select upper(region) from fct", [["region"], ["region"]]),
        (
            "with c as (select region as x, region as y from fct) select left(x, 1) || y as a from c",
            [["region", "x"], ["region", "y"]],
        ),
        (
            "with recursive c(x, y) as (select left(region, 1), upper(region) from fct "
            "union all select y || '.', y from c) select x || '.' as a from c",
            [["region", "x"], ["region", "y", "x"]],
        ),
        (f"select {' || '.join(['region'] * 20)} as a from fct", [["region"]] * 8),
    ],
)
def test_a_value_that_is_read_more_than_once(query: str, expected: list[list[str]]) -> None:
    """`left(region, 1) || region` is no part of a region: whoever looks at one place only would think so."""
    sql = f"create view v as {query}"
    [statement] = extract_script(sql, "postgres", CATALOG)
    [edge] = [one for one in statement.edges if one.source == ("fct", "region") and one.kind == "CONTRIBUTES"]
    found = [[sql[start:end] for start, end in spans_of(chain)] for chain in edge.proofs()]
    assert found == expected
    assert len(set(edge.proofs())) == len(expected)


def test_values_that_are_doubled_again_and_again() -> None:
    steps = ", ".join(f"c{level} as (select x || x as x from c{level - 1})" for level in range(1, 2_000))
    sql = f"with c0 as (select region as x from fct), {steps} select x from c1999"
    [statement] = extract_script(sql, "postgres", CATALOG)
    [edge] = [one for one in statement.edges if one.kind == "CONTRIBUTES"]
    assert str(statement.completeness) == "full"
    assert len(edge.proofs()) <= 8


def test_of_many_places_the_last_ones_are_kept() -> None:
    sql = "select net_eur as c0 from fct"
    for level in range(40):
        sql = f"select c{level} + 1 as c{level + 1} from ({sql}) t{level}"
    [statement] = extract_script(f"create view v as {sql}", "postgres", CATALOG)
    [edge] = statement.edges
    [names] = proofs(f"create view v as {sql}", [edge]).values()
    assert names == ["net_eur", "c0", *(f"c{level}" for level in range(29, 40))]


TEMPORARY = """create temp table s as with l as (select * from fct)
  select region, sum(net_eur) as rev from l group by region;
create temp table s2 as select rev * 2 as twice, region from s where region <> 'x';
insert into s2 select net_eur + 1, region from fct;
create table t as select round(twice) as r, region from s2"""


def made_before(edge: Edge) -> list[list[str]]:
    listed = edge.before.in_order() if edge.before is not None else []
    assert all(TEMPORARY[one.span.start :].startswith(("create temp", "insert")) for one in listed)
    return [[TEMPORARY[span.start : span.end] for span in one.places] for one in listed]


def test_through_temporary_tables_each_statement_in_its_turn() -> None:
    *_, statement = extract_script({"f.sql": TEMPORARY}, "postgres", CATALOG)
    found = {str(edge): (made_before(edge), proofs(TEMPORARY, [edge])) for edge in statement.edges}
    assert found == {
        "fct.net_eur -> t.r [AGGREGATION]": ([["*", "net_eur"], ["rev"]], {"net_eur": ["twice"]}),
        "fct.net_eur -> t.r [TRANSFORMATION]": ([["net_eur"]], {"net_eur": ["twice"]}),
        "fct.region -> t.region [IDENTITY]": ([["*"], ["region"]], {"region": ["region"]}),
        "fct.region ~> t [FILTER]": ([["*"], ["region"]], {"region": ["s2"]}),
        "fct.region ~> t [GROUP_BY]": ([["*", "region"], ["s"]], {"region": ["s2"]}),
    }


def test_a_temporary_table_of_parts_of_a_session() -> None:
    parts = ["create temp table s as select sum(net_eur) as rev from fct", "create table t as select rev from s"]
    [edge] = extract_script(parts, "postgres", CATALOG)[1].edges
    assert edge.before is not None
    assert (edge.before.source, edge.span) == ("1", Span(25, 28, 1, 26))
    assert [parts[0][span.start : span.end] for span in edge.before.places] == ["net_eur"]

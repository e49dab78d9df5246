"""Steps by way of CTEs: what each reads, and that the steps together are the statement's edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from lineage.model.influence.transformations import EdgeKind
from lineage.sql.extraction import options_for
from lineage.sql.outline.cte_steps import QueryColumn, QueryStep, cte_steps
from lineage.sql.outline.outlined_text import outline_text
from tests.sql.test_jobs import CONCEPTS, MIMIC

CASES = {
    "WITH c AS (SELECT a, md5(b) AS h FROM t WHERE k > 1) SELECT a + 1 AS x, h FROM c": [
        "t.a -> c.a same", "t.b -> c.h masked", "c.a -> .x", "c.h -> .h same", "t.k ~> c.",
    ],
    "WITH c (p) AS (SELECT a FROM t) INSERT INTO o (k) SELECT p FROM c": ["t.a -> c.p same", "c.p -> .k same"],
    "WITH a AS (SELECT x FROM t) SELECT x FROM (WITH a AS (SELECT y AS x FROM u) SELECT x FROM a) AS q": [
        "a.x -> .x", "u.y -> a.x same",
    ],
    "WITH a AS (SELECT x FROM t) SELECT a.x, y FROM a, (WITH a AS (SELECT y FROM u) SELECT y FROM a) AS q": [
        "t.x -> a.x same", "a.x -> .x same", "a (2).y -> .y", "u.y -> a (2).y same",
    ],
    'WITH "a (2)" AS (SELECT x FROM t), a AS (SELECT x FROM u) '
    'SELECT q.x AS y, a.x, "a (2)".x AS z FROM "a (2)", a, (WITH a AS (SELECT x FROM v) SELECT x FROM a) AS q': [
        "t.x -> a (2).x same", "u.x -> a.x same", "v.x -> a (3).x same",
        "a (3).x -> .y", "a.x -> .x same", "a (2).x -> .z same",
    ],
    "WITH a AS (SELECT f, v FROM t) SELECT CASE WHEN f > 0 THEN v END AS x FROM a": [
        "t.f -> a.f same", "t.v -> a.v same", "a.f ~> .x", "a.v -> .x",
    ],
    "WITH a AS (SELECT x FROM t) SELECT q.x FROM (SELECT x FROM a WHERE x > 1) AS q": [
        "t.x -> a.x same", "a.x -> .x", "a.x ~> .",
    ],
    "WITH a AS (SELECT x, k FROM t) UPDATE s SET v = a.x FROM a WHERE a.k = s.k": None,
    "SELECT x FROM t": None,
}  # fmt: skip


def _steps(sql: str) -> tuple[QueryStep, ...] | None:
    [found] = outline_text(sql, options_for("postgres"))
    return cte_steps(found)


@pytest.mark.parametrize("sql", CASES)
def test_steps_of(sql: str) -> None:
    steps, wanted = _steps(sql), CASES[sql]
    assert wanted == steps if steps is None else sorted(wanted or ()) == sorted(map(_text, steps))


def _text(step: QueryStep) -> str:
    names = [f"{one.table or one.cte or ''}.{one.column or ''}" for one in (step.source, step.target)]
    arrow = "->" if step.kind is EdgeKind.CONTRIBUTES else "~>"
    return f" {arrow} ".join(names) + (" same" if step.is_unchanged else "") + (" masked" if step.masking else "")


def test_a_recursive_query_reads_itself() -> None:
    steps = _steps("WITH RECURSIVE r (n) AS (SELECT a FROM t UNION ALL SELECT n + 1 FROM r) SELECT n FROM r")
    assert steps is not None
    assert {_text(step) for step in steps} >= {"t.a -> r.n same", "r.n -> r.n", "r.n -> .n same"}
    assert {step.source.table or step.source.cte for step in steps} == {"t", "r"}


def test_the_steps_together_are_the_edges_of_the_statement() -> None:
    checked = 0
    for text in CONCEPTS.values():
        for statement in outline_text(text, options_for("postgres"), MIMIC):
            steps = cte_steps(statement)
            if steps is None:
                continue
            checked += 1
            values = [edge for edge in statement.lineage.edges if edge.kind is EdgeKind.CONTRIBUTES]
            wanted = {(edge.source.table, edge.source.column, getattr(edge.target, "column", None)) for edge in values}
            assert set(_composed(steps)) == wanted
    assert checked > 30


def _composed(steps: Iterable[QueryStep]) -> Iterable[tuple[str | None, str | None, str | None]]:
    sources = defaultdict(list)
    for step in steps:
        if step.kind is EdgeKind.CONTRIBUTES:
            sources[step.target].append(step.source)
    for output in [one for one in sources if one.table is None and one.cte is None]:
        waiting, seen = [output], set[QueryColumn]()
        while waiting:
            for source in sources.get(waiting.pop(), ()):
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
                    if source.table is not None:
                        yield source.table, source.column, output.column

"""What the database says of its views is compared with our lineage: docs/databases.md, docs/diagnostics.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ColumnRef, Completeness
from lineage.store import GraphStore
from lineage_ingest import DatabaseOptions, ingest_postgres
from lineage_ingest.live_database.objects import LiveDatabase
from lineage_ingest.live_database.postgres import ingest as module
from lineage_ingest.live_database.postgres.stated_texts import stated_texts
from lineage_ingest.live_database.postgres.view_verification import known_relations, read_tree, verify_views
from lineage_ingest.live_database.stated_text import StatedText
from lineage_ingest.live_database.verification.node_tree import NodeTreeError, parse_node_tree
from lineage_ingest.live_database.verification.query_analysis import analyse_query
from lineage_ingest.live_database.verification.view_comparison import ViewVerdict, compare
from tests.cli.running import lineage
from tests.live_database.mimic_views import create_mimic_views
from tests.live_database.postgres_database import NAMESPACE, ServedDatabase

pytestmark = pytest.mark.xdist_group("postgres")
VERIFY = DatabaseOptions(namespace=NAMESPACE, verify=True)


def test_other_columns_than_the_database_has(
    database: ServedDatabase, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DATABASE_DIFFERS, if a definition is read to have other columns; no definition is known to be."""
    database.run("CREATE TABLE t (a int, b int); CREATE VIEW v AS SELECT a, b FROM t")

    def misread(database: LiveDatabase) -> Iterator[StatedText]:
        for text in stated_texts(database):
            yield replace(text, text='CREATE VIEW "public"."v" AS SELECT a FROM public.t')

    monkeypatch.setattr(module, "stated_texts", misread)
    summary = ingest_postgres(database.uri, store=store, options=DatabaseOptions(namespace=NAMESPACE))
    assert [str(one.diagnostic.code) for one in summary.diagnostics] == ["DATABASE_DIFFERS"]
    assert summary.batch.jobs[0].completeness is Completeness.PARTIAL


VIEWS = """
CREATE TABLE c (id int, name text, email text, country text);
CREATE TABLE o (id int, customer int, price numeric, n int, day date, tags text[], doc jsonb);
CREATE VIEW v01 AS SELECT c.*, o.price * o.n AS total FROM c JOIN o ON o.customer = c.id WHERE o.day > '2020-01-01';
CREATE VIEW v02 AS SELECT id, name, n FROM c FULL JOIN (SELECT id, n FROM o) x USING (id);
CREATE VIEW v03 AS SELECT id FROM c UNION SELECT customer FROM o EXCEPT SELECT n FROM o;
CREATE VIEW v04 AS SELECT id, (SELECT max(price) FROM o WHERE o.customer = c.id) AS top,
  EXISTS (SELECT FROM o WHERE o.customer = c.id) AS buys, id IN (SELECT customer FROM o WHERE n > 3) AS many FROM c;
CREATE VIEW v05 AS SELECT c.id, l.t, u.v, u.i FROM c CROSS JOIN LATERAL
  (SELECT o.price AS t FROM o WHERE o.customer = c.id ORDER BY o.day LIMIT 1) l,
  unnest(ARRAY[c.name, c.email]) WITH ORDINALITY u(v, i);
CREATE VIEW v06 AS SELECT country, count(*) AS k, array_agg(name ORDER BY email) FILTER (WHERE id > 3) AS names,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY id) AS mid, grouping(country) AS g
  FROM c GROUP BY GROUPING SETS ((country), ()) HAVING max(id) > 3;
CREATE VIEW v07 AS SELECT id, lag(price) OVER w AS before, sum(price) FILTER (WHERE n > 1) OVER (PARTITION BY day) AS s
  FROM o WINDOW w AS (PARTITION BY customer ORDER BY day);
CREATE VIEW v08 AS WITH x AS MATERIALIZED (SELECT country, max(id) AS m FROM c GROUP BY country),
  y AS (SELECT m + 1 AS k, country FROM x) SELECT y.k, CASE WHEN y.country = 'de' THEN x.m END AS w FROM y
  LEFT JOIN x ON x.country = y.country;
CREATE RECURSIVE VIEW v09 (a, b) AS SELECT id, name FROM c UNION ALL SELECT a + 1, b FROM v09 WHERE a < 5;
CREATE VIEW v10 AS SELECT c AS whole, to_jsonb(c) AS j, c.ctid::text AS place FROM c;
CREATE VIEW v11 AS SELECT DISTINCT ON (country) country, name FROM c ORDER BY country, id DESC;
CREATE VIEW v12 AS SELECT v.a, w.x, w.y FROM (VALUES (1, 'x'), (2, 'y')) v(a, b), o, unnest(o.tags, o.tags) AS w(x, y);
CREATE VIEW v13 AS SELECT t.relname, c.id FROM pg_catalog.pg_class t JOIN c ON c.name = t.relname::text;
CREATE VIEW v14 AS SELECT coalesce(name, email) AS n, nullif(country, 'x') AS k, row(id, name)::text AS r,
  name || '!' AS s FROM c;
CREATE VIEW v15 AS SELECT x.key, x.value ->> 'a' AS a FROM o, jsonb_each(o.doc) x WHERE x.key > 'b';
CREATE VIEW v16 AS WITH RECURSIVE t(id, up) AS (SELECT id, n FROM o UNION ALL
  SELECT o.id, t.up FROM o JOIN t ON o.n = t.id)
  SEARCH DEPTH FIRST BY id SET path CYCLE id SET is_cycle USING trail SELECT id, up, is_cycle FROM t;
CREATE VIEW v17 AS SELECT v01.total, v02.n FROM v01 JOIN v02 USING (id) ORDER BY v01.country LIMIT 5;
CREATE MATERIALIZED VIEW v18 AS SELECT (SELECT string_agg(name, ',') FROM c WHERE c.country = any(o.tags)) AS names
  FROM o;
"""


def test_views_of_every_kind_are_as_postgresql_says(database: ServedDatabase, store: GraphStore) -> None:
    database.run(VIEWS)
    summary = ingest_postgres(database.uri, store=store, options=VERIFY)
    assert summary.verification is not None
    assert [
        (one.name, one.differences) for one in summary.verification.views if one.verdict is not ViewVerdict.SAME
    ] == []
    assert len(summary.verification.views) == 18


NO_DIFFERENCE = {
    "of three columns that are merged, any may be reported": (
        "CREATE TABLE a (id smallint, d date, v int); CREATE TABLE b (id int, d timestamp, w int);"
        "CREATE TABLE c (id bigint, d timestamptz, x int);"
        "CREATE VIEW v1 AS SELECT * FROM a JOIN b USING (id, d) JOIN c USING (id, d);"
        "CREATE VIEW v2 AS SELECT id * x AS y FROM c JOIN (a NATURAL JOIN b) USING (id);"
        "CREATE VIEW v3 AS SELECT id FROM a JOIN b USING (id) LEFT JOIN c USING (id)"
    ),
    "functions in FROM that number their rows": (
        "CREATE TABLE o (tags text[], doc jsonb); CREATE VIEW v1 AS SELECT w.* FROM o, ROWS FROM (unnest(o.tags), "
        "jsonb_to_recordset(o.doc) AS (a int, b text)) WITH ORDINALITY AS w(x, a, b, n);"
        "CREATE VIEW v2 AS SELECT j.*, o.tableoid::regclass AS t FROM o, json_table(o.doc, '$[*]' COLUMNS (n FOR "
        "ORDINALITY, a int PATH '$.a')) AS j"
    ),
}


@pytest.mark.parametrize("name", NO_DIFFERENCE)
def test_no_difference(name: str, database: ServedDatabase, store: GraphStore) -> None:
    database.run(NO_DIFFERENCE[name])
    summary = ingest_postgres(database.uri, store=store, options=VERIFY)
    assert summary.verification is not None
    assert {one.verdict for one in summary.verification.views} == {ViewVerdict.SAME}
    assert summary.diagnostics == ()


def test_what_is_not_read_here_is_no_unexplained_difference(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        "CREATE TABLE o (tags text[], doc jsonb, k int);"
        "CREATE VIEW v AS SELECT json_exists(doc, '$.a ? (@ > $x)' PASSING k AS x) AS e FROM o;"
        "CREATE VIEW w AS SELECT x.a FROM o, xmltable('/r' PASSING (o.doc::text::xml) COLUMNS a int PATH 'a') x"
    )
    summary = ingest_postgres(database.uri, store=store, options=VERIFY)
    assert summary.verification is not None
    assert [(one.name, one.verdict) for one in summary.verification.views] == [
        ("public.v", ViewVerdict.EXPLAINED), ("public.w", ViewVerdict.NOT_COMPARED)
    ]  # fmt: skip
    reason = summary.verification.views[0].reason
    assert reason == "a part of it is not read here: PARSE_ERROR"
    assert summary.has_errors


def test_mimic_iv_is_as_postgresql_says(database: ServedDatabase, store: GraphStore) -> None:
    assert create_mimic_views(database) == 65
    summary = ingest_postgres(database.uri, store=store, options=VERIFY)
    assert summary.verification is not None
    assert [one for one in summary.verification.views if one.verdict is not ViewVerdict.SAME] == []
    assert (len(summary.verification.views), summary.has_errors) == (65, False)
    assert summary.batch.run.counts["resolved"] == 65


def test_a_wrong_edge_is_found(database: ServedDatabase, store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edge that is left out is a difference, and so is one from another column."""
    database.run(VIEWS)
    texts = {"edges": 0, "found": 0}

    def verify(session: Any, database: LiveDatabase, statements: Any, progress: Any) -> Any:
        known = known_relations(database)
        for text, statement in statements:
            analysis = analyse_query(parse_node_tree(str(read_tree(session, text.relation.oid))), known.columns_of)
            contributing = [edge for edge in statement.edges if edge.kind is EdgeKind.CONTRIBUTES]
            for edge in contributing:
                rest = [one for one in statement.edges if (one.source, one.target) != (edge.source, edge.target)]
                if edge.source.column == "ctid":
                    continue
                texts["edges"] += 1
                less = compare("v", replace(statement, edges=rest), analysis, known)
                other = ColumnRef(f"{database.name}.public.o", "doc" if edge.source.column != "doc" else "n")
                wrong = compare("v", replace(statement, edges=[*rest, edge._replace(source=other)]), analysis, known)
                assert wrong.verdict is ViewVerdict.DIFFERENT, (text.name, edge)
                texts["found"] += less.verdict is ViewVerdict.DIFFERENT
        return verify_views(session, database, statements, progress)

    monkeypatch.setattr(module, "verify_views", verify)
    ingest_postgres(database.uri, store=store, options=VERIFY)
    assert texts["edges"] > 50
    assert texts["found"] == texts["edges"] - 2  # GROUPING and CYCLE: they may be reported, and need not be


def test_what_called_functions_read_is_explained(database: ServedDatabase, store: GraphStore) -> None:
    database.run(
        "CREATE TABLE t (a int, b text); CREATE FUNCTION f(x int) RETURNS text LANGUAGE sql AS "
        "'SELECT b FROM t WHERE a = x'; CREATE VIEW v AS SELECT f(a) AS c FROM t"
    )
    summary = ingest_postgres(database.uri, store=store, options=VERIFY)
    assert summary.verification is not None
    [view] = summary.verification.views
    assert (view.verdict, summary.has_errors) == (ViewVerdict.EXPLAINED, False)
    assert f"c: {database.name}.public.t.b is too much" in view.differences


def test_a_difference_is_stored_and_fails_the_command(
    database: ServedDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.run("CREATE TABLE t (a int, b int); CREATE VIEW v AS SELECT a, b FROM t")

    def misread(database: LiveDatabase) -> Iterator[StatedText]:
        for text in stated_texts(database):
            yield replace(text, text='CREATE VIEW "public"."v" AS SELECT a, a AS b FROM public.t')

    monkeypatch.setattr(module, "stated_texts", misread)
    done = lineage("ingest", "postgres", database.uri, "--store", tmp_path / "graph.db", "--verify")
    assert done.code == 1
    name = f"{database.name}.public.t"
    assert f"b: {name}.b is missing" in done.err
    assert f"b: {name}.a is too much" in done.err
    assert "verified 1 view: 0 the same as in PostgreSQL's analysis, 1 different" in done.out
    assert "1 partial; 1 diagnostic" in done.out


@pytest.mark.parametrize("text", ["", "(", "{QUERY", "({QUERY :a 1)", "{}", "((1)"])
def test_a_text_that_is_no_parse_tree(text: str) -> None:
    with pytest.raises(NodeTreeError):
        parse_node_tree(text)


def test_a_tree_that_is_no_query() -> None:
    with pytest.raises(NodeTreeError, match="not one query"):
        analyse_query(parse_node_tree("({VAR :varno 1})"), lambda _oid: ())
    broken = "{QUERY :rtable <> :targetList ({TARGETENTRY :expr {VAR :varno 3 :varattno 1 :varlevelsup 0} :resno 1})}"
    with pytest.raises(NodeTreeError, match="no item of FROM"):
        analyse_query(parse_node_tree(broken), lambda _oid: ())


_FIELDS = st.recursive(
    st.none() | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), _FIELDS, max_size=5))
def test_any_text_survives_the_form_of_a_tree(fields: dict[str, Any]) -> None:
    """Names are written as `outToken` of PostgreSQL writes them: what is special is behind a backslash."""

    def token(text: str) -> str:
        if not text:
            return '""'
        first = "\\" if text[0] in '<"+-0123456789' else ""
        return first + "".join(f"\\{one}" if one in "(){}\\" or one.isspace() else one for one in text)

    def written(value: Any) -> str:
        if value is None:
            return "<>"
        if isinstance(value, list):
            return "(" + " ".join(f'"{token(v)}"' if isinstance(v, str) and v else written(v) for v in value) + ")"
        return token(value)

    text = "{NODE" + "".join(f" :{name} {written(value)}" for name, value in fields.items()) + "}"
    assert parse_node_tree(text).fields == fields

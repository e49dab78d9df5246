from __future__ import annotations

from datetime import UTC, datetime

from lineage import Catalog
from lineage.model.batch import EdgeRecord, LineageBatch
from lineage.model.influence.evidence import position_in_source, spans_of
from lineage.model.influence.transformations import Subtype
from lineage.model.statement import ChangeKind, DatasetKind
from lineage.sql.extraction import options_for
from lineage.sql.script.script import Script
from lineage_ingest.batch.builder import BatchBuilder, FileOrigin, of_files

AT = datetime(2026, 1, 2, tzinfo=UTC)


def batch(texts: dict[str, str], catalog: dict[str, list[str]] | None = None) -> LineageBatch:
    options = options_for("postgres", namespace="pg")
    known = Catalog.from_dict(catalog or {}, "postgres")
    statements = Script(texts, options, known).resolve()
    files = {name: FileOrigin(name, name) for name in texts}
    builder = BatchBuilder(options.naming, known, AT, of_files(AT, files), files=files)
    for name, text in texts.items():
        builder.add_file(name, text, [s for s in statements if s.source == name])
    return builder.batch("sql", "test", texts.values())


def from_columns(made: LineageBatch) -> list[EdgeRecord]:
    return [edge for edge in made.edges if not edge.of_rows]


def edges(made: LineageBatch) -> set[str]:
    return {f"{edge.source} {edge.target} {'+'.join(edge.subtypes)}" for edge in from_columns(made)}


def rows(made: LineageBatch) -> set[str]:
    return {f"{edge.source} {edge.target} {'+'.join(edge.subtypes)}" for edge in made.edges if edge.of_rows}


def test_one_job_for_what_a_file_says_of_a_target() -> None:
    sql = "CREATE TABLE t AS SELECT a FROM u;\nINSERT INTO t SELECT b FROM w WHERE c = 'secret'"
    made = batch({"f.sql": sql})
    [job] = made.jobs
    assert job.key == "file:f.sql>pg/t"
    assert (job.reads, job.writes) == (("pg/u", "pg/w"), ("pg/t",))
    assert edges(made) == {"pg/u#a pg/t#a IDENTITY", "pg/w#b pg/t#a IDENTITY", "pg/w#c pg/t FILTER"}
    assert job.sql is not None
    assert "secret" not in job.sql


def test_places_lie_in_the_sql_of_the_job() -> None:
    sql = "SELECT 1; CREATE TABLE t AS SELECT a, 'x' FROM u;\nSELECT 2;\nINSERT INTO t SELECT b FROM w WHERE c = 'xx'"
    made = batch({"f.sql": sql})
    jobs = {job.key: job.sql or "" for job in made.jobs}
    for edge in from_columns(made):
        column = edge.source.rpartition("#")[2]
        assert {jobs[edge.job][start:end] for start, end in edge.spans} == {column}


def test_proofs_lie_in_the_sql_of_the_job_and_their_statements_in_the_file() -> None:
    sql = (
        "CREATE TABLE t (s int); CREATE TABLE x AS SELECT 1;\n"
        "  INSERT INTO t WITH l AS (SELECT * FROM u) SELECT sum(a) FROM l"
    )
    made = batch({"f.sql": sql}, {"u": ["a"]})
    [job] = [job for job in made.jobs if job.writes == ("pg/t",)]
    [edge] = [edge for edge in made.edges if edge.source == "pg/u#a"]
    text, lines = job.sql or "", sql.splitlines()
    assert [[text[start:end] for start, end in spans_of(chain)] for chain in edge.spans] == [["*", "a"]]
    for start, end in spans_of(edge.spans[0]):
        line, column = position_in_source(text, job.positions, start) or (0, 0)
        assert lines[line - 1][column - 1 : column - 1 + end - start] == text[start:end]


def test_the_sql_of_a_job_has_what_made_its_temporary_tables() -> None:
    sql = "CREATE TEMP TABLE s AS\n  SELECT sum(a) AS b FROM u WHERE c = 'xx'; CREATE TABLE t AS SELECT b FROM s"
    made = batch({"f.sql": sql}, {"u": ["a", "c"]})
    [job] = [job for job in made.jobs if job.writes == ("pg/t",)]
    assert (
        job.sql
        == "CREATE TABLE t AS SELECT b FROM s;\nCREATE TEMP TABLE s AS\n  SELECT sum(a) AS b FROM u WHERE c = '**'"
    )
    chains = {edge.source: [[job.sql[a:b] for a, b in spans_of(chain)] for chain in edge.spans] for edge in made.edges}
    assert chains == {"pg/u#a": [["a", "b"]], "pg/u#c": [["c", "s"]], "pg/u": [["u", "s"]]}
    lines = sql.splitlines()
    for start, end in (place for edge in made.edges for place in spans_of(edge.spans[0])):
        line, column = position_in_source(job.sql, job.positions, start) or (0, 0)
        assert lines[line - 1][column - 1 : column - 1 + end - start] == job.sql[start:end]


def test_what_made_a_temporary_table_in_another_file_has_no_line_in_this_one() -> None:
    texts = {
        "a.sql": "CREATE TABLE s AS SELECT sum(a) AS b FROM u",
        "b.sql": "CREATE TABLE t AS SELECT b FROM s; DROP TABLE s",
    }
    made = batch(texts, {"u": ["a"]})
    [job] = [job for job in made.jobs if job.writes == ("pg/t",)]
    [edge] = from_columns(made)
    [chain] = edge.spans
    (first, _), (then, _) = spans_of(chain)
    assert (job.sql or "")[first:].startswith("a)")
    assert position_in_source(job.sql or "", job.positions, first) is None
    assert position_in_source(job.sql or "", job.positions, then) == (1, 26)


def test_several_ways_between_two_columns_are_one_edge() -> None:
    made = batch({"f.sql": "CREATE VIEW v AS SELECT md5(a) || a AS x, md5(a) AS y FROM t"})
    by_target: dict[str, EdgeRecord] = {edge.target: edge for edge in from_columns(made)}
    assert len(by_target) == 2
    assert by_target["pg/v#x"].masking is False
    assert len(by_target["pg/v#x"].spans) == 2
    assert by_target["pg/v#y"].masking is True


def test_each_way_between_two_columns_has_its_own_masking() -> None:
    sql = """CREATE VIEW v AS SELECT CASE WHEN md5(b) = 'x' THEN a END || sum(1) OVER (ORDER BY b) AS x
        FROM t JOIN u ON md5(t.a) = u.h WHERE t.a > 1 AND md5(u.h) = 'y'"""
    effects = {
        (edge.source, edge.target): (edge.subtypes, edge.masking, edge.partly_masking)
        for edge in from_columns(batch({"f.sql": sql}, {"t": ["a", "b"], "u": ["h"]}))
    }
    assert effects == {
        ("pg/t#a", "pg/v#x"): ((Subtype.TRANSFORMATION,), False, ()),
        ("pg/t#b", "pg/v#x"): ((Subtype.CONDITIONAL, Subtype.WINDOW), False, (Subtype.CONDITIONAL,)),
        ("pg/t#a", "pg/v"): ((Subtype.FILTER, Subtype.JOIN), False, (Subtype.JOIN,)),
        ("pg/u#h", "pg/v"): ((Subtype.FILTER, Subtype.JOIN), False, (Subtype.FILTER,)),
    }


def test_tables_whose_rows_decide_are_edges_of_the_job_but_do_not_count_as_such() -> None:
    sql = "CREATE VIEW v AS SELECT count(*) AS n, (SELECT max(b) FROM u) AS m FROM t; CREATE VIEW w AS SELECT 1 FROM v"
    made = batch({"f.sql": sql})
    assert rows(made) == {"pg/t pg/v ROWS", "pg/u pg/v#m ROWS", "pg/v pg/w ROWS"}
    assert made.run.counts["edges"] == len(from_columns(made)) == 1
    [text] = [job.sql for job in made.jobs if job.key.endswith(">pg/v")]
    places = {edge.source: edge.spans for edge in made.edges if edge.of_rows}
    assert [(text or "")[start:end] for start, end in places["pg/t"]] == ["t"]


def test_known_and_inferred_columns() -> None:
    made = batch({"f.sql": "CREATE VIEW v AS SELECT t.a, u.b FROM t, u"}, {"t": ["a", "z"]})
    by_name = {dataset.name: dataset for dataset in made.datasets}
    assert [(c.path, c.inferred) for c in by_name["t"].columns] == [("a", False), ("z", False)]
    assert [(c.path, c.inferred) for c in by_name["u"].columns] == [("b", True)]
    assert (by_name["t"].schema_known, by_name["u"].schema_known) == (True, False)
    assert by_name["v"].kind is DatasetKind.VIEW
    assert by_name["v"].schema_known


def test_temporary_tables_never_reach_the_batch() -> None:
    made = batch({"f.sql": "CREATE TEMP TABLE x AS SELECT a FROM t; CREATE TABLE r AS SELECT a FROM x"})
    assert {dataset.name for dataset in made.datasets} == {"t", "r"}
    assert edges(made) == {"pg/t#a pg/r#a IDENTITY"}


def test_bare_queries_are_a_job_that_reads_and_no_usage() -> None:
    made = batch({"f.sql": "SELECT a FROM t; SELECT b FROM t, u"})
    [job] = made.jobs
    assert (job.key, job.reads, job.writes) == ("file:f.sql", ("pg/t", "pg/u"), ())
    assert made.usage == ()  # a file says what a query reads, not that anybody ran it
    assert made.edges == ()


def test_a_file_with_one_query_defines_a_dataset_of_its_name() -> None:
    made = batch({"models/orders.sql": "SELECT a FROM t", "models/report.sql": "SELECT * FROM orders"})
    assert edges(made) == {"pg/t#a pg/orders#a IDENTITY", "pg/orders#a pg/report#a IDENTITY"}


def test_drop_before_create_is_a_replacement() -> None:
    assert batch({"f.sql": "DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT a FROM u"}).changes == ()


def test_drop_alone_is_a_change() -> None:
    [change] = batch({"f.sql": "DROP TABLE t"}).changes
    assert (change.kind, change.dataset, change.at) == (ChangeKind.DROP, "pg/t", AT)


def test_a_table_that_is_built_and_renamed_was_the_renamed_one_all_along() -> None:
    made = batch(
        {"f.sql": "CREATE TABLE t_new AS SELECT a FROM u; DROP TABLE t; ALTER TABLE t_new RENAME TO t; "
                  "CREATE VIEW v AS SELECT a FROM t"}
    )  # fmt: skip
    assert edges(made) == {"pg/u#a pg/t#a IDENTITY", "pg/t#a pg/v#a IDENTITY"}
    assert made.changes == ()


def test_a_table_that_is_renamed_only_is_a_change() -> None:
    [change] = batch({"f.sql": "ALTER TABLE s.a RENAME TO b"}).changes
    assert (change.kind, change.dataset, change.other) == (ChangeKind.RENAME, "pg/s.a", "pg/s.b")


def test_the_run_is_named_by_its_content() -> None:
    one, same, other = (batch({"f.sql": f"SELECT {n}"}) for n in (1, 1, 2))
    assert one.run.key == same.run.key != other.run.key
    assert one.run.counts["statements"] == 1


def test_a_statement_that_writes_two_targets_is_a_job_each() -> None:
    made = batch({"f.sql": "WITH d AS (DELETE FROM t WHERE old RETURNING id) INSERT INTO arch (id) SELECT id FROM d"})
    assert edges(made) == {"pg/t#id pg/arch#id IDENTITY", "pg/t#old pg/t FILTER", "pg/t#old pg/arch FILTER"}
    assert {job.key for job in made.jobs} == {"file:f.sql>pg/arch", "file:f.sql>pg/t"}
    assert made.run.counts["statements"] == 1


def test_files_are_datasets_of_their_own_namespace() -> None:
    made = batch({"f.sql": "COPY t (a) FROM '/data/a.csv'; COPY (SELECT b FROM u) TO 's3://lake/b.csv'"})
    assert {(d.namespace, d.name, d.kind) for d in made.datasets} == {
        ("file", "/data/a.csv", DatasetKind.FILE),
        ("s3://lake", "b.csv", DatasetKind.FILE),
        ("pg", "t", DatasetKind.TABLE),
        ("pg", "u", DatasetKind.TABLE),
    }

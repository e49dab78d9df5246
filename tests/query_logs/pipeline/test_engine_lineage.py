"""What an engine says of columns in its log, beside the SQL: names and sources are the engine's, kinds are ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineage import Catalog
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage.store import GraphStore, open_store
from lineage_ingest.query_log.pipeline.engine_lineage import with_engine_lineage
from lineage_ingest.query_log.pipeline.extraction_units import StatedColumn
from tests.query_logs.pipeline.running import Ran, edges, ingested

IDENTITY, TRANSFORMATION = "IDENTITY", "TRANSFORMATION"
UNKNOWN, DIFFERS = "TARGET_COLUMNS_UNKNOWN", "ENGINE_DIFFERS"


def ran(text: str, columns: str, second: float = 0) -> Ran:
    """Return a run of a statement that wrote columns: `a<b,c` is a column and its sources, of `s.src` unless said."""
    stated = []
    for column in columns.split():
        target, _, sources = column.partition("<")
        table, _, name = target.rpartition("/")
        stated += [
            {
                "target_table": table or "s.tgt",
                "target_column": name,
                "source_table": (source.rpartition("/")[0] or "s.src") if source else None,
                "source_column": source.rpartition("/")[2] or None,
            }
            for source in sources.split(",")
        ]
    return Ran(text, "one", second, fields={"source_lineage": stated, "default_schema": "s"})


def found(store: GraphStore) -> set[str]:
    """Return `source>target=subtypes` of values, `source~target` of references from columns, and how full jobs are."""
    listed = set()
    for edge in store.edges_of([job.key for job in store.jobs()]):
        source, target = (key.rpartition("/")[2] for key in (edge.source, edge.target))
        if "#" in source:
            names = f"{source.removeprefix('s.src#')}{{}}{target.removeprefix('s.tgt').removeprefix('#')}"
            is_value = str(edge.kind) == "CONTRIBUTES"
            listed.add(names.format(">") + "=" + ",".join(edge.subtypes) if is_value else names.format("~"))
    return listed | {str(job.completeness) for job in store.jobs()}


CASES = {
    "names that the query does not have": (
        "INSERT INTO tgt SELECT id AS x, amount * 2 AS y FROM src WHERE z > 1",
        "a<id b<amount",
        {f"id>a={IDENTITY}", f"amount>b={TRANSFORMATION}", "z~", "full"},
        [],
    ),
    "the query's names in another order": (
        "INSERT INTO tgt SELECT b, a FROM src",
        "a<b b<a",
        {f"b>a={IDENTITY}", f"a>b={IDENTITY}", "full"},
        [],
    ),
    "a constant": ("INSERT INTO tgt SELECT 1 AS x, id FROM src", "a b<id", {f"id>b={IDENTITY}", "full"}, []),
    "told apart by their sources, in any order": (
        "INSERT INTO tgt SELECT 1 AS x, 2 AS y, id + 1 AS z FROM src",
        "b<id a",
        {f"id>b={TRANSFORMATION}", "full"},
        [],
    ),
    "a condition that the engine counts as a source": (
        "INSERT INTO tgt SELECT CASE WHEN k > 1 THEN v END AS w FROM src",
        "a<k,v",
        {"k~a", f"v>a={TRANSFORMATION}", "full"},
        [],
    ),
    "a star": (
        "INSERT INTO tgt SELECT * FROM src",
        "a<p b<q",
        {f"p>a={TRANSFORMATION}", f"q>b={TRANSFORMATION}", "partial"},
        ["UNRESOLVED_STAR"],
    ),
    "no SQL that can be read": (
        "INSERT INTO tgt SELEC x FRM src",
        "a<id",
        {f"id>a={TRANSFORMATION}", "partial"},
        ["PARSE_ERROR"],
    ),
    "a field of a column": (
        "INSERT INTO tgt SELECT (src.c).f AS x FROM src",
        "a<c",
        {f"c.f>a={IDENTITY}", "full"},
        [],
    ),
    "the listed columns": ("INSERT INTO tgt (a) SELECT id AS x FROM src", "a<id", {f"id>a={IDENTITY}", "full"}, []),
    "other columns than those that are listed": (
        "INSERT INTO tgt (a) SELECT id AS x FROM src",
        "b<id",
        {f"id>b={IDENTITY}", "partial"},
        [DIFFERS],
    ),
    "another source": (
        "CREATE TABLE tgt AS SELECT id AS a FROM src",
        "a<other",
        {f"other>a={TRANSFORMATION}", "partial"},
        [DIFFERS],
    ),
    "one source of two": (
        "CREATE TABLE tgt AS SELECT id + k AS a FROM src",
        "a<id",
        {f"id>a={TRANSFORMATION}", f"k>a={TRANSFORMATION}", "full"},
        [],
    ),
    "columns of which it is not clear what gets them": (
        "INSERT INTO tgt SELECT id + k AS x FROM src",
        "a<id",
        {f"id>a={TRANSFORMATION}", "partial"},
        [DIFFERS],
    ),
    "nothing": ("INSERT INTO tgt SELECT id AS x FROM src", "", {f"id>x={IDENTITY}", "partial"}, [UNKNOWN]),
}


@pytest.mark.parametrize("name", CASES)
def test_both_are_made_one(name: str, tmp_path: Path) -> None:
    text, columns, expected, codes = CASES[name]
    with open_store(tmp_path / "s.db") as store:
        for _ in range(2):
            ingested(store, [ran(text, columns)], "postgres")
            assert found(store) == expected
            diagnostics = [one.diagnostic for one in store.diagnostics()]
            assert [str(one.code) for one in diagnostics if str(one.code) != UNKNOWN or UNKNOWN in codes] == codes


def test_a_schema_that_is_out_of_date_gives_way(tmp_path: Path) -> None:
    catalog = Catalog.from_dict({"s": {"tgt": {"old": "int"}, "src": {"id": "int"}}}, "postgres")
    with open_store(tmp_path / "s.db") as store:
        ingested(store, [ran("INSERT INTO tgt SELECT id FROM src", "new<id")], catalog=catalog)
        assert found(store) == {f"id>new={IDENTITY}", "partial"}


def test_what_went_through_a_temporary_table_is_ours_to_follow(tmp_path: Path) -> None:
    log = [
        ran("CREATE TEMP TABLE held AS SELECT id AS i FROM src", "held/i<id"),
        ran("INSERT INTO tgt (a) SELECT i FROM held", "a<held/i", 1),
    ]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, log)
        assert found(store) == {f"id>a={IDENTITY}", "full"}
        assert "held" not in " ".join(edges(store))


def test_a_write_without_a_text_is_one_whatever_it_was_filled_from(tmp_path: Path) -> None:
    """COPY INTO a table from a stage, in a log that has no texts."""
    stated = [{"target_table": "s.tgt", "target_column": "v", "source_table": "s.stage", "source_column": None}]
    with open_store(tmp_path / "s.db") as store:
        ingested(store, [Ran(None, "one", 0, fields={"source_lineage": stated})])
        [job] = store.jobs()
        assert [key.rpartition("/")[2] for key in (*job.reads, *job.writes)] == ["s.stage", "s.tgt"]


def test_a_file_fills_only_the_table_that_it_is_said_of() -> None:
    stated = [StatedColumn("s.a", "v", "s.stage", None), StatedColumn("s.b", "v", None, None)]
    written = with_engine_lineage([], "0", stated, Naming(dialect_named("snowflake")))
    assert [(one.target, one.sources) for one in written] == [("s.a", ["s.stage"]), ("s.b", [])]

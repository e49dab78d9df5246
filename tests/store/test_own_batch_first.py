"""A batch's own definitions precede the store's: the same input yields the same lineage, whatever was stored before."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage_ingest.sql_files import IngestSummary, ingest_sql_files

EXAMPLES = int(os.environ.get("LINEAGE_BATCHES", "12"))
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def ingest(store: GraphStore, folder: Path, day: int, namespace: str = "pg", **files: str) -> IngestSummary:
    for name, text in files.items():
        path = folder / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    options = options_for("postgres", namespace=namespace)
    return ingest_sql_files([folder], store, options, observed_at=BEGIN + timedelta(days=day), retire_most=True)


OLD = {"ddl": "create table core.orders (id int, total int); create table u (old int)"}
FILES = {
    "a": "create view v as select * from u",
    "b": "create view w as select * from v",
    "c": "create table u as select k, n from base",
    "d": "create view m as select * from orders join base on true",
    "e": "create table orders as select id, amount from src",
    "f": "create view x as select total from v join orders on true",
    "g": "create table y as select * from y",
}


def stated(store: GraphStore, namespace: str) -> set[tuple[str, str]]:
    """Return the edges of the files in a namespace, without the namespace."""
    edges = store.edges_of([key for key in store.job_keys() if f"/{namespace}/" in key])
    return {
        (edge.source.removeprefix(namespace), edge.target.removeprefix(namespace))
        for edge in edges
        if "#" in edge.source
    }


def test_definitions_of_the_batch_beat_those_of_the_store(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path / "alone", 0, namespace="alone", **FILES)
    ingest(store, tmp_path / "old", 1, **OLD, v="create view v as select old as gone from u")
    ingest(store, tmp_path / "pg", 2, **FILES)
    assert stated(store, "pg") == stated(store, "alone")
    assert ("/src#amount", "/orders#amount") in stated(store, "pg")
    again = ingest(store, tmp_path / "pg", 3, **FILES).applied
    assert (again.edges_created, again.edges_ended) == (0, 0)


def test_a_table_is_not_taken_for_one_of_another_schema_once_that_is_known(store: GraphStore, tmp_path: Path) -> None:
    files = {"ddl": "create table core.orders (id int, total int)", "v": "create view v as select total from orders"}
    for day in range(2):
        ingest(store, tmp_path / "pg", day, **files)
        assert stated(store, "pg") == {("/orders#total", "/v#total")}


NAMES = ("a", "b", "core.a", "core.b", "src", "core.src")
COLUMNS = ("x", "y", "z")


@st.composite
def statements(draw: st.DrawFn) -> str:
    # Tables read only later ones: a cycle of stars across ingests would need one more ingest to resolve.
    number = draw(st.integers(0, len(NAMES) - 2))
    name = NAMES[number]
    source, other = (draw(st.sampled_from(NAMES[number + 1 :])) for _ in range(2))
    column, more = draw(st.sampled_from(COLUMNS)), draw(st.sampled_from(COLUMNS))
    defined = ", ".join(f"{one} int" for one in draw(st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True)))
    return draw(
        st.sampled_from(
            (
                f"create table {name} ({defined})",
                f"create view {name} as select * from {source}",
                f"create table {name} as select {column}, {more} as w from {source}",
                f"create view {name} as select {column} from {source} join {other} on true",
                f"create table {name} as select s.*, o.{column} as c from {source} s, {other} o",
                f"insert into {name} select * from {source}",
                f"insert into {name} ({column}) select {more} from {source}",
                f"drop table if exists {name}; create table {name} as select {column} from {source}",
                f"select {column} from {source}",
            )
        )
    )


batches = st.dictionaries(
    st.sampled_from(("one", "two", "three")),
    st.lists(statements(), min_size=1, max_size=3).map(";\n".join),
    min_size=1,
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(earlier=st.lists(batches, max_size=2), batch=batches)
@example(
    [{"one": "create table a (x int, z int); create view b as select * from core.b"}],
    {"one": "create view a as select 1 as y, * from b; create table core.b (x int)"},
)
@example(  # the star of another definition of core.b is left, and c has no place in the schema of the batch
    [{"one": "create table core.b as select s.*, o.x as c from src s, src o; create view a as select * from b"}],
    {"three": "create table core.b (x int); create table b (x int)"},
)
def test_a_second_ingest_changes_nothing(earlier: list[dict[str, str]], batch: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        for number, files in enumerate(earlier):
            ingest(store, Path(folder) / f"earlier{number}", number, **files)
        ingest(store, Path(folder) / "batch", 5, **batch)
        first = store.dump()
        ingest(store, Path(folder) / "batch", 5, **batch)
        assert store.dump() == first
        later = ingest(store, Path(folder) / "batch", 6, **batch).applied
        assert (later.edges_created, later.edges_ended) == (0, 0)

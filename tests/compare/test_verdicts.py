"""The verdict on each edge, whichever product states it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage.store import open_store
from lineage_ingest import LogOptions, SqlOptions, ingest_log, ingest_sql
from lineage_ingest.compare.comparison_report import summary_lines
from lineage_ingest.compare.verdicts import Comparison
from lineage_ingest.compare_api import CompareOptions, compare_lineage
from tests.compare.exports import EXPORTS, Said, databricks_csv

SCHEMA = "create table wh.shop.orders (id int, day date, amount int, status varchar(9));"
SQL = f"""{SCHEMA}
create view wh.shop.clean as select id, day, amount, status from wh.shop.orders where status <> 'x';
create table wh.mart.daily as
select day, sum(amount) as total, count(*) as n from wh.shop.clean where status = 'ok' group by day;
"""
RAN = datetime(2026, 3, 1, 10, tzinfo=UTC)
RIGHT = [
    Said("wh.shop.clean.day", "wh.mart.daily.day"),
    Said("wh.shop.clean.amount", "wh.mart.daily.total"),
]


def ingest(folder: Path, sql: str, dialect: str = "databricks", namespace: str = "", at: datetime = RAN) -> Path:
    """Ingest a file into a store in this folder; return the store."""
    source = folder / "sql"
    source.mkdir(exist_ok=True)
    (source / "all.sql").write_text(sql, encoding="utf-8")
    options = SqlOptions(dialect=dialect, namespace=namespace, observed_at=at, project="p", project_root=source)
    ingest_sql(source, store=folder / "s.db", options=options)
    return folder / "s.db"


def lines(found: Comparison) -> list[str]:
    """Return the verdicts, one per line, in lower case: Snowflake has capitals."""
    shown = []
    for edge in found.edges:
        source, target = (found.names[key].lower().replace("wh.", "") for key in (edge.source, edge.target))
        reason = f" ({edge.reason})" if edge.reason else ""
        names = [found.names[key].lower().rpartition("/")[2].replace("wh.", "") for key in edge.through]
        through = "".join(f" via {name}" for name in names)
        shown.append(f"{edge.verdict}: {target} <- {source}{through}{reason}")
    return sorted(shown)


def compare(
    folder: Path, said: Sequence[Said], sql: str = SQL, *, name: str = "databricks csv", as_of: datetime | None = None
) -> Comparison:
    kind, dialect, namespace, export = EXPORTS[name]
    store = folder / "s.db"
    if not store.exists():
        ingest(folder, sql, dialect, namespace)
    file = export(folder, said)
    return compare_lineage(kind, file, store=store, options=CompareOptions(namespace=namespace, as_of=as_of))


@pytest.mark.parametrize("name", EXPORTS)
def test_every_product(tmp_path: Path, name: str) -> None:
    said = [
        *RIGHT,
        Said("wh.shop.clean.status", "wh.mart.daily.total"),  # a filter of ours
        Said("wh.shop.clean.id", "wh.mart.daily.day"),  # invented
        Said("wh.shop.orders.amount", "wh.mart.daily.total"),  # through the view
        Said("wh.else.gone.x", "wh.mart.daily.total"),  # of a table that the graph does not have
    ]
    found = compare(tmp_path, said, name=name)
    assert not found.has_errors
    ours_of_rows = ["only ours: mart.daily <- shop.clean.day (influence not stated)",
                    "only ours: mart.daily <- shop.clean.status (influence not stated)"]  # fmt: skip
    listed = [one for one in lines(found) if one not in ours_of_rows]
    assert listed == [
        "agree: mart.daily.day <- shop.clean.day",
        "agree: mart.daily.total <- shop.clean.amount",
        "kind differs: mart.daily.total <- shop.clean.status (influence)",
        "only theirs: mart.daily.day <- shop.clean.id (unexplained)",
        "through: mart.daily.total <- shop.orders.amount via shop.clean.amount",
    ]
    assert [key.lower().rpartition("/")[2] for key in found.not_compared] == ["wh.else.gone"]
    assert found.tables == 1
    wrong = next(edge for edge in found.differences if edge.reason == "unexplained")
    assert wrong.theirs is not None
    assert (wrong.theirs.run, wrong.theirs.count) == ("q1", 1)
    assert wrong.theirs.last_at is not None
    assert wrong.theirs.last_at.date() == RAN.date()


@pytest.mark.parametrize("name", EXPORTS)
def test_what_they_leave_out(tmp_path: Path, name: str) -> None:
    said = [RIGHT[0], Said("wh.shop.clean.id", "wh.mart.daily.total")]
    found = compare(tmp_path, said, name=name)
    assert "only ours: mart.daily.total <- shop.clean.amount (unexplained)" in lines(found)
    said = [RIGHT[0], Said("wh.shop.orders.id", "wh.shop.clean.id")]
    listed = lines(compare(tmp_path, said, name=name))
    assert "only ours: mart.daily.total <- shop.clean.amount (column not stated)" in listed
    assert "only ours: shop.clean.amount <- shop.orders.amount (column not stated)" in listed


@pytest.mark.parametrize("name", ["snowflake", "trino"])
def test_a_column_without_a_source(tmp_path: Path, name: str) -> None:
    found = compare(tmp_path, [RIGHT[0], Said(None, "wh.mart.daily.total")], name=name)
    assert "only ours: mart.daily.total <- shop.clean.amount (no source stated)" in lines(found)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_temporary_table_between_is_no_difference(tmp_path: Path, name: str) -> None:
    said = [
        RIGHT[0],
        Said("wh.shop.clean.amount", "wh.tmp.step.a"),
        Said("wh.tmp.step.a", "wh.tmp.step2.b"),
        Said("wh.tmp.step2.b", "wh.mart.daily.total"),
        Said("wh.shop.clean.id", "wh.tmp.step.c"),
        Said("wh.tmp.step.c", "wh.mart.daily.day"),
    ]
    found = compare(tmp_path, said, name=name)
    listed = [one for one in lines(found) if "influence" not in one]
    assert listed == [
        "agree: mart.daily.day <- shop.clean.day",
        "only theirs: mart.daily.day <- shop.clean.id via tmp.step (unknown table between)",
        "through: mart.daily.total <- shop.clean.amount via tmp.step via tmp.step2",
    ]


def test_they_state_it_in_steps_that_the_graph_has(tmp_path: Path) -> None:
    sql = SQL.replace("from wh.shop.clean where", "from (select * from wh.shop.orders) o where")
    said = [
        Said("wh.shop.orders.day", "wh.shop.clean.day"),
        Said("wh.shop.clean.day", "wh.mart.daily.day"),
        Said("wh.shop.orders.amount", "wh.mart.daily.total"),
    ]
    listed = lines(compare(tmp_path, said, sql))
    assert "through: mart.daily.day <- shop.orders.day via shop.clean.day" in listed
    assert "only theirs: mart.daily.day <- shop.clean.day (unexplained)" in listed  # of a run that agrees elsewhere


@pytest.mark.parametrize("name", [one for one in EXPORTS if not one.startswith("dbt")])
def test_a_source_that_ours_of_the_same_statement_lacks(tmp_path: Path, name: str) -> None:
    """A statement of theirs that we know, and read without one of its tables, is no unknown statement."""
    other, edge = SQL + SCHEMA.replace("shop.orders", "shop.other"), "only theirs: mart.daily.total <- shop.other.id"
    for run, at, reason in (("q1", RIGHT[0].at, "unexplained"), ("q2", "2026-03-01T10:30:01Z", "statement unknown")):
        said = [*RIGHT, Said("wh.shop.other.id", "wh.mart.daily.total", at=at, run=run)]
        assert f"{edge} ({reason})" in lines(compare(tmp_path, said, other, name=name))


def test_a_column_of_theirs_in_a_table_whose_rows_a_column_decides(tmp_path: Path) -> None:
    said = [*RIGHT, Said("wh.shop.clean.status", "wh.mart.daily.gone"), Said("wh.shop.orders.day", "wh.mart.daily.old")]
    listed = lines(compare(tmp_path, said))
    assert "only theirs: mart.daily.gone <- shop.clean.status (column unknown)" in listed
    assert "only theirs: mart.daily.old <- shop.orders.day (column unknown)" in listed


def test_ours_ended_since(tmp_path: Path) -> None:
    ingest(tmp_path, SQL, at=RAN)
    later = RAN.replace(day=20)
    ingest(tmp_path, SQL.replace("sum(amount)", "sum(id)"), at=later)
    old = Said("wh.shop.clean.amount", "wh.mart.daily.total", at="2026-03-05T00:00:00Z")
    new = Said("wh.shop.clean.id", "wh.mart.daily.total", at="2026-03-21T00:00:00Z")
    found = compare(tmp_path, [RIGHT[0], old, new])
    assert "only theirs: mart.daily.total <- shop.clean.amount (retired)" in lines(found)
    assert "agree: mart.daily.total <- shop.clean.id" in lines(found)
    (edge,) = [one for one in found.differences if one.reason == "retired"]
    assert "on 2026-03-20" in edge.because
    # As of a time before the change: their newer row is left out, and the old edge agrees.
    then = compare(tmp_path, [RIGHT[0], old, new], as_of=RAN.replace(day=10))
    assert lines(then)[:2] == [
        "agree: mart.daily.day <- shop.clean.day",
        "agree: mart.daily.total <- shop.clean.amount",
    ]
    assert not then.differences
    assert "rows after --as-of" in then.notices[0]
    # Stated again after ours ended, by a run whose other edges agree: nothing explains that.
    again = Said("wh.shop.clean.amount", "wh.mart.daily.total", at="2026-03-21T00:00:00Z")
    assert "only theirs: mart.daily.total <- shop.clean.amount (unexplained)" in lines(
        compare(tmp_path, [RIGHT[0], again, new])
    )


def test_unknown_columns_and_statements_of_which_ours_is_partial(tmp_path: Path) -> None:
    sql = (
        SQL
        + "create table wh.mart.copy as select q.*, c.day from wh.shop.unknown q join wh.shop.clean c on c.id = q.id;"
    )
    said = [
        *RIGHT,
        Said("wh.shop.orders.extra", "wh.shop.clean.id"),
        Said("wh.shop.clean.day", "wh.mart.copy.day"),
        Said("wh.shop.clean.amount", "wh.mart.copy.day"),
    ]
    listed = lines(compare(tmp_path, said, sql))
    assert "only theirs: shop.clean.id <- shop.orders.extra (column unknown)" in listed
    assert "agree: mart.copy.day <- shop.clean.day" in listed
    assert "only theirs: mart.copy.day <- shop.clean.amount (partial)" in listed


def test_ours_at_table_level(tmp_path: Path) -> None:
    sql = SQL + "create table wh.mart.odd as select foo bar baz ~~ from wh.shop.clean as c qualify by ( nothing;"
    said = [*RIGHT, Said("wh.shop.clean.day", "wh.mart.odd.day")]
    listed = [one for one in lines(compare(tmp_path, said, sql)) if "odd" in one]
    assert len(listed) == 1
    assert listed[0].startswith("only theirs: mart.odd.day <- shop.clean.day (")
    assert listed[0].endswith(("(table level)", "(column unknown)"))


def test_they_state_tables_only(tmp_path: Path) -> None:
    ingest(tmp_path, SQL)
    file = databricks_csv(
        tmp_path, [*RIGHT, Said("wh.shop.orders.", "wh.mart.daily."), Said("wh.shop.clean.", "wh.mart.daily.")]
    )
    found = compare_lineage("databricks", file, store=tmp_path / "s.db")
    listed = lines(found)
    assert "tables only: mart.daily <- shop.clean" not in listed  # of these two they state the columns, too
    assert "only theirs: mart.daily <- shop.orders (statement unknown)" in listed


def test_nested_fields_and_case(tmp_path: Path) -> None:
    sql = (
        "create table wh.shop.users (id int, address struct<city string, zip string>);"
        "create table wh.mart.cities as select address.city as city from wh.shop.users;"
    )
    said = [Said("wh.shop.users.ADDRESS", "WH.mart.Cities.City")]
    assert lines(compare(tmp_path, said, sql)) == ["agree: mart.cities.city <- shop.users.address"]


def test_the_same_rows_twice_and_in_another_order(tmp_path: Path) -> None:
    said = [*RIGHT, Said("wh.shop.clean.id", "wh.mart.daily.day"), Said("wh.shop.clean.amount", "wh.tmp.t.a"),
            Said("wh.tmp.t.a", "wh.mart.daily.total")]  # fmt: skip
    once = compare(tmp_path, said)
    twice = compare(tmp_path, [*reversed(said), *said])
    assert lines(once) == lines(twice)
    (edge,) = twice.differences
    assert edge.theirs is not None
    assert edge.theirs.count == 2


def test_a_renamed_table_is_found_by_its_former_name(tmp_path: Path) -> None:
    ingest(tmp_path, SQL)
    log = tmp_path / "log.csv"
    renamed = "alter table wh.mart.daily rename to wh.mart.per_day"
    log.write_text(f"query_text,started_at\n{renamed},2026-03-02T00:00:00Z\n", encoding="utf-8")
    ingest_log(log, store=tmp_path / "s.db", source="generic", options=LogOptions(dialect="databricks"))
    listed = lines(compare(tmp_path, RIGHT))
    assert listed == ["agree: mart.per_day.day <- shop.clean.day", "agree: mart.per_day.total <- shop.clean.amount"]


def test_a_namespace_that_was_not_given(tmp_path: Path) -> None:
    ingest(tmp_path, SQL, "databricks", "databricks://one")
    found = compare(tmp_path, RIGHT)
    assert [edge.verdict for edge in found.edges] == ["agree", "agree"]
    assert any("databricks://one" in text for text in found.notices)
    # Two warehouses with the same names: it cannot be known which is meant.
    ingest(tmp_path, SQL, "databricks", "databricks://two")
    found = compare(tmp_path, RIGHT)
    assert not found.edges
    assert set(found.not_compared) == {"databricks/wh.shop.clean", "databricks/wh.mart.daily"}
    file = tmp_path / "column_lineage.csv"
    given = CompareOptions(namespace="databricks://two")
    assert len(compare_lineage("databricks", file, store=tmp_path / "s.db", options=given).edges) == 2


def test_nothing_is_stored(tmp_path: Path) -> None:
    store = ingest(tmp_path, SQL)
    with open_store(store) as opened:
        before = opened.dump()
    compare(tmp_path, RIGHT)
    with open_store(store) as opened:
        assert opened.dump() == before


def test_what_was_learnt_from_the_product_is_no_second_opinion(tmp_path: Path) -> None:
    events = EXPORTS["trino"][3](tmp_path, RIGHT)
    ingest_log(events, store=tmp_path / "s.db", source="trino")
    found = compare_lineage("trino", events, store=tmp_path / "s.db")
    assert lines(found) == ["agree: mart.daily.day <- shop.clean.day", "agree: mart.daily.total <- shop.clean.amount"]
    assert found.unproven == 2
    assert any("no second opinion" in line for line in summary_lines(found))


def test_a_renamed_column_is_found_by_its_former_name(tmp_path: Path) -> None:
    ingest(tmp_path, SQL)
    log = tmp_path / "log.csv"
    renamed = "alter table wh.mart.daily rename column total to revenue"
    log.write_text(f"query_text,started_at\n{renamed},2026-03-02T00:00:00Z\n", encoding="utf-8")
    ingest_log(log, store=tmp_path / "s.db", source="generic", options=LogOptions(dialect="databricks"))
    assert "agree: mart.daily.revenue <- shop.clean.amount" in lines(compare(tmp_path, RIGHT))


def test_a_newer_statement_explains_a_difference_and_a_second_does_not(tmp_path: Path) -> None:
    invented = Said("wh.shop.clean.id", "wh.mart.daily.day")
    assert "only theirs: mart.daily.day <- shop.clean.id (unexplained)" in lines(compare(tmp_path, [invented]))
    later = Said("wh.shop.clean.id", "wh.mart.daily.day", at="2026-03-04T10:00:00Z")
    assert "only theirs: mart.daily.day <- shop.clean.id (newer)" in lines(compare(tmp_path, [later]))
    # A run at that time whose other edges agree is of the statement that we know.
    agrees = Said("wh.shop.clean.amount", "wh.mart.daily.total", at="2026-03-04T10:00:00Z")
    assert "only theirs: mart.daily.day <- shop.clean.id (unexplained)" in lines(compare(tmp_path, [later, agrees]))


def test_ours_of_another_time_than_their_export(tmp_path: Path) -> None:
    ingest(tmp_path, SQL)
    for at in ("2026-01-05T10:00:00Z", "2026-05-05T10:00:00Z"):
        said = [Said("wh.shop.clean.day", f"wh.mart.daily.{name}", at=at) for name in ("day", "total")]
        found = compare(tmp_path, said)
        assert "only ours: mart.daily.total <- shop.clean.amount (other period)" in lines(found)


def test_failed_statements_state_nothing(tmp_path: Path) -> None:
    ingest(tmp_path, SQL, "trino")
    events = EXPORTS["trino"][3](tmp_path, [Said("wh.shop.clean.id", "wh.mart.daily.day")])
    failed = events.read_text(encoding="utf-8").replace("FINISHED", "FAILED")
    events.write_text(failed, encoding="utf-8")
    found = compare_lineage("trino", events, store=tmp_path / "s.db")
    assert (found.rows, found.edges) == (0, [])

"""A star over an unknown table is expanded when a later ingest adds the table's columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage.sql.extraction import options_for
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction
from lineage.traversal import impact, resolve
from lineage_ingest.sql_files import IngestSummary, ingest_sql_files

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


def ingest(store: GraphStore, folder: Path, day: int, **files: str) -> IngestSummary:
    paths = []
    for name, text in files.items():
        path = folder / f"{name}.sql"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return ingest_sql_files(paths, store, options_for("postgres"), observed_at=BEGIN + timedelta(days=day))


def test_a_later_schema_opens_the_stars_over_a_table_and_over_its_views(store: GraphStore, tmp_path: Path) -> None:
    ingest(
        store,
        tmp_path,
        0,
        all_orders="CREATE VIEW all_orders AS SELECT 1 AS one, *, 2 AS two FROM orders;",
        report="CREATE VIEW report AS SELECT * FROM all_orders WHERE amount > 5;",
    )
    summary = ingest(store, tmp_path, 1, orders="CREATE TABLE orders (id int, amount int);")
    assert summary.applied.edges_ended > 0
    paths = [column.path for column in store.columns(["postgres/report"])]
    assert paths == ["one", "id", "amount", "two"]
    reached = {one.name: one.hops for one in impact(store, resolve(store, "orders.amount")).columns}
    assert reached["all_orders.amount"] == 1
    assert reached["report.amount"] == 2
    live = {hop.edge.source for hop in store.expand(["postgres/orders#*"], Direction.DOWNSTREAM)}
    assert not live
    assert "*" not in [column.path for column in store.columns(["postgres/orders", "postgres/all_orders"])]
    past = store.expand(["postgres/orders#*"], Direction.DOWNSTREAM, as_of=BEGIN + timedelta(hours=1))
    assert [hop.edge.target for hop in past] == ["postgres/all_orders#*"]


def test_the_same_files_again_change_nothing(store: GraphStore, tmp_path: Path) -> None:
    view = "CREATE VIEW all_orders AS SELECT * FROM orders;"
    ingest(store, tmp_path, 0, view=view)
    ingest(store, tmp_path, 1, orders="CREATE TABLE orders (id int, amount int);")
    again = ingest(store, tmp_path, 2, view=view)
    assert (again.applied.edges_created, again.applied.edges_ended) == (0, 0)


def test_only_the_known_side_of_a_join_is_opened(store: GraphStore, tmp_path: Path) -> None:
    ingest(store, tmp_path, 0, view="CREATE VIEW both AS SELECT * FROM orders, customers;")
    ingest(store, tmp_path, 1, orders="CREATE TABLE orders (id int);")
    hops = store.expand(["postgres/both#*", "postgres/both#id"], Direction.UPSTREAM)
    assert sorted((hop.edge.source, hop.edge.target) for hop in hops) == [
        ("postgres/customers#*", "postgres/both#*"),
        ("postgres/orders#id", "postgres/both#id"),
    ]

"""Tables of a store that texts may name: none is left out that a statement could look up."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineage import extract_script
from lineage.catalog import Catalog
from lineage.catalog.mentioned_tables import MentionedTables, TextsByWords
from lineage.model.batch import ColumnRecord, DatasetRecord, LineageBatch, RunRecord
from lineage.model.statement import DatasetKind
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import ColumnHead, StoredDataset

AT = datetime(2026, 3, 1, tzinfo=UTC)
NAMED = [
    ("SELECT * FROM s.orders", "s.orders"),
    ("select * from ORDERS", "db.s.orders"),
    ('SELECT * FROM "My ""old"" table"', 's."My ""old"" table"'),
    ("SELECT * FROM `my-project.ds.line-items`", 'my-project.ds."line-items"'),
    ("SELECT * FROM ds.events_20260131", "ds.events_*"),
    ("SELECT * FROM `ds.events_2026*`", "ds.events_*"),
    ("SELECT * FROM `ds.events20260131`", "ds.events_*"),
    ("SELECT * FROM t$20260131", "ds.t"),
    ("EXECUTE 'SELECT * FROM stage_' || 'orders'", "s.stage_orders"),
    ("EXEC('SELECT * FROM stage_' + 'orders')", "s.stage_orders"),
    ('SELECT * FROM U&"\\006Frders"', "s.orders"),
    ("SELECT * FROM 'data/2026/orders.parquet'", '"data/2026/orders.parquet"'),
    ("SELECT * FROM {{ ref('orders') }}", "s.orders"),
    ('SELECT * FROM "+"', 's."+"'),
    ("SELECT * FROM straße", "s.STRAßE"),
    ("SELECT * FROM\u00a0orders\u3000AS é", "s.orders"),
]


@pytest.mark.parametrize(("text", "table"), NAMED)
def test_texts_are_found_by_each_table_that_they_may_name(text: str, table: str) -> None:
    texts = TextsByWords([("one", text), ("other", "SELECT 1 AS x")])
    assert texts.naming(table) - {"other"} == {"one"}
    assert MentionedTables([text]).has(table)


@pytest.mark.parametrize("name", ["s.order", "s.orders_old", 's."orders old"', "s.o_*"])
def test_other_tables_are_left_out(name: str) -> None:
    text = "SELECT a FROM s.orders WHERE b > 20260131"
    assert not MentionedTables([text]).has(name)
    assert not TextsByWords([("one", text)]).naming(name)


class Counted:
    """A store that counts the datasets whose columns are read."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self.read: list[str] = []

    def datasets(self) -> list[StoredDataset]:
        return self.store.datasets()

    def column_heads(self, datasets: Collection[str]) -> list[ColumnHead]:
        self.read += datasets
        return self.store.column_heads(datasets)


def test_only_the_columns_of_named_tables_are_read(tmp_path: Path) -> None:
    columns = tuple(ColumnRecord(name, "int", number) for number, name in enumerate("abc"))
    tables = tuple(
        DatasetRecord("postgres", f"s.t{number}", DatasetKind.TABLE, "postgres", columns, True, AT)
        for number in range(50)
    )
    text = "CREATE VIEW s.v AS SELECT * FROM s.t7 NATURAL JOIN s.t12"
    with open_store(tmp_path / "store.db") as store:
        store.apply(LineageBatch(RunRecord("r", "sql", "x", AT, {}), tables, (), ()))
        counted = Counted(store)
        named = Catalog.from_store(counted, "postgres", texts=[text])
        assert sorted(counted.read) == ["postgres/s.t12", "postgres/s.t7"]
        everything = Catalog.from_store(store, "postgres")
    assert len(everything) == len(tables)
    assert extract_script(text, "postgres", named) == extract_script(text, "postgres", everything)

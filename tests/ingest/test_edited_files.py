"""Edits of SQL files: which files are resolved and stored after each, and that the store is as if all had been."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineage.catalog import Catalog
from lineage.store import GraphStore, open_store
from lineage.store.values import AppliedChanges
from lineage_ingest import IngestSummary, SqlOptions, ingest_sql
from lineage_ingest.sql_files import ingest
from lineage_ingest.sql_files.saved.edited_files import Edits, store_edits
from lineage_ingest.sql_files.saved.saved_batch import BatchStateFiles
from tests.ingest.edited_folders import difference, stored_content

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

_SHOP = {
    "a_orders.sql": "CREATE VIEW orders AS SELECT id, customer, price * amount AS total FROM raw.order_lines",
    "b_customers.sql": "CREATE VIEW customers AS SELECT id, name FROM raw.people",
    "c_sales.sql": "CREATE TABLE sales AS SELECT c.name, o.total FROM orders o JOIN customers c ON o.customer = c.id",
    "d_all.sql": "CREATE VIEW every_sale AS SELECT * FROM sales",
    "e_loose.sql": "SELECT x FROM loose",
    "f_load.sql": "CREATE TEMP TABLE t AS SELECT id FROM raw.order_lines; INSERT INTO loaded SELECT id FROM t",
}
_SALES, _ORDERS, _CUSTOMERS = _SHOP["c_sales.sql"], _SHOP["a_orders.sql"], _SHOP["b_customers.sql"]
_TABLES = {"raw.order_lines": ["id", "customer", "price", "amount", "state"], "raw.people": ["id", "name", "mail"]}

_ALONE: Mapping[str, tuple[dict[str, str], int, int]] = {
    "another expression": ({"c_sales.sql": _SALES.replace("o.total", "-o.total AS total")}, 1, 1),
    "another condition": ({"a_orders.sql": _ORDERS + " WHERE state = 'paid'"}, 1, 1),
    "a comment": ({"a_orders.sql": "-- revenue\n" + _ORDERS}, 1, 1),
    "a column more, which a star reads": (
        {"c_sales.sql": _SALES.replace("SELECT", "SELECT o.id,")},
        2,
        2,
    ),
    "a column more, which nobody reads": ({"a_orders.sql": _ORDERS.replace("id,", "id, state,")}, 2, 1),
    "a column of the source more": (
        {"b_customers.sql": _CUSTOMERS.replace("name", "mail AS name")},
        1,
        1,
    ),
    "a table less": ({"c_sales.sql": "CREATE TABLE sales AS SELECT o.id AS name, o.total FROM orders o"}, 1, 1),
    "a table more": ({"a_orders.sql": _ORDERS.replace("FROM", "FROM customers,")}, 1, 1),
    "a table that nobody knew": ({"a_orders.sql": _ORDERS.replace("FROM", "FROM fresh,")}, 1, 1),
    "a table that nobody else names": ({"e_loose.sql": "SELECT x FROM other"}, 1, 1),
    "a column of a table of unknown schema": ({"e_loose.sql": "SELECT y FROM loose"}, 1, 1),
    "a column that may be of two tables": ({"e_loose.sql": "SELECT z FROM loose, other"}, 1, 1),
    "a temporary table": ({"f_load.sql": _SHOP["f_load.sql"].replace("id FROM raw", "price AS id FROM raw")}, 1, 1),
    "two files": (
        {
            "a_orders.sql": _ORDERS.replace("price *", "price +"),
            "b_customers.sql": _CUSTOMERS.replace("id,", "id, mail,"),
        },
        3,
        2,
    ),
    "two files that read each other's tables": (
        {
            "a_orders.sql": _ORDERS.replace("id,", "id, state,"),
            "c_sales.sql": _SALES.replace("SELECT", "SELECT o.state,"),
        },
        3,
        3,
    ),
}
"""By kind, the edited texts, and how many files are resolved and stored then."""

_TOGETHER: Mapping[str, dict[str, str]] = {
    "another table": {"b_customers.sql": _CUSTOMERS.replace("customers AS", "clients AS")},
    "a table is a view": {"c_sales.sql": _SALES.replace("TABLE", "VIEW")},
    "a statement more": {"e_loose.sql": "SELECT x FROM loose; CREATE VIEW more AS SELECT x FROM loose"},
    "a statement less": {"f_load.sql": "INSERT INTO loaded SELECT id FROM raw.order_lines"},
    "a drop": {"e_loose.sql": "DROP VIEW customers; SELECT x FROM loose"},
    "a circle": {"a_orders.sql": _ORDERS.replace("FROM", "FROM every_sale,")},
    "a function": {"e_loose.sql": "CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql AS 'SELECT x'"},
    "an empty file": {"e_loose.sql": "  \n"},
    "a file that cannot be parsed": {"e_loose.sql": "SELECT FROM FROM ("},
    "a column that may be of two tables, as a later file shows": {
        "b_customers.sql": _CUSTOMERS.replace("name FROM", "name, x FROM loose, other,")
    },
    "a column that others use of a table of unknown schema": {
        "e_loose.sql": "SELECT x, (SELECT max(id) FROM loaded) AS id FROM loose"
    },
}
"""Edits after which all files are looked at again."""


_VIEWS = {f"z{number}.sql": f"CREATE VIEW z{number} AS SELECT a FROM source{number}" for number in range(3)}
"""Files that nothing else of a folder concerns: an edit of one of them is stored alone, if nothing is in doubt."""
_FURTHER = {f"y{number}.sql": f"CREATE VIEW y{number} AS SELECT a FROM place{number}" for number in range(3)}
_EDITED: Mapping[str, str | bytes | None] = {"z1.sql": "CREATE VIEW z1 AS SELECT -a AS a FROM source1"}

_DOUBTFUL: Mapping[str, tuple[str, list[Mapping[str, str | bytes | None]]]] = {
    "invalid bytes": (
        "postgres",
        [
            {"a.sql": "SELECT 'caf\ufffd' AS x FROM loose"},
            {},
            {"a.sql": b"SELECT 'caf\xe9' AS x FROM loose"},
            {},
            {"a.sql": "SELECT 'caf\ufffd' AS x FROM loose"},
        ],
    ),
    "two names of one path": (
        "duckdb",
        [
            {
                "a.sql": "CREATE VIEW a AS SELECT x FROM read_parquet('s3://k/x.parquet')",
                "b.sql": "CREATE VIEW b AS SELECT y FROM read_parquet('s3a://k/x.parquet')",
            },
            {},
            _EDITED,
        ],
    ),
    "fields that a type has, not a column": (
        "bigquery",
        [
            {
                "a.sql": "CREATE TABLE d.n (id INT64, a STRUCT<b INT64, c STRUCT<d STRING>>)",
                "b.sql": "CREATE VIEW d.v AS SELECT a.c.d FROM d.n",
            },
            {},
            {"z1.sql": "CREATE VIEW z1 AS SELECT a, id FROM source1, d.n"},
            {"b.sql": "CREATE VIEW d.v AS SELECT a.b AS d FROM d.n"},
            {},
            {},
        ],
    ),
}
"""By kind, the dialect, and the edits one after the other, after which something else than statements may differ."""

_OF_OTHERS: Mapping[str, tuple[str, str, str]] = {
    "a column that only another project fills": (
        "postgres",
        "CREATE TABLE t AS SELECT a FROM source1",
        "INSERT INTO t (b) SELECT a FROM q",
    ),
    "a field that only another project reads": (
        "bigquery",
        "CREATE TABLE t (a STRUCT<b INT64, c STRUCT<d STRING>>)",
        "CREATE VIEW v AS SELECT a.c.d FROM t",
    ),
    "a table that another project defines": (
        "postgres",
        "CREATE TABLE t AS SELECT a FROM source1",
        "CREATE TABLE t AS SELECT a, b FROM q",
    ),
}
"""By kind, the dialect, a file of the project, and one of another project, which is gone later."""


def _write(root: Path, texts: Mapping[str, str | bytes | None]) -> None:
    root.mkdir(exist_ok=True)
    for name, text in texts.items():
        if text is None:
            (root / name).unlink()
        else:
            (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())


class _Shop:
    """Two stores of a folder for each project: one that uses what earlier ingests left, and one that does not."""

    def __init__(self, folder: Path, dialect: str = "postgres", tables: Mapping[str, list[str]] | None = None) -> None:
        self._folder = folder
        self._dialect = dialect
        self._tables = tables or {}
        self._stores = {name: folder / f"{name}.db" for name in ("saved", "anew")}
        self._hours = 0

    def ingest(
        self,
        texts: Mapping[str, str | bytes | None],
        project: str = "shop",
        *,
        hours: int = 1,
        default_schema: str | None = None,
    ) -> IngestSummary:
        """Write files, ingest them into both stores, and return what the first ingest says; both have the same."""
        root = self._folder / project
        _write(root, texts)
        self._hours += hours
        found: dict[str, IngestSummary] = {}
        contents: list[list[str]] = []
        for name, store in self._stores.items():
            options = SqlOptions(
                dialect=self._dialect,
                catalog=Catalog.from_dict(self._tables, self._dialect),
                default_schema=default_schema,
                observed_at=_BEGIN + timedelta(hours=self._hours),
                project=project,
                project_root=root,
                cache=name == "saved",
            )
            found[name] = ingest_sql(root, store=store, options=options)
            with open_store(store) as opened:
                contents.append(stored_content(opened))
        saved, anew = found.values()
        assert not difference(contents[0], contents[1])
        assert (saved.diagnostics, saved.batch.run.counts, saved.gone, saved.notices) == (
            anew.diagnostics,
            anew.batch.run.counts,
            anew.gone,
            anew.notices,
        )
        return saved


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that gets the projects of the ingests that stored edits alone."""
    found: list[str] = []

    def store(edits: Edits, given: GraphStore, stated: BatchStateFiles, project: str) -> AppliedChanges | None:
        found.append(project)
        return store_edits(edits, given, stated, project)

    monkeypatch.setattr(ingest, "store_edits", store)
    return found


@pytest.mark.parametrize("kind", _ALONE)
def test_an_edit_that_concerns_few_files(kind: str, tmp_path: Path, alone: list[str]) -> None:
    edited, resolved, stored = _ALONE[kind]
    shop = _Shop(tmp_path, tables=_TABLES)
    shop.ingest(_SHOP)
    after = shop.ingest(edited)
    assert len(alone) == 1
    assert (after.resolved, after.stored) == (resolved, stored)
    shop.ingest({name: _SHOP[name] for name in edited})
    assert shop.ingest({}).stored == 0


@pytest.mark.parametrize("kind", _TOGETHER)
def test_an_edit_that_may_concern_all_files(kind: str, tmp_path: Path, alone: list[str]) -> None:
    edited = _TOGETHER[kind]
    shop = _Shop(tmp_path, tables=_TABLES)
    shop.ingest(_SHOP)
    shop.ingest(edited)
    assert not alone
    shop.ingest({name: _SHOP[name] for name in edited})


@pytest.mark.parametrize("kind", _DOUBTFUL)
def test_an_edit_that_changes_more_than_its_statements(kind: str, tmp_path: Path) -> None:
    dialect, (first, *edits) = _DOUBTFUL[kind]
    shop = _Shop(tmp_path, dialect)
    shop.ingest({**_VIEWS, **first})
    for edited in edits:
        shop.ingest(edited)


@pytest.mark.parametrize("kind", _OF_OTHERS)
@pytest.mark.parametrize("is_first", [True, False])
def test_an_edit_once_a_file_of_another_project_is_gone(kind: str, is_first: bool, tmp_path: Path) -> None:
    dialect, own, other = _OF_OTHERS[kind]
    shop = _Shop(tmp_path, dialect)
    ingests: list[tuple[dict[str, str | bytes | None], str]] = [
        ({**_VIEWS, "t.sql": own}, "shop"),
        ({**_FURTHER, "o.sql": other}, "other"),
    ]
    for texts, project in reversed(ingests) if is_first else ingests:
        shop.ingest(texts, project)
    shop.ingest({})
    shop.ingest({})
    shop.ingest({"o.sql": None}, "other")
    shop.ingest(_EDITED)
    shop.ingest({"z1.sql": _VIEWS["z1.sql"]})


def test_a_star_of_another_project_that_an_edit_opens(tmp_path: Path) -> None:
    shop = _Shop(tmp_path)
    shop.ingest({**_VIEWS, "v.sql": "CREATE VIEW v AS SELECT * FROM loose", "w.sql": "SELECT a FROM v"})
    shop.ingest({})
    shop.ingest({**_FURTHER, "o.sql": "CREATE TABLE copy_of_v AS SELECT * FROM v"}, "other")
    shop.ingest({})
    shop.ingest({})
    shop.ingest({"v.sql": "CREATE VIEW v AS SELECT a, b FROM loose"})
    shop.ingest({})


@pytest.mark.parametrize("hours", [0, -1])
def test_an_edit_after_an_ingest_of_the_files_elsewhere_as_of_the_same_time_or_earlier(
    hours: int, tmp_path: Path, alone: list[str]
) -> None:
    shop = _Shop(tmp_path)
    shop.ingest(_VIEWS)
    shop.ingest({})
    shop.ingest({}, hours=hours, default_schema="elsewhere")
    alone.clear()
    (notice,) = shop.ingest(_EDITED, hours=2).notices
    assert len(alone) == 1
    assert "3 files of shop" in notice

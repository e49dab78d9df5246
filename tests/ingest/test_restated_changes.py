"""SQL files that drop, rename or swap, ingested again: nothing new is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage_ingest.sql_files import ingest_sql_files

DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, tzinfo=UTC)

SCRIPTS = {
    "drop": "CREATE TABLE c AS SELECT a FROM old; DROP TABLE old; CREATE VIEW v AS SELECT a FROM old",
    "drop a column": "ALTER TABLE o DROP COLUMN z; CREATE VIEW v AS SELECT a FROM o",
    "rename": "ALTER TABLE t RENAME TO u; CREATE VIEW v AS SELECT a FROM u",
    "rename a column": "ALTER TABLE t RENAME COLUMN a TO b; CREATE VIEW v AS SELECT b FROM t",
    "swap": "ALTER TABLE t SWAP WITH u",
}


def ingest(store: GraphStore, folder: Path, text: str, day: int, dialect: str = "postgres") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "a.sql").write_text(text, encoding="utf-8")
    ingest_sql_files([folder], store, options_for(dialect), observed_at=FIRST + day * DAY, retire_most=True)


def changes(store: GraphStore) -> list[str]:
    return [key for label, key, _ in store.dump().nodes if label == "Change"]


def content(store: GraphStore) -> list[tuple[str, str, object]]:
    """Return the datasets and columns, without the times that every ingest moves."""
    return [
        (label, key, sorted((name, str(value)) for name, value in properties.items() if name != "last_seen"))
        for label, key, properties in store.dump().nodes
        if label in ("Table", "Column")
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_files_that_are_ingested_again(name: str, tmp_path: Path) -> None:
    dialect = "snowflake" if name == "swap" else "postgres"
    with open_store(tmp_path / "s.db") as store:
        ingest(store, tmp_path / "in", SCRIPTS[name], 0, dialect=dialect)
        before = changes(store), content(store)
        assert len(before[0]) == 1
        for day in (1, 2):
            ingest(store, tmp_path / "in", SCRIPTS[name], day, dialect=dialect)
            assert (changes(store), content(store)) == before


def test_a_table_that_another_project_makes_again_is_dropped_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        for day in (0, 2):
            ingest(store, tmp_path / "maker", "CREATE TABLE t AS SELECT a FROM o", day)
            ingest(store, tmp_path / "dropper", "DROP TABLE t", day + 1)
            [table] = [one for one in store.datasets() if one.name == "t"]
            assert table.dropped_at == FIRST + (day + 1) * DAY
        assert len(changes(store)) == 2

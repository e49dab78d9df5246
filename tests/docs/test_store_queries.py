"""The queries of docs/stores.md run in another SQLite on a store that an ingest has filled."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from lineage_ingest import SqlOptions, ingest_sql

PAGE = Path(__file__).parents[2] / "docs" / "stores.md"


def test_the_queries_return_what_was_stored(tmp_path: Path) -> None:
    (tmp_path / "v.sql").write_text("CREATE VIEW shop.v AS SELECT md5(amount) AS h FROM shop.orders", encoding="utf-8")
    path = tmp_path / "lineage.db"
    ingest_sql(tmp_path / "v.sql", store=path, options=SqlOptions(dialect="postgres"))
    feeds, used, runs = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        [(target, subtypes, masking, sql)] = connection.execute(feeds).fetchall()
        assert (target, subtypes, masking) == ("postgres/shop.v#h", '["TRANSFORMATION"]', 1)
        assert "md5(amount)" in sql
        assert connection.execute(used).fetchall() == []
        assert len(connection.execute(runs).fetchall()) == 1

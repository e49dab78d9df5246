"""The graph that the explorer's tests look at."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

from lineage.model.batch import LineageBatch, RunRecord, UsageRecord
from lineage.model.facts import Facts, FactsRecord
from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage.store.values import StoredTag
from lineage_ingest.sql_files import ingest_sql_files

__all__ = ["HTML", "JANUARY", "MARCH", "fill", "key"]

JANUARY, MARCH = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC)
HTML = "<img src=x onerror=\"document.title='broken'\">"

# Example 1 of the LineageX paper.
PAPER = """
CREATE VIEW info AS SELECT c.name, c.age, o.oid, w.* FROM customers c JOIN orders o ON c.cid = o.cid
JOIN webact w ON c.cid = w.wcid;
CREATE VIEW webact AS SELECT w.wcid, w.wdate, w.wpage, w.wreg FROM webinfo w
INTERSECT SELECT w1.cid, w1.date, w1.page, w1.reg FROM web w1;
CREATE VIEW webinfo AS SELECT c.cid AS wcid, w.date AS wdate, w.page AS wpage, w.reg AS wreg
FROM customers c JOIN web w ON c.cid = w.cid WHERE EXTRACT(YEAR from w.date) = 2022;
"""

_QUOTED = HTML.replace('"', '""')
SHOP = f"""
CREATE TABLE shop.orders (id int, amount numeric, email text, status text);
CREATE TABLE shop.lonely (x int);
CREATE VIEW stage.orders AS SELECT id, amount, md5(email) AS email_hash FROM shop.orders WHERE status = 'secret';
CREATE VIEW mart.revenue AS
SELECT id,
  sum(amount) AS total
FROM stage.orders GROUP BY id;
CREATE VIEW shop."{_QUOTED}" AS SELECT amount AS "{_QUOTED}" FROM shop.orders;
CREATE VIEW broken.v AS SELECT amuont FROM shop.orders;
"""
HUB = "\n".join(f"CREATE VIEW wide.t{n:02} AS SELECT hub FROM shop.hub;" for n in range(27))
CYCLE = "CREATE VIEW ring.a AS SELECT x FROM ring.b; CREATE VIEW ring.b AS SELECT x FROM ring.a;"
# Of two months: revenue came from another column before.
EARLIER = "CREATE VIEW mart.share AS SELECT id AS part FROM stage.orders;"
LATER = "CREATE VIEW mart.share AS SELECT amount AS part FROM stage.orders;"


def key(name: str) -> str:
    """Return the key of a table, or of a column behind a `#`."""
    return f"postgres/{name}"


def fill(path: Path, folder: Path) -> None:
    """Put the graph into a store at a path; `folder` is for its files."""
    with open_store(path) as store:
        for at, share in ((JANUARY, EARLIER), (MARCH, LATER)):
            texts = {"paper": PAPER, "shop": SHOP, "hub": HUB, "ring": CYCLE, "share": share}
            for name, text in texts.items():
                (folder / f"{name}.sql").write_text(text, encoding="utf-8")
            ingest_sql_files([folder], store, options_for("postgres"), observed_at=at, project="estate")
        read = UsageRecord(key("stage.orders"), date(2026, 3, 9), 5, users=(("ana", 4), ("bo", 1)), last_read=MARCH)
        email = UsageRecord(
            key("shop.orders#email"), date(2026, 3, 9), 3, users=(("ana", 2), ("zoe", 1)), last_read=MARCH
        )
        store.apply(LineageBatch(run=RunRecord("run:log", "log", "log", MARCH, {}), usage=(read, email)))
        finance = Facts("dbt", MARCH, owner="Finance", tags=("domain:Money",))
        owned = tuple(FactsRecord(key(name), finance) for name in ("mart.revenue", "mart.share"))
        store.apply(LineageBatch(run=RunRecord("run:owners", "owners", "dbt", MARCH, {}), facts=owned))
        store.change_tags([StoredTag(key("shop.orders#email"), "email", source="manual", stated_by="ana", at=MARCH)])

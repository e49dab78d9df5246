"""An estate with something to ask about: a revenue that changed in May 2025, e-mail addresses, tables nobody reads."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineage.sql.extraction import options_for
from lineage.store import open_store
from lineage.store.values import StoredTag
from lineage_ingest.log_api import ingest_log
from lineage_ingest.query_log_options import LogOptions
from lineage_ingest.sql_files import ingest_sql_files

__all__ = ["AFTER", "BEFORE", "fill_for_tasks"]

BEFORE, AFTER = datetime(2025, 3, 3, tzinfo=UTC), datetime(2025, 5, 6, tzinfo=UTC)

STAYS = """
CREATE TABLE shop.orders (id int, customer_id int, amount numeric, currency text, status text, ordered_at timestamp);
CREATE TABLE shop.customers (id int, name text, email text, country text);
CREATE TABLE shop.rates (currency text, day date, rate numeric);
CREATE VIEW stage.orders AS
SELECT id, customer_id, amount, currency, status, ordered_at::date AS day FROM shop.orders WHERE status <> 'test';
CREATE VIEW mart.customers AS SELECT id, md5(email) AS email_hash, country FROM shop.customers;
CREATE VIEW mart.contacts AS SELECT id, name, lower(email) AS email FROM shop.customers;
CREATE VIEW crm.mailing AS SELECT name, email FROM mart.contacts WHERE email LIKE '%@%';
CREATE VIEW report.board AS
SELECT country, revenue, revenue / sum(revenue) OVER () AS share FROM mart.revenue;
CREATE VIEW report.top_customers AS
SELECT customer_id, sum(amount) AS spent FROM stage.orders GROUP BY customer_id ORDER BY sum(amount) DESC LIMIT 10;
CREATE VIEW legacy.orders_export AS SELECT id, amount, currency FROM shop.orders;
CREATE VIEW legacy.orders_monthly AS SELECT currency, sum(amount) AS total FROM legacy.orders_export GROUP BY currency;
"""
REVENUE = """
CREATE VIEW mart.revenue AS
SELECT c.country, sum(o.amount) AS revenue
FROM stage.orders o JOIN shop.customers c ON c.id = o.customer_id GROUP BY c.country;
"""
REVENUE_FROM_MAY = """
CREATE VIEW mart.revenue AS
SELECT c.country, sum(o.amount * r.rate) AS revenue
FROM stage.orders o JOIN shop.customers c ON c.id = o.customer_id
JOIN shop.rates r ON r.currency = o.currency AND r.day = o.day
WHERE o.status = 'paid' GROUP BY c.country;
"""
# How often in the last sixty days, by whom.
READS = {
    ("ana", "SELECT country, revenue, share FROM report.board"): 60,
    ("tom", "SELECT name, email FROM crm.mailing"): 12,
    ("zoe", "SELECT email FROM shop.customers WHERE country = 'DE'"): 6,
    ("bo", "SELECT email_hash FROM mart.customers"): 20,
    ("ana", "SELECT customer_id, spent FROM report.top_customers"): 8,
}
ONCE = "SELECT id, amount FROM legacy.orders_export"


def fill_for_tasks(path: Path, folder: Path) -> None:
    """Put the estate into a store at a path; `folder` is for its files."""
    models, log = folder / "models", folder / "reads.csv"
    models.mkdir()
    (models / "shop.sql").write_text(STAYS, encoding="utf-8")
    with open_store(path) as store:
        for at, revenue in ((BEFORE, REVENUE), (AFTER, REVENUE_FROM_MAY)):
            (models / "revenue.sql").write_text(revenue, encoding="utf-8")
            ingest_sql_files([models], store, options_for("postgres"), observed_at=at, project="shop")
        _write_reads(log)
        options = LogOptions(dialect="postgres", namespace="postgres")
        ingest_log([str(log)], source="generic", store=store, options=options)
        email = StoredTag("postgres/shop.customers#email", "email", source="manual", stated_by="ana", at=AFTER)
        store.change_tags([email])


def _write_reads(path: Path) -> None:
    now = datetime.now(UTC)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query_text", "started_at", "user", "session"])
        rows.writerow([ONCE, (now - timedelta(days=300)).isoformat(), "kim", "kim"])
        for (user, sql), times in READS.items():
            for number in range(times):
                rows.writerow([sql, (now - timedelta(days=60 * number / times, seconds=1)).isoformat(), user, user])

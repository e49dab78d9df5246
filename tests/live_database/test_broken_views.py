"""Views over a view that the database cannot read any more."""

from __future__ import annotations

from lineage import extract
from lineage_ingest.live_database.broken_views import views_over_broken_ones


def test_views_over_views_over_a_broken_one_are_named() -> None:
    texts = {"p.b": "SELECT a FROM p.gone", "p.c": "SELECT a FROM p.b", "p.d": "SELECT a FROM p.t"}
    statements = {name: extract(f"CREATE VIEW {name} AS {text}", "duckdb") for name, text in texts.items()}
    assert dict(views_over_broken_ones(statements, {"p.gone"})) == {"p.b": "p.gone", "p.c": "p.b"}

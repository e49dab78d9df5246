"""What the database says of its views is compared with our lineage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lineage.model.statement import Completeness
from lineage.store import GraphStore
from lineage_ingest import DatabaseOptions, ingest_postgres
from lineage_ingest.live_database.postgres import ingest as module
from lineage_ingest.live_database.postgres.objects import LiveDatabase
from lineage_ingest.live_database.postgres.stated_texts import StatedText, stated_texts
from tests.live_database.postgres_database import NAMESPACE, ServedDatabase

pytestmark = pytest.mark.xdist_group("postgres")


def test_other_columns_than_the_database_has(
    database: ServedDatabase, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DATABASE_DIFFERS, if a definition is read to have other columns; no definition is known to be."""
    database.run("CREATE TABLE t (a int, b int); CREATE VIEW v AS SELECT a, b FROM t")

    def misread(database: LiveDatabase) -> Iterator[StatedText]:
        for text in stated_texts(database):
            yield replace(text, text='CREATE VIEW "public"."v" AS SELECT a FROM public.t')

    monkeypatch.setattr(module, "stated_texts", misread)
    summary = ingest_postgres(database.uri, store=store, options=DatabaseOptions(namespace=NAMESPACE))
    assert [str(one.diagnostic.code) for one in summary.diagnostics] == ["DATABASE_DIFFERS"]
    assert summary.batch.jobs[0].completeness is Completeness.PARTIAL

"""The made-up company of `tests/data/governance`: SQL, dbt, dashboards, a Spark job and a query log, ingested once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.store import GraphStore, open_store
from tests.cli.running import lineage

DATA = Path(__file__).parents[1] / "data" / "governance"


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("company") / "company.db"
    sql = ("--dialect", "postgres", "--catalog", DATA / "schema.sql", "--project", "company", "--store", path)
    assert lineage("ingest", "sql", DATA / "models", *sql).code == 0
    here = ("--namespace", "postgres", "--store", path)
    assert lineage("ingest", "dbt", DATA / "dbt", *here).code == 0
    assert lineage("ingest", "bi", "plain", DATA / "boards.yaml", "--store", path).code == 0
    assert lineage("ingest", "openlineage", DATA / "events.ndjson", "--store", path).code == 0
    log = ("--source", "generic", "--dialect", "postgres", *here)
    assert lineage("ingest", "log", DATA / "log.csv", *log).code == 0
    return path


@pytest.fixture
def path(ingested: Path, tmp_path: Path) -> Path:
    """A copy of the store, which a test may change."""
    return Path(shutil.copy(ingested, tmp_path / "lineage.db"))


@pytest.fixture
def company(path: Path) -> Iterator[GraphStore]:
    with open_store(path) as store:
        yield store


@pytest.fixture
def tagged(path: Path) -> Path:
    assert lineage("tag", "scan", "--store", path).code == 0
    return path

"""Our events in the classes that OpenLineage publishes, which are made from its schemas: nothing is lost in them."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pyspark

from lineage.catalog import Catalog
from lineage.export.openlineage import openlineage_events
from lineage.sql.extraction import options_for
from lineage.store import GraphStore, open_store
from lineage_ingest.sql_files import ingest_sql_files
from tests.events.test_agents import AGENT
from tests.java_options import SHORT_LIVED
from tests.maven_jars import fetched
from tests.store.test_openlineage_export import DEMO, make

READER = Path(__file__).with_name("ReadEvents.java")


def _events(store: GraphStore) -> list[Any]:
    ours = [json.loads(json.dumps(one)) for one in openlineage_events(store)]
    assert len(ours) >= 10
    return ours


def test_the_published_classes_hold_all_of_it(tmp_path: Path) -> None:
    """All kinds of jobs and datasets, and the demo."""
    with open_store(tmp_path / "store.db") as store:
        make(store)
        ours = _events(store)
    with open_store(tmp_path / "demo.db") as store:
        options = options_for("postgres", namespace="postgres://mimic:5432", default_schema="mimiciv_derived")
        ingest_sql_files([DEMO / "concepts"], store, options, Catalog.from_ddl(DEMO / "create.sql", "postgres"))
        ours += _events(store)
    given, exported = tmp_path / "given.ndjson", tmp_path / "exported.ndjson"
    given.write_text("".join(f"{json.dumps(one)}\n" for one in ours), encoding="utf-8")
    # They write logs with what Spark has.
    jars = [*fetched("openlineage-spark", AGENT).glob("*.jar"), Path(pyspark.__file__).parent / "jars" / "*"]
    subprocess.run(["java", *SHORT_LIVED, "-cp", os.pathsep.join(map(str, jars)), READER, given, exported], check=True)
    theirs = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    assert list(map(_plain, theirs)) == list(map(_plain, ours))


def _plain(value: Any, name: str = "") -> Any:
    """Return a value without what is null, and times as times."""
    if isinstance(value, dict):
        return {name: _plain(inner, name) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return datetime.fromisoformat(value) if name == "eventTime" else value

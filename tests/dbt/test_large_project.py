"""A project whose rows are copied into the store, on all threads: the edges stay whole when they are seen again."""

from __future__ import annotations

from pathlib import Path

from lineage.store import open_store
from lineage_ingest import DbtOptions, ingest_dbt
from tests.benchmarks._dbt_project import make_manifest, write_manifest


def test_edges_that_were_copied_in_keep_their_properties(tmp_path: Path) -> None:
    manifest = make_manifest(models=300)
    path, stated = tmp_path / "lineage.db", []
    for day in (1, 2):
        manifest["metadata"]["generated_at"] = f"2026-03-{day:02d}T06:00:00Z"
        write_manifest(manifest, tmp_path / "target")
        summary = ingest_dbt(tmp_path / "target", store=path, options=DbtOptions(full=True))
        stated.append({(one.job, one.source, one.target, one.kind) for one in summary.batch.edges})
    with open_store(path) as store:
        found = {(one.job, one.source, one.target, one.kind) for one in store.edges_of(store.job_keys())}
    assert found == stated[0] == stated[1]

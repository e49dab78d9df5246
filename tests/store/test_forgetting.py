"""Manual retirement of jobs, and jobs that get other keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lineage.model.batch import DiagnosticRecord
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.sql.extraction import options_for
from lineage.store import GraphStore
from lineage.store.values import JobIdentity, JobSelection, RetiredJobs
from lineage_ingest.sql_files import IngestSummary, ingest_sql_files
from tests.store.batch_builders import JobWithEdges, batch, day, history, job, key, query, table

FINDING = Diagnostic(DiagnosticCode.UNKNOWN_TABLE, Severity.WARNING, "no table `x`")
V = "create view v as select x from a"


def of_file(record: JobWithEdges, project: str, path: str, environment: str = "postgres") -> JobWithEdges:
    return replace(record, job=replace(record.job, source=path, file_key=f"{project}:{path}@{environment}"))


def fill(store: GraphStore) -> None:
    """Ingest two projects, one of them twice, and a query."""
    orders = job("j1", "a.x -> v.x", at=1)
    findings = (
        DiagnosticRecord(FINDING, "m/o.sql", "j1", "shop:m/o.sql@postgres"),
        DiagnosticRecord(FINDING, "m/o.sql", None, "crm:m/o.sql@postgres"),
    )
    new_batch = batch(
        of_file(orders, "shop", "m/o.sql"),
        of_file(job("j2", "a.x -> w.x", at=1), "crm", "m/o.sql"),
        of_file(job("j3", "a.y -> w.y", at=1), "shop", "n.sql", "snowflake,pg"),
        query("q", "a.x -> u.x", at=1),
    )
    store.apply(replace(new_batch, diagnostics=findings))


def selected(store: GraphStore, **wanted: Any) -> list[str]:
    return [head.key for head in store.select_jobs(JobSelection(**wanted))]


def test_jobs_are_selected_by_all_that_is_given(store: GraphStore) -> None:
    fill(store)
    assert selected(store, project="shop") == ["j1", "j3"]
    assert selected(store, project="shop", environment="snowflake,pg") == ["j3"]
    assert selected(store, project="sho") == selected(store, project="sh%") == []
    assert selected(store, source="m") == selected(store, source="m/o.sql") == ["j1", "j2"]
    assert selected(store, source="m/o") == []
    assert selected(store, source="m/", project="crm") == ["j2"]
    assert selected(store, job="query:q") == ["query:q"]
    assert selected(store, namespace="pg") == ["j1", "j2", "j3", "query:q"]
    assert selected(store, namespace="other") == []
    assert store.diagnosed_files(["shop:", "crm:x"]) == ["shop:m/o.sql@postgres"]


def test_what_is_retired_stays_in_the_history_and_can_be_said_again(store: GraphStore) -> None:
    fill(store)
    assert store.retire_jobs(["j1", "query:q", "unknown"], day(5)) == RetiredJobs(2, 2)
    assert history(store) == ["a.x -> u.x 1..5", "a.x -> v.x 1..5", "a.x -> w.x 1..", "a.y -> w.y 1.."]
    assert [found.file_key for found in store.diagnostics()] == ["crm:m/o.sql@postgres"]
    assert store.retire_jobs(["j1", "query:q"], day(6)) == RetiredJobs()
    assert selected(store, project="shop") == ["j3"]
    store.apply(batch(of_file(job("j1", "a.x -> v.x", at=7), "shop", "m/o.sql")))
    assert "a.x -> v.x 7.." in history(store)


def test_a_job_takes_its_history_along_to_another_key(store: GraphStore) -> None:
    for at, line in ((1, "a.x -> v.x"), (2, "a.y -> v.y")):
        store.apply(batch(job("old", line, at=at, source="o.sql"), run=f"run {at}", files=["o.sql"]))
    before = history(store)
    identity = JobIdentity("new", "shop:m/o.sql@postgres", "m/o.sql")
    assert store.rekey_jobs({"old": identity}) == 1
    assert history(store) == before
    [stored] = store.jobs()
    assert (stored.key, stored.project, stored.path, stored.observations) == ("new", "shop", "m/o.sql", 2)
    assert store.rekey_jobs({"old": identity}) == 0
    store.apply(batch(job("old", "a.x -> v.x", at=3)))
    store.rekey_jobs({"old": identity})
    assert [one.key for one in store.jobs()] == ["new"]
    assert {line.partition(" ")[0] for line in history(store)} == {"a.x", "a.y"}


def ingest(store: GraphStore, path: Path, at: datetime) -> IngestSummary:
    return ingest_sql_files([path], store, options_for("postgres", namespace="pg"), observed_at=at, project="shop")


def found_by(store: GraphStore, text: str) -> list[str]:
    """Return what a search finds, and that it is what it counts."""
    hits = [hit.key for hit in store.search(text, limit=100)]
    assert store.count_search(text) == len(hits)
    return hits


def test_tables_whose_lineage_is_retired_are_not_found(store: GraphStore) -> None:
    """A table that is read by another job stays, as does one that is stated since; both come back when used again."""
    store.apply(batch(job("j1", "t_a.x -> t_v.x", at=1), job("j2", "t_v.x -> t_w.x", at=1), table("t_c", "x", at=1)))
    store.retire_jobs(["j1"], day(5))
    assert found_by(store, "t_") == ["pg/t_c", "pg/t_v", "pg/t_w"]
    store.describe(key("t_v"), tags=["pii"])
    store.retire_jobs(["j2"], day(6))
    assert found_by(store, "t_") == ["pg/t_c"]
    assert found_by(store, "x") == ["pg/t_c#x"]
    assert store.search("", tags=["pii"]) == []
    store.apply(batch(table("t_a", "x", at=7)))
    assert found_by(store, "t_") == ["pg/t_a", "pg/t_c"]
    store.apply(batch(job("j2", "t_v.x -> t_w.x", at=8)))
    assert found_by(store, "t_") == ["pg/t_a", "pg/t_c", "pg/t_v", "pg/t_w"]


def test_a_file_that_no_longer_defines_a_table_takes_it_out_of_the_search(store: GraphStore, tmp_path: Path) -> None:
    for at, name in enumerate(("v_old", "v_new"), 1):
        (tmp_path / "v.sql").write_text(f"create view {name} as select x from a", encoding="utf-8")
        ingest(store, tmp_path, datetime(2024, 1, at, tzinfo=UTC))
    assert found_by(store, "v_") == ["pg/v_new"]

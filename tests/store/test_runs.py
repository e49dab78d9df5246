"""A run stores itself and its diagnostics, in addition to lineage."""

from __future__ import annotations

from dataclasses import replace

from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.store import GraphStore
from tests.store.batch_builders import batch, day, job, later


def finding(source: str, message: str, job_key: str | None = None) -> DiagnosticRecord:
    diagnostic = Diagnostic(DiagnosticCode.UNKNOWN_TABLE, Severity.WARNING, message, Span(3, 5, 2, 1), "look again")
    return DiagnosticRecord(diagnostic, source, job_key)


def with_findings(new_batch: LineageBatch, *findings: DiagnosticRecord) -> LineageBatch:
    return replace(new_batch, diagnostics=findings)


def messages(store: GraphStore) -> list[str]:
    return [one.diagnostic.message for one in store.diagnostics()]


def test_runs_come_back_the_newest_first(store: GraphStore) -> None:
    first, second = batch(at=1, run="one"), batch(at=2, run="two")
    store.apply(first)
    store.apply(second)
    store.apply(later(first, 4))
    newest, other = store.runs()
    assert (newest.key, newest.at, newest.last_seen, newest.counts, newest.seconds) == (
        "run:one",
        day(1),
        day(5),
        {"files": 1},
        0.5,
    )
    assert other.key == "run:two"
    assert [one.key for one in store.runs(limit=1)] == ["run:one"]


def test_diagnostics_come_back_as_they_were(store: GraphStore) -> None:
    new_findings = [finding("f.sql", "no table t", "etl"), finding("g.sql", "not SQL")]
    store.apply(with_findings(batch(job("etl", at=1, source="f.sql")), *new_findings))
    assert [(one.key, one.diagnostic, one.source, one.job) for one in store.diagnostics()] == [
        (new_findings[0].key, new_findings[0].diagnostic, "f.sql", "etl"),
        (new_findings[1].key, new_findings[1].diagnostic, "g.sql", None),
    ]
    assert [one.job for one in store.diagnostics("f.sql")] == ["etl"]
    tied = [(name, b) for name, _, b, _ in store.dump().relationships if name in ("ABOUT", "REPORTED")]
    assert sorted(tied) == [("ABOUT", "etl"), *sorted(("REPORTED", one.key) for one in new_findings)]


def test_diagnostics_of_what_is_stated_again_are_replaced(store: GraphStore) -> None:
    store.apply(with_findings(batch(job("etl", at=1, source="f.sql")), finding("f.sql", "old", "etl")))
    store.apply(with_findings(batch(job("other", at=1, source="g.sql")), finding("g.sql", "kept", "other")))
    store.apply(with_findings(batch(job("etl", at=3, source="f.sql")), finding("f.sql", "new", "etl")))
    assert messages(store) == ["new", "kept"]
    store.apply(with_findings(batch(job("etl", at=2, source="f.sql")), finding("f.sql", "late", "etl")))
    assert messages(store) == ["new", "kept"]
    store.apply(batch(job("etl", at=4, source="f.sql")))
    assert messages(store) == ["kept"]


def test_diagnostics_of_a_file_that_is_stated_whole_are_replaced(store: GraphStore) -> None:
    store.apply(with_findings(batch(at=1, files=["f.sql"]), finding("f.sql", "unreadable")))
    store.apply(with_findings(batch(at=3, files=["f.sql"]), finding("f.sql", "not SQL")))
    assert messages(store) == ["not SQL"]
    store.apply(with_findings(batch(at=2, files=["f.sql"]), finding("f.sql", "late")))
    assert messages(store) == ["not SQL"]
    store.apply(batch(at=4, files=["f.sql"]))
    assert messages(store) == []

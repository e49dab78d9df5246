"""Every field of a stored value is held by a property, and read back as it was."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any

import pytest

from lineage.model.batch import DatasetChange, JobKind
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.influence.evidence import SourcePosition
from lineage.model.influence.transformations import Subtype
from lineage.model.statement import ChangeKind, Completeness, DatasetKind
from lineage.model.usage import UserCounts
from lineage.store.graph import records
from lineage.store.graph.schema import LINEAGE, OBSERVED
from lineage.store.planning.graph_state import (
    EdgeType,
    JobCounts,
    JobEdge,
    JobOutput,
    KnownChange,
    Prune,
    RunUsage,
    Seen,
)
from lineage.store.planning.observations import ABSENT, UNOBSERVED, Timeline
from lineage.store.planning.validity import Meaning, Period
from lineage.store.values import StoredColumn, StoredDataset, StoredDiagnostic, StoredJob, StoredRun, StoredTag

AT, LATER = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
FACTS = '{"dbt/shop:model.shop.t@":{"at":"2024-01-01T00:00:00+00:00","tags":["pii"]}}'
USERS = UserCounts((("ana", 2), ("bo", 1)), 3, 4)

NODES = [
    (
        StoredDataset("pg/s.T", "pg", "s.t", DatasetKind.VIEW, "postgres", True, ("old",), AT, LATER, LATER, "text",
                      ("pii",), AT, "s.T", AT, LATER, AT, FACTS),
        records.dataset_node,
        records.dataset_from,
    ),
    (
        StoredColumn("pg/t#a", "pg/t", "a", "int", 3, True, "pg/t#p", AT, "text", ("pii",), ("b",), LATER, "A", 2,
                     FACTS),
        lambda column: records.column_node(column, None),
        records.column_from,
    ),
    (
        StoredJob("file:j", JobKind.SQL_FILE, "SELECT 1", "duckdb", "CREATE VIEW", "a.sql", 4, Completeness.FULL, AT,
                  LATER, retired_at=LATER, file_key="p:a.sql@", positions=(SourcePosition(0, 4, 1),),
                  observed_at=(AT, LATER), policies="[]"),
        records.job_node,
        records.job_from,
    ),
    (StoredRun("run", "sql", "a.sql", AT, LATER, {"edges": 2}, 1.5, ("a.sql",)), records.run_node, records.run_from),
    (
        KnownChange(DatasetChange(ChangeKind.RENAME_COLUMN, "pg/t", AT, "b", "a", "B"), True, True),
        records.change_node,
        records.change_from,
    ),
    (StoredTag("pg/t#a", "email", "manual", AT, "ana", "seen", 0.5, True), records.tag_node, records.tag_from),
    (Prune(AT, LATER), records.prune_node, records.prune_from),
    (
        StoredDiagnostic(
            Diagnostic(DiagnosticCode.UNKNOWN_TABLE, Severity.WARNING, "text", span=Span(1, 2, 3, 4), hint="do"),
            "a.sql", "file:j", "p:a.sql@", run="run", last_seen=AT,
        ),
        records.diagnostic_node,
        records.diagnostic_from,
    ),
    (
        RunUsage("pg/t", date(2024, 1, 1), 2, 3, USERS, AT, LATER, run="run"),
        records.usage_node,
        lambda node: records.usage_from(node, "pg/t"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "node_of", "value_from"), NODES, ids=lambda one: type(one).__name__)
def test_a_node_holds_every_field(value: Any, node_of: Any, value_from: Any) -> None:
    node = node_of(value)
    assert value_from({"key": node.key, **node.properties}) == value


@pytest.mark.parametrize(("value", "_node_of", "_value_from"), NODES, ids=lambda one: type(one).__name__)
def test_the_sample_sets_every_field_that_a_node_holds(value: Any, _node_of: Any, _value_from: Any) -> None:
    summed = {"observations", "reads", "writes", "duration_us", "users"} if isinstance(value, StoredJob) else set()
    assert [one.name for one in fields(value) if not getattr(value, one.name) and one.name not in summed] == []


@pytest.mark.parametrize("kind", EdgeType)
def test_a_relationship_of_lineage_holds_every_field(kind: EdgeType) -> None:
    meaning = (
        Meaning()
        if kind is EdgeType.FEEDS
        else Meaning((Subtype.FILTER, Subtype.JOIN), True, True, True, (Subtype.JOIN,))
    )
    spans = () if kind is EdgeType.FEEDS else ((1, 2, 3, 4),)
    live = Period(AT, None, LATER, meaning, spans)
    pair = JobEdge("pg/a#x", "pg/b#y", kind, "job", "pg/a", "pg/b")
    history = (live._replace(end=LATER), live)
    written = list(records.lineage_records(pair, history))
    assert [one.type for one in written] == [kind.retired, str(kind)]
    assert {one.type for one in written} < LINEAGE.keys()
    read = [records.period_from({"type": one.type, **one.properties}) for one in written]
    assert tuple(read) == history


def test_what_ties_jobs_to_datasets_and_runs_holds_every_field() -> None:
    unknown = (None,) * 5
    job = StoredJob("j", JobKind.DBT, *unknown, Completeness.FULL, AT, LATER, observed_at=(AT, LATER))
    lines = [
        Timeline().observe(AT, "a").observe(LATER, "b"),
        Timeline().observe(AT, "a").observe(LATER, "a"),
        Timeline().observe(AT, "a").observe(LATER, ABSENT),
        Timeline().observe(LATER, "a", "tie"),
        UNOBSERVED,
    ]
    for line in lines:
        unit = JobOutput(AT, LATER if line.present or not line.points else AT, line)
        written = records.writes_relationship(job, "t", unit).properties
        assert records.writes_from(written, job) == unit
        assert (written["last_seen"] is None) == (unit.last_seen == LATER)
    assert records.reads_from(records.reads_relationship(job, "t", Seen(AT, LATER)).properties, job) == Seen(AT, LATER)
    assert records.reads_from(records.reads_relationship(job, "t", Seen(AT, AT)).properties, job) == Seen(AT, AT)
    counts = JobCounts(2, 3, USERS)
    assert OBSERVED.decode(OBSERVED.encode(counts)) == counts
    assert OBSERVED.decode({"observations": 2}) == JobCounts(2)

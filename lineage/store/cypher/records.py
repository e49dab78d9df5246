"""The planner's values as nodes and relationships of the graph, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from lineage.model.batch import DatasetChange, DiagnosticRecord, JobKind
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.evidence import SourcePosition, chain_text, chains_from
from lineage.model.names import short_name, split_dataset_key
from lineage.model.statement import ChangeKind, Completeness, DatasetKind
from lineage.model.transformations import Subtype
from lineage.model.usage import UserCounts
from lineage.store.cypher.schema import Node, Relationship
from lineage.store.planning.graph_state import (
    Dataset,
    EdgeType,
    FoundDiagnostic,
    JobCounts,
    JobEdge,
    JobNode,
    JobOutput,
    KnownChange,
    Prune,
    RunNode,
    Seen,
    UsageNode,
    change_key,
)
from lineage.store.planning.observations import Timeline
from lineage.store.planning.validity import History, Meaning, Period
from lineage.store.values import StoredColumn

__all__ = [
    "alias_key",
    "alias_node",
    "change_from",
    "change_node",
    "column_from",
    "column_records",
    "dataset_from",
    "dataset_node",
    "diagnostic_from",
    "diagnostic_records",
    "job_from",
    "job_node",
    "lineage_records",
    "observed_from",
    "observed_relationship",
    "period_from",
    "prune_from",
    "prune_node",
    "reads_relationship",
    "relation_of",
    "run_from",
    "run_node",
    "unit_from",
    "usage_from",
    "usage_records",
    "users_from",
    "writes_relationship",
]

Row = Mapping[str, Any]

_ALIAS = "alias"
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
_RELATION = {name: relation for relation in EdgeType for name in (str(relation), relation.ended)}


def dataset_node(dataset: Dataset) -> Node:
    """Return the dataset's node."""
    return Node(
        "Table",
        dataset.key,
        {
            "namespace": dataset.namespace,
            "name": short_name(dataset.display_name),
            "full_name": dataset.name,
            "kind": str(dataset.kind),
            "dialect": dataset.dialect,
            "schema_known": dataset.schema_known,
            "aliases": list(dataset.aliases),
            "first_seen": dataset.first_seen,
            "last_seen": dataset.last_seen,
            "dropped_at": dataset.dropped_at,
            "search": dataset.name.lower(),
            "description": dataset.description,
            "tags": list(dataset.tags),
            "written_at": dataset.written_at,
            "schema_at": dataset.schema_at,
            "kind_at": dataset.kind_at,
            "spelling": dataset.spelling,
            "spelled_at": dataset.spelled_at,
        },
    )


def dataset_from(node: Row) -> Dataset:
    """Return the dataset that a node stands for."""
    return Dataset(
        key=node["key"],
        namespace=node["namespace"],
        name=node.get("full_name") or node["name"],  # before version 15 there was the full name only
        kind=DatasetKind(node["kind"]),
        dialect=node.get("dialect"),
        schema_known=node["schema_known"],
        first_seen=node["first_seen"],
        last_seen=node["last_seen"],
        aliases=tuple(node.get("aliases") or ()),
        dropped_at=node.get("dropped_at"),
        description=node.get("description"),
        tags=tuple(node.get("tags") or ()),
        written_at=node.get("written_at"),
        schema_at=node.get("schema_at"),
        kind_at=node.get("kind_at"),
        spelling=node.get("spelling"),
        spelled_at=node.get("spelled_at"),
    )


def column_records(column: StoredColumn, dataset: Dataset | None) -> Iterator[Node | Relationship]:
    """Yield the column's node and what ties it to its dataset and to the field it lies in."""
    table = dataset.display_name if dataset is not None else split_dataset_key(column.dataset)[1]
    yield Node(
        "Column",
        column.key,
        {
            "dataset": column.dataset,
            "path": column.path,
            "name": f"{short_name(table)}.{column.display_path}",
            "data_type": column.data_type,
            "ordinal": column.ordinal,
            "inferred": column.inferred,
            "parent": column.parent,
            "dropped_at": column.dropped_at,
            "search": "\n".join((column.path, *column.aliases)).lower(),
            "description": column.description,
            "tags": list(column.tags),
            "aliases": list(column.aliases),
            "first_seen": column.first_seen,
            "spelling": column.spelling,
            "last_ordinal": column.last_ordinal,
        },
    )
    yield Relationship("HAS_COLUMN", "Table", column.dataset, "Column", column.key, {})
    if column.parent is not None:
        yield Relationship("HAS_FIELD", "Column", column.parent, "Column", column.key, {})


def column_from(node: Row) -> StoredColumn:
    """Return the column that a node stands for."""
    return StoredColumn(
        key=node["key"],
        dataset=node["dataset"],
        path=node["path"],
        data_type=node.get("data_type"),
        ordinal=node.get("ordinal"),
        inferred=node["inferred"],
        parent=node.get("parent"),
        dropped_at=node.get("dropped_at"),
        description=node.get("description"),
        tags=tuple(node.get("tags") or ()),
        aliases=tuple(node.get("aliases") or ()),
        first_seen=node.get("first_seen"),
        spelling=node.get("spelling"),
        last_ordinal=node.get("last_ordinal"),
    )


def job_node(job: JobNode) -> Node:
    """Return the job's node."""
    return Node(
        "Job",
        job.key,
        {
            "kind": str(job.kind),
            "sql": job.sql,
            "dialect": job.dialect,
            "operation": job.operation,
            "source": job.source,
            "source_line": job.source_line,
            "completeness": str(job.completeness),
            "first_seen": job.first_seen,
            "last_seen": job.last_seen,
            "retired_at": job.retired_at,
            "file_key": job.file_key,
            "positions": [":".join(map(str, one)) for one in job.positions],
        },
    )


def job_from(node: Row) -> JobNode:
    """Return the job that a node stands for."""
    return JobNode(
        key=node["key"],
        kind=JobKind(node["kind"]),
        sql=node.get("sql"),
        dialect=node.get("dialect"),
        operation=node.get("operation"),
        source=node.get("source"),
        source_line=node.get("source_line"),
        completeness=Completeness(node["completeness"]),
        first_seen=node["first_seen"],
        last_seen=node["last_seen"],
        retired_at=node.get("retired_at"),
        file_key=node.get("file_key"),
        positions=tuple(SourcePosition(*map(int, text.split(":"))) for text in node.get("positions") or ()),
    )


def reads_relationship(job: str, dataset: str, seen: Seen) -> Relationship:
    """Return what ties a job to a dataset that it reads."""
    times = {"first_seen": seen.first_seen, "last_seen": seen.last_seen}
    return Relationship("READS", "Job", job, "Table", dataset, times)


def writes_relationship(job: str, dataset: str, unit: JobOutput) -> Relationship:
    """Return what ties a job to a dataset that it writes."""
    properties = {
        "first_seen": unit.first_seen,
        "last_seen": unit.last_seen,
        "observations": unit.timeline.to_texts(),
    }
    return Relationship("WRITES", "Job", job, "Table", dataset, properties)


def unit_from(writes: Row) -> JobOutput:
    """Return the unit that a relationship of type WRITES stands for."""
    timeline = Timeline.from_texts(writes.get("observations") or [], writes["last_seen"])
    return JobOutput(writes["first_seen"], writes["last_seen"], timeline)


def lineage_records(pair: JobEdge, history: History) -> Iterator[Relationship]:
    """Yield a relationship for each period: of the live type if it is open, else of the ended one."""
    for period in history:
        properties: dict[str, Any] = {"job": pair.job}
        if pair.relation is not EdgeType.FEEDS:
            properties |= {
                "subtypes": [str(subtype) for subtype in period.meaning.subtypes],
                "masking": period.meaning.masking,
                "limited": period.meaning.limited,
                "ambiguous": period.meaning.ambiguous,
                "spans": [chain_text(chain) for chain in period.spans],
            }
        if period.live:
            properties |= {"first_seen": period.start, "last_seen": period.last_seen}
        else:
            properties |= {"valid_from": period.start, "valid_to": period.end, "last_seen": period.last_seen}
        name = str(pair.relation) if period.live else pair.relation.ended
        yield Relationship(name, pair.source_label, pair.source, pair.target_label, pair.target, properties)


def relation_of(relationship_type: str) -> EdgeType:
    """Return the relation of a live or ended type."""
    return _RELATION[relationship_type]


def period_from(relationship: Row) -> Period:
    """Return the period that a relationship of lineage stands for."""
    end = relationship.get("valid_to")
    return Period(
        start=relationship["first_seen"] if end is None else relationship["valid_from"],
        end=end,
        last_seen=relationship["last_seen"],
        meaning=Meaning(
            subtypes=tuple(Subtype(subtype) for subtype in relationship.get("subtypes") or ()),
            masking=relationship.get("masking") or False,
            limited=relationship.get("limited") or False,
            ambiguous=relationship.get("ambiguous") or False,
        ),
        spans=chains_from(relationship.get("spans")),
    )


def run_node(run: RunNode) -> Node:
    """Return the run's node. Its counts are JSON: their names are the ingest's own."""
    return Node(
        "Run",
        run.key,
        {
            "kind": run.kind,
            "source": run.source,
            "at": run.at,
            "last_seen": run.last_seen,
            "counts": json.dumps(dict(run.counts)),
            "seconds": run.seconds,
            "complete_sources": list(run.complete_sources),
        },
    )


def run_from(node: Row) -> RunNode:
    """Return the run that a node stands for."""
    return RunNode(
        key=node["key"],
        kind=node["kind"],
        source=node["source"],
        at=node["at"],
        last_seen=node["last_seen"],
        counts=tuple(json.loads(node["counts"]).items()),
        seconds=node.get("seconds"),
        complete_sources=tuple(node.get("complete_sources") or ()),
    )


def observed_relationship(run: str, job: str, observed: JobCounts) -> Relationship:
    """Return what ties a run to a job that it saw."""
    counts = {"observations": observed.observations, "duration_us": observed.duration_us}
    return Relationship("OBSERVED", "Run", run, "Job", job, counts | _users(observed.users))


def observed_from(relationship: Row) -> JobCounts:
    """Return what a relationship of type OBSERVED stands for; before version 3 users and durations were not counted."""
    return JobCounts(
        observations=relationship["observations"],
        duration_us=relationship.get("duration_us") or 0,
        users=users_from(relationship),
    )


def change_node(change: KnownChange) -> Node:
    """Return the node of a DROP, RENAME or SWAP. It names datasets as they were called then."""
    stated = change.stated
    properties = {
        "kind": str(stated.kind),
        "dataset": stated.dataset,
        "other": stated.other,
        "path": stated.column,
        "at": stated.at,
        "replaced": change.replaced,
        "remade": change.remade,
        "spelling": stated.spelling,
    }
    return Node("Change", change_key(stated), properties)


def change_from(node: Row) -> KnownChange:
    """Return the change that a node stands for."""
    stated = DatasetChange(
        kind=ChangeKind(node["kind"]),
        dataset=node["dataset"],
        at=node["at"],
        other=node.get("other"),
        column=node.get("path"),
        spelling=node.get("spelling"),
    )
    return KnownChange(stated, node["replaced"], bool(node.get("remade")))


def alias_key(dataset: str) -> str:
    """Return the key of the node that tells by which other key a dataset goes."""
    return f"alias:{dataset}"


def alias_node(dataset: str, root: str) -> Node:
    """Return the node that tells by which other key a dataset goes: at all times."""
    properties = {
        "kind": _ALIAS,
        "dataset": dataset,
        "other": root,
        "path": None,
        "at": _ALWAYS,
        "replaced": False,
        "remade": False,
        "spelling": None,
    }
    return Node("Change", alias_key(dataset), properties)


def prune_node(prune: Prune) -> Node:
    """Return the node of a prune."""
    return Node("Prune", prune.key, {"older_than": prune.older_than, "at": prune.at})


def prune_from(node: Row) -> Prune:
    """Return the prune that a node stands for."""
    return Prune(node["older_than"], node["at"])


def diagnostic_records(found: FoundDiagnostic, *, job_known: bool) -> Iterator[Node | Relationship]:
    """Yield the diagnostic's node and what ties it to its run and, if that is in the graph, its job."""
    record = found.record
    diagnostic, span = record.diagnostic, record.diagnostic.span
    yield Node(
        "Diagnostic",
        record.key,
        {
            "code": str(diagnostic.code),
            "severity": str(diagnostic.severity),
            "message": diagnostic.message,
            "advice": diagnostic.hint,
            "span_start": span.start if span else None,
            "span_end": span.end if span else None,
            "span_line": span.line if span else None,
            "span_column": span.column if span else None,
            "source": record.source,
            "job": record.job,
            "run": found.run,
            "last_seen": found.last_seen,
            "file_key": record.file_key,
        },
    )
    yield Relationship("REPORTED", "Run", found.run, "Diagnostic", record.key, {})
    if record.job is not None and job_known:
        yield Relationship("ABOUT", "Diagnostic", record.key, "Job", record.job, {})


def diagnostic_from(node: Row) -> FoundDiagnostic:
    """Return the diagnostic that a node stands for."""
    places = [node.get(f"span_{name}") for name in ("start", "end", "line", "column")]
    diagnostic = Diagnostic(
        code=DiagnosticCode(node["code"]),
        severity=Severity(node["severity"]),
        message=node["message"],
        span=Span(*(place for place in places if place is not None)) if places[0] is not None else None,
        hint=node.get("advice"),
    )
    record = DiagnosticRecord(diagnostic, node["source"], node.get("job"), node.get("file_key"))
    return FoundDiagnostic(record, node["run"], node["last_seen"])


def usage_records(used: UsageNode) -> Iterator[Node | Relationship]:
    """Yield the node of a count of use and what ties it to the dataset or column."""
    properties = {
        "run": used.run,
        "day": used.day,
        "reads": used.reads,
        "writes": used.writes,
        **_users(used.users),
        "last_read": used.last_read,
        "last_write": used.last_write,
    }
    yield Node("Usage", used.key, properties)
    yield Relationship("OF", "Usage", used.key, "Column" if used.of_column else "Table", used.of, {})


def usage_from(node: Row, of: str, *, of_column: bool) -> UsageNode:
    """Return the count of use that a node stands for; before version 3 users and times were not counted."""
    return UsageNode(
        run=node["run"],
        of=of,
        of_column=of_column,
        day=node["day"],
        reads=node["reads"],
        writes=node["writes"],
        users=users_from(node),
        last_read=node.get("last_read"),
        last_write=node.get("last_write"),
    )


def users_from(properties: Row) -> UserCounts:
    """Return the counts by user that a node or a relationship has."""
    return UserCounts(
        named=tuple(zip(properties.get("users") or (), properties.get("user_queries") or (), strict=True)),
        others=properties.get("other_users") or 0,
        other_queries=properties.get("other_queries") or 0,
    )


def _users(users: UserCounts) -> dict[str, Any]:
    return {
        "users": [user for user, _ in users.named],
        "user_queries": [queries for _, queries in users.named],
        "other_users": users.others,
        "other_queries": users.other_queries,
    }

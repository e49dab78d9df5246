"""The nodes and relationships that the planner's values are stored as, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lineage.model.names import is_column_key, short_name, split_dataset_key
from lineage.store.graph.schema import (
    CHANGE,
    COLUMN,
    DIAGNOSTIC,
    JOB,
    LABELS,
    LINEAGE,
    OBSERVED,
    PRUNE,
    READS,
    RUN,
    TABLE,
    TAG,
    USAGE,
    USERS,
    Node,
    Relationship,
)
from lineage.store.planning.graph_state import (
    EdgeType,
    JobCounts,
    JobEdge,
    JobOutput,
    KnownChange,
    Prune,
    RunUsage,
    Seen,
    change_key,
)
from lineage.store.planning.observations import Timeline
from lineage.store.planning.validity import History, Period
from lineage.store.values import StoredColumn, StoredDataset, StoredDiagnostic, StoredJob, StoredRun, StoredTag, TagName

__all__ = [
    "alias_key",
    "alias_node",
    "change_from",
    "change_node",
    "column_from",
    "column_node",
    "column_records",
    "dataset_from",
    "dataset_node",
    "diagnostic_from",
    "diagnostic_node",
    "diagnostic_records",
    "edge_type_of",
    "job_from",
    "job_node",
    "lineage_records",
    "observed_from",
    "observed_relationship",
    "period_from",
    "prune_from",
    "prune_node",
    "reads_from",
    "reads_relationship",
    "run_from",
    "run_node",
    "still_writes",
    "tag_from",
    "tag_key",
    "tag_node",
    "usage_from",
    "usage_node",
    "usage_records",
    "users_from",
    "writes_from",
    "writes_relationship",
]

_ALIAS = "alias"
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
_EDGE_TYPES = {name: of for of in EdgeType for name in (str(of), of.retired)}

dataset_from = TABLE.decode
column_from = COLUMN.decode
job_from = JOB.decode
run_from = RUN.decode
change_from = CHANGE.decode
prune_from = PRUNE.decode
tag_from = TAG.decode
diagnostic_from = DIAGNOSTIC.decode
observed_from = OBSERVED.decode
users_from = USERS.decode


def dataset_node(dataset: StoredDataset) -> Node:
    """Return the dataset's node."""
    return Node("Table", dataset.key, TABLE.encode(dataset))


def column_node(column: StoredColumn, dataset: StoredDataset | None) -> Node:
    """Return the column's node; its name begins with the table's."""
    table = dataset.display_name if dataset is not None else split_dataset_key(column.dataset)[1]
    properties = COLUMN.encode(column)
    properties["name"] = f"{short_name(table)}.{column.display_path}"
    return Node("Column", column.key, properties)


def column_records(column: StoredColumn, dataset: StoredDataset | None) -> Iterator[Node | Relationship]:
    """Yield the column's node and its relationships to its dataset and to the field that contains it."""
    yield column_node(column, dataset)
    yield Relationship("HAS_COLUMN", "Table", column.dataset, "Column", column.key, {})
    if column.parent is not None:
        yield Relationship("HAS_FIELD", "Column", column.parent, "Column", column.key, {})


def job_node(job: StoredJob) -> Node:
    """Return the job's node."""
    return Node("Job", job.key, JOB.encode(job))


def reads_relationship(job: StoredJob, dataset: str, seen: Seen) -> Relationship:
    """Return the relationship from a job to a dataset that it reads.

    It has a `last_seen` only if the job was seen later without reading the dataset; else that of the job holds. So a
    job that is seen again leaves its relationships as they are.
    """
    last_seen = seen.last_seen if seen.last_seen < job.last_seen else None
    return Relationship("READS", "Job", job.key, "Table", dataset, {**READS.encode(seen), "last_seen": last_seen})


def reads_from(relationship: Mapping[str, Any], job: StoredJob) -> Seen:
    """Return when a job read a dataset."""
    seen = READS.decode(relationship)
    return seen if seen.last_seen is not None else replace(seen, last_seen=job.last_seen)


def writes_relationship(job: StoredJob, dataset: str, unit: JobOutput) -> Relationship:
    """Return the relationship from a job to a dataset that it writes.

    As with what it reads, there is a `last_seen` only if the job was seen later without writing the dataset.
    """
    line, times = unit.timeline, job.observed_at
    points = line.points
    is_latest = unit.last_seen == job.last_seen and (
        not points or (line.present and (not times or points[-1][0] == times[-1]))
    )
    properties = {
        "first_seen": unit.first_seen,
        "last_seen": None if is_latest else unit.last_seen,
        "observations": line.to_texts(times if is_latest else (unit.last_seen,)),
    }
    return Relationship("WRITES", "Job", job.key, "Table", dataset, properties)


def writes_from(relationship: Mapping[str, Any], job: StoredJob) -> JobOutput:
    """Return when a job wrote a dataset, and with which content."""
    last_seen, texts = relationship.get("last_seen"), relationship.get("observations") or ()
    own_times = (last_seen,) if last_seen is not None and still_writes(relationship) else job.observed_at
    return JobOutput(relationship["first_seen"], last_seen or job.last_seen, Timeline.from_texts(texts, own_times))


def still_writes(relationship: Mapping[str, Any]) -> bool:
    """Return whether a job that defines its outputs wrote the dataset when it was last observed."""
    return Timeline.from_texts(relationship.get("observations") or (), ()).present


def written_until(relationship: Mapping[str, Any]) -> datetime | None:
    """Return since when a job that defines its outputs has not written the dataset any more; None if it does."""
    timeline = Timeline.from_texts(relationship.get("observations") or (), ())
    return None if timeline.present or not timeline.points else timeline.points[-1][0]


def lineage_records(pair: JobEdge, history: History) -> Iterator[Relationship]:
    """Yield a relationship for each period: of the live type if it is open, else of the retired one."""
    for period in history:
        name = str(pair.relation) if period.live else pair.relation.retired
        properties = LINEAGE[name].encode(period, job=pair.job)
        yield Relationship(name, pair.source_label, pair.source, pair.target_label, pair.target, properties)


def edge_type_of(relationship_type: str) -> EdgeType:
    """Return the type of lineage of a live or retired relationship."""
    return _EDGE_TYPES[relationship_type]


def period_from(relationship: Mapping[str, Any]) -> Period:
    """Return the period that a relationship of lineage stores."""
    return LINEAGE[relationship["type"]].decode(relationship)


def run_node(run: StoredRun) -> Node:
    """Return the run's node."""
    return Node("Run", run.key, RUN.encode(run))


def observed_relationship(run: str, job: str, observed: JobCounts) -> Relationship:
    """Return the relationship from a run to a job that it observed."""
    return Relationship("OBSERVED", "Run", run, "Job", job, OBSERVED.encode(observed))


def change_node(change: KnownChange) -> Node:
    """Return the node of a DROP, RENAME or SWAP. It has the names that datasets had at the time."""
    return Node("Change", change_key(change.stated), CHANGE.encode(change))


def alias_key(dataset: str) -> str:
    """Return the key of the node that stores the main key of a dataset with several keys."""
    return f"alias:{dataset}"


def alias_node(dataset: str, root: str) -> Node:
    """Return the node that stores the main key of a dataset with several keys; it holds at all times."""
    alias = {"kind": _ALIAS, "dataset": dataset, "other": root, "at": _ALWAYS, "replaced": False, "remade": False}
    return Node("Change", alias_key(dataset), {**dict.fromkeys(LABELS["Change"]), **alias})


def tag_key(tag: TagName) -> str:
    """Return the key of a tag's node."""
    return f"tag:{tag.source}:{tag.name}@{tag.column}"


def tag_node(tag: StoredTag) -> Node:
    """Return the node of a tag."""
    return Node("Tag", tag_key(tag.identity), TAG.encode(tag))


def prune_node(prune: Prune) -> Node:
    """Return the node of a prune."""
    return Node("Prune", prune.key, PRUNE.encode(prune))


def diagnostic_node(found: StoredDiagnostic) -> Node:
    """Return the diagnostic's node."""
    return Node("Diagnostic", found.key, DIAGNOSTIC.encode(found))


def diagnostic_records(diagnostic: StoredDiagnostic, *, job_known: bool) -> Iterator[Node | Relationship]:
    """Yield the diagnostic's node and its relationships to its run and, if that is in the graph, to its job."""
    node = diagnostic_node(diagnostic)
    yield node
    yield Relationship("REPORTED", "Run", diagnostic.run, "Diagnostic", node.key, {})
    if diagnostic.job is not None and job_known:
        yield Relationship("ABOUT", "Diagnostic", node.key, "Job", diagnostic.job, {})


def usage_node(used: RunUsage) -> Node:
    """Return the node of a usage count."""
    return Node("Usage", used.key, USAGE.encode(used))


def usage_records(used: RunUsage) -> Iterator[Node | Relationship]:
    """Yield the node of a usage count and its relationship to the dataset or column."""
    node = usage_node(used)
    yield node
    yield Relationship("OF", "Usage", node.key, "Column" if is_column_key(used.of) else "Table", used.of, {})


def usage_from(node: Mapping[str, Any], of: str) -> RunUsage:
    """Return the usage count of a dataset or column that a node stores."""
    return USAGE.decode(node, of=of)

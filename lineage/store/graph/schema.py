"""The schema of the graph: labels, relationship types, and which values their properties hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, TypeVar

from lineage.frozen import frozen
from lineage.model.batch import DatasetChange, JobKind
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity, Span
from lineage.model.facts import facts_from
from lineage.model.influence.evidence import Chain, SourcePosition, chain_text, chains_from
from lineage.model.influence.transformations import Subtype
from lineage.model.names import short_name
from lineage.model.statement import ChangeKind, Completeness, DatasetKind
from lineage.model.usage import UserCounts
from lineage.store.graph.properties import (
    Properties,
    PropertyMap,
    PropertyType,
    derived,
    group,
    stored,
)
from lineage.store.planning.graph_state import EdgeType, JobCounts, KnownChange, Prune, RunUsage, Seen
from lineage.store.planning.observations import times_from, times_text
from lineage.store.planning.validity import Meaning, Period
from lineage.store.values import StoredColumn, StoredDataset, StoredDiagnostic, StoredJob, StoredRun, StoredTag

__all__ = [
    "CHANGE",
    "COLUMN",
    "DIAGNOSTIC",
    "JOB",
    "LABELS",
    "LINEAGE",
    "MOVING_TIMES",
    "NOT_LINEAGE",
    "OBSERVED",
    "PRUNE",
    "READS",
    "RELATIONSHIPS",
    "RUN",
    "SCHEMA_VERSION",
    "TABLE",
    "TAG",
    "USAGE",
    "USERS",
    "Changes",
    "Node",
    "Properties",
    "PropertyType",
    "Refresh",
    "Relationship",
    "RelationshipType",
    "SeenAgain",
    "by_kind",
]

SCHEMA_VERSION = 1
"""The version that this program writes. Each file `migrations/NNNN_*` of a store leads to version NNNN."""

_TEXT, _TEXTS, _INTEGER, _FLAG, _TIME = (
    PropertyType.TEXT,
    PropertyType.TEXTS,
    PropertyType.INTEGER,
    PropertyType.FLAG,
    PropertyType.TIME,
)


def _known_change(*, replaced: bool, remade: bool, **stated: Any) -> KnownChange:
    return KnownChange(DatasetChange(**stated), replaced, remade)


def _stored_diagnostic(
    *, code: DiagnosticCode, severity: Severity, message: str, span: Span | None, hint: str | None, **others: Any
) -> StoredDiagnostic:
    return StoredDiagnostic(Diagnostic(code, severity, message, span=span, hint=hint), **others)


def _span(*numbers: int | None) -> Span | None:
    return Span(*(number for number in numbers if number is not None)) if numbers[0] is not None else None


def _user_properties(users: UserCounts) -> tuple[Any, ...]:
    names, queries = [user for user, _ in users.named], [number for _, number in users.named]
    return names, queries, users.others, users.other_queries


def _user_counts(
    users: list[str] | None, queries: list[int] | None, others: int | None, other_queries: int | None
) -> UserCounts:
    return UserCounts(tuple(zip(users or (), queries or (), strict=True)), others or 0, other_queries or 0)


def _source_tags(facts: str | None) -> list[str] | None:
    """Return the tags in facts: a search finds them beside those of stewards. Most nodes have none."""
    if facts is None or '"tags":' not in facts:
        return None
    return sorted({tag for one in facts_from(facts) for tag in one.tags}) or None


_USERS = group(
    "users",
    {"users": _TEXTS, "user_queries": PropertyType.INTEGERS, "other_users": _INTEGER, "other_queries": _INTEGER},
    _user_properties,
    _user_counts,
)
USERS = PropertyMap(lambda users: users, _USERS)

TABLE = PropertyMap(
    StoredDataset,
    stored("namespace", _TEXT),
    derived("name", _TEXT, lambda dataset: short_name(dataset.display_name)),
    stored("kind", _TEXT, encode=str, decode=DatasetKind),
    stored("dialect", _TEXT),
    stored("schema_known", _FLAG),
    stored("aliases", _TEXTS),
    stored("first_seen", _TIME),
    stored("last_seen", _TIME),
    stored("dropped_at", _TIME),
    derived("search", _TEXT, lambda dataset: dataset.name.lower()),
    stored("description", _TEXT),
    stored("tags", _TEXTS),
    stored("written_at", _TIME),
    stored("schema_at", _TIME),
    stored("kind_at", _TIME),
    stored("full_name", _TEXT, field="name", decode=lambda full, name: full or name, reads=("full_name", "name")),
    stored("spelling", _TEXT),
    stored("spelled_at", _TIME),
    stored("facts", _TEXT),
    derived("source_tags", _TEXTS, lambda dataset: _source_tags(dataset.facts)),
    keyed=True,
)
COLUMN = PropertyMap(
    StoredColumn,
    stored("dataset", _TEXT),
    stored("path", _TEXT),
    derived("name", _TEXT),  # by `column_node`, which knows how the table's name is written
    stored("data_type", _TEXT),
    stored("ordinal", _INTEGER),
    stored("inferred", _FLAG),
    stored("parent", _TEXT),
    stored("dropped_at", _TIME),
    derived("search", _TEXT, lambda column: "\n".join((column.path, *column.aliases)).lower()),
    stored("description", _TEXT),
    stored("tags", _TEXTS),
    stored("aliases", _TEXTS),
    stored("first_seen", _TIME),
    stored("spelling", _TEXT),
    stored("last_ordinal", _INTEGER),
    stored("facts", _TEXT),
    derived("source_tags", _TEXTS, lambda column: _source_tags(column.facts)),
    keyed=True,
)
JOB = PropertyMap(
    StoredJob,
    stored("kind", _TEXT, encode=str, decode=JobKind),
    stored("sql", _TEXT),
    stored("dialect", _TEXT),
    stored("operation", _TEXT),
    stored("source", _TEXT),
    stored("source_line", _INTEGER),
    stored("completeness", _TEXT, encode=str, decode=Completeness),
    stored("first_seen", _TIME),
    stored("last_seen", _TIME),
    stored("retired_at", _TIME),
    stored("file_key", _TEXT),
    stored(
        "positions",
        _TEXTS,
        encode=lambda positions: [":".join(map(str, one)) for one in positions],
        decode=lambda texts: tuple(SourcePosition(*map(int, text.split(":"))) for text in texts or ()),
    ),
    stored("observed_at", _TEXT, encode=times_text, decode=times_from),
    stored("policies", _TEXT),
    keyed=True,
)
RUN = PropertyMap(
    StoredRun,
    stored("kind", _TEXT),
    stored("source", _TEXT),
    stored("at", _TIME),
    stored("last_seen", _TIME),
    # As JSON: their names are the ingest's own.
    stored("counts", _TEXT, encode=lambda counts: json.dumps(dict(counts)), decode=json.loads),
    stored("seconds", PropertyType.NUMBER),
    stored("complete_sources", _TEXTS),
    keyed=True,
)
CHANGE = PropertyMap(
    _known_change,
    stored("kind", _TEXT, field="stated.kind", encode=str, decode=ChangeKind),
    stored("dataset", _TEXT, field="stated.dataset"),
    stored("other", _TEXT, field="stated.other"),
    stored("at", _TIME, field="stated.at"),
    stored("replaced", _FLAG),
    stored("path", _TEXT, field="stated.column"),
    stored("remade", _FLAG),
    stored("spelling", _TEXT, field="stated.spelling"),
)
DIAGNOSTIC = PropertyMap(
    _stored_diagnostic,
    stored("code", _TEXT, field="diagnostic.code", encode=str, decode=DiagnosticCode),
    stored("severity", _TEXT, field="diagnostic.severity", encode=str, decode=Severity),
    stored("message", _TEXT, field="diagnostic.message"),
    stored("advice", _TEXT, field="diagnostic.hint"),
    group(
        "diagnostic.span",
        {"span_start": _INTEGER, "span_end": _INTEGER, "span_line": _INTEGER, "span_column": _INTEGER},
        lambda span: span or (None, None, None, None),
        _span,
    ),
    stored("source", _TEXT),
    stored("job", _TEXT),
    stored("run", _TEXT),
    stored("last_seen", _TIME),
    stored("file_key", _TEXT),
)
USAGE = PropertyMap(
    RunUsage,
    stored("run", _TEXT),
    stored("day", PropertyType.DAY),
    stored("reads", _INTEGER),
    stored("writes", _INTEGER),
    _USERS,
    stored("last_read", _TIME),
    stored("last_write", _TIME),
)
PRUNE = PropertyMap(Prune, stored("older_than", _TIME), stored("at", _TIME))
TAG = PropertyMap(
    StoredTag,
    stored("subject", _TEXT, field="column"),
    stored("name", _TEXT),
    stored("source", _TEXT),
    stored("at", _TIME),
    stored("stated_by", _TEXT),
    stored("why", _TEXT),
    stored("confidence", PropertyType.NUMBER),
    stored("denied", _FLAG),
)

LABELS: Mapping[str, Properties] = {
    "Table": TABLE.types,
    "Column": COLUMN.types,
    "Job": JOB.types,
    "Run": RUN.types,
    "Change": CHANGE.types,
    "Diagnostic": DIAGNOSTIC.types,
    "Usage": USAGE.types,
    "Prune": PRUNE.types,
    "Tag": TAG.types,
    "BufferedText": {"owner": _TEXT, "text": _TEXT, "parts": _TEXTS, "finished": _FLAG, "buffered_at": _TIME},
}
"""The properties of every label, besides `key`, which is unique within the label."""

NOT_LINEAGE = frozenset({"BufferedText"})
"""Labels of temporary nodes, which a dump of the graph leaves out."""

MOVING_TIMES = frozenset({"written_at", "schema_at", "kind_at", "spelled_at"})
"""Times that decide about late batches and move with each ingest. A dump leaves them out, too."""

_FIRST_SEEN, _LAST_SEEN = stored("first_seen", _TIME), stored("last_seen", _TIME)
READS = PropertyMap(Seen, _FIRST_SEEN, _LAST_SEEN)
OBSERVED = PropertyMap(
    JobCounts,
    stored("observations", _INTEGER),
    stored("duration_us", _INTEGER, decode=lambda duration: duration or 0),
    _USERS,
)

_MEANING = (
    stored("subtypes", _TEXTS, field="meaning.subtypes", encode=lambda subtypes: [*map(str, subtypes)]),
    stored("masking", _FLAG, field="meaning.masking"),
    stored("limited", _FLAG, field="meaning.limited"),
    stored("ambiguous", _FLAG, field="meaning.ambiguous"),
    stored("spans", _TEXTS, encode=lambda chains: [*map(chain_text, chains)], decode=chains_from),
)
_PARTLY_MASKING = stored(
    "partly_masking",
    _TEXTS,
    field="meaning.partly_masking",
    encode=lambda subtypes: [*map(str, subtypes)] or None,  # of few edges; older ones have none
    decode=lambda subtypes: tuple(map(Subtype, subtypes)) if subtypes else (),
)
_WHILE_LIVE = (stored("first_seen", _TIME, field="start"), _LAST_SEEN)
_ONCE_RETIRED = (stored("valid_from", _TIME, field="start"), stored("valid_to", _TIME, field="end"), _LAST_SEEN)


@lru_cache(maxsize=1000)
def _subtypes(names: tuple[str, ...]) -> tuple[Subtype, ...]:
    return tuple(map(Subtype, names))


def _column_period(
    start: datetime,
    last_seen: datetime,
    subtypes: Iterable[str],
    spans: tuple[Chain, ...],
    masking: bool,
    limited: bool,
    ambiguous: bool,
    partly_masking: tuple[Subtype, ...],
    end: datetime | None = None,
) -> Period:
    meaning = Meaning(_subtypes(tuple(subtypes)), masking, limited, ambiguous, partly_masking)
    return Period(start, end, last_seen, meaning, spans)


LINEAGE: Mapping[str, PropertyMap[Period]] = {
    str(EdgeType.CONTRIBUTES): PropertyMap(_column_period, *_MEANING, *_WHILE_LIVE, _PARTLY_MASKING),
    str(EdgeType.REFERENCES): PropertyMap(_column_period, *_MEANING, *_WHILE_LIVE, _PARTLY_MASKING),
    str(EdgeType.FEEDS): PropertyMap(partial(Period, end=None), *_WHILE_LIVE),
    EdgeType.CONTRIBUTES.retired: PropertyMap(_column_period, *_MEANING, *_ONCE_RETIRED, _PARTLY_MASKING),
    EdgeType.REFERENCES.retired: PropertyMap(_column_period, *_MEANING, *_ONCE_RETIRED, _PARTLY_MASKING),
    EdgeType.FEEDS.retired: PropertyMap(Period, *_ONCE_RETIRED),
}
"""The properties of each type of lineage, live and retired, besides `job`."""


@frozen
class RelationshipType:
    """The pairs of labels that a type joins, its properties, and which of these identify one between two nodes."""

    ends: tuple[tuple[str, str], ...]
    properties: Properties = field(default_factory=dict)
    identity: tuple[str, ...] = ()


_COLUMN_TO_COLUMN, _TABLE_TO_TABLE = ("Column", "Column"), ("Table", "Table")
_ENDS = {
    EdgeType.CONTRIBUTES: (_COLUMN_TO_COLUMN,),
    EdgeType.REFERENCES: (_COLUMN_TO_COLUMN, ("Column", "Table"), _TABLE_TO_TABLE, ("Table", "Column")),
    EdgeType.FEEDS: (_TABLE_TO_TABLE,),
}


def _lineage_types() -> Iterator[tuple[str, RelationshipType]]:
    for of, ends in _ENDS.items():
        for name, identity in ((str(of), ("job",)), (of.retired, ("job", "valid_from"))):
            yield name, RelationshipType(ends, {"job": _TEXT, **LINEAGE[name].types}, identity)


RELATIONSHIPS: Mapping[str, RelationshipType] = {
    "HAS_COLUMN": RelationshipType((("Table", "Column"),)),
    "HAS_FIELD": RelationshipType((_COLUMN_TO_COLUMN,)),
    **dict(_lineage_types()),
    "READS": RelationshipType((("Job", "Table"),), READS.types),
    "WRITES": RelationshipType((("Job", "Table"),), {"first_seen": _TIME, "last_seen": _TIME, "observations": _TEXTS}),
    "OBSERVED": RelationshipType((("Run", "Job"),), OBSERVED.types),
    "REPORTED": RelationshipType((("Run", "Diagnostic"),)),
    "ABOUT": RelationshipType((("Diagnostic", "Job"),)),
    "OF": RelationshipType((("Usage", "Table"), ("Usage", "Column"))),
}


@frozen
class Node:
    """A node to store, with every property of its label; missing values are None."""

    label: str
    key: str
    properties: dict[str, Any]
    changed: tuple[str, ...] = field(default=(), compare=False)
    """For an update: the properties that changed; empty means that any may have."""

    @property
    def kind(self) -> tuple[str, ...]:
        """Records of one kind are written by one statement."""
        return (self.label,)

    @property
    def id(self) -> tuple[object, ...]:
        """The identity of the node."""
        return (self.label, self.key)


@frozen
class Relationship:
    """A relationship to store, between nodes given by label and key."""

    type: str
    source_label: str
    source: str
    target_label: str
    target: str
    properties: dict[str, Any]

    @property
    def kind(self) -> tuple[str, ...]:
        """Records of one kind are written by one statement."""
        return (self.type, self.source_label, self.target_label)

    @property
    def identity(self) -> dict[str, Any]:
        """The properties that identify it among others of its type between the same nodes."""
        return {name: self.properties[name] for name in RELATIONSHIPS[self.type].identity}

    @property
    def id(self) -> tuple[object, ...]:
        """The identity of the relationship."""
        return (*self.kind, self.source, self.target, *self.identity.values())


@frozen
class Refresh:
    """An update of `last_seen` for all live relationships of one kind in a unit (a job and one output)."""

    type: str
    target_label: str
    job: str
    output: str
    last_seen: datetime
    relationships: int
    source_label: str = ""

    @property
    def row(self) -> dict[str, Any]:
        """The parameters of the statement that writes it."""
        return {"job": self.job, "output": self.output, "last_seen": self.last_seen}


@frozen
class SeenAgain:
    """Jobs that were observed again at `last_seen`, unchanged since they were at `since`, and datasets stated likewise.

    The times of the jobs and datasets move from the one time to the other; those of what the jobs read and write are
    theirs.
    """

    jobs: tuple[str, ...]
    datasets: tuple[str, ...]
    since: datetime
    last_seen: datetime

    @property
    def row(self) -> dict[str, Any]:
        """The parameters of the statements that write it. Stores know the names of times."""
        return {
            "jobs": list(self.jobs),
            "datasets": list(self.datasets),
            "valid_from": self.since,
            "last_seen": self.last_seen,
            "observed": times_text([self.last_seen]),
        }


@frozen
class Changes:
    """Changes to write in one transaction, in the order of the fields. Deleting a node deletes its relationships."""

    deleted_relationships: tuple[Relationship, ...] = ()
    deleted_nodes: tuple[Node, ...] = ()
    created_nodes: tuple[Node, ...] = ()
    updated_nodes: tuple[Node, ...] = ()
    created_relationships: tuple[Relationship, ...] = ()
    updated_relationships: tuple[Relationship, ...] = ()
    refreshed_units: tuple[Refresh, ...] = ()
    seen_again: tuple[SeenAgain, ...] = ()
    seen_units: tuple[Refresh, ...] = ()
    """Units whose relationships are as old as the observation of their output (`live_edges`): nothing to write."""

    def joined(self, other: Changes) -> Changes:
        """Return the changes of both; no node or relationship may be in both."""
        return Changes(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


R = TypeVar("R", Node, Relationship)


def by_kind(records: Iterable[R]) -> Iterator[tuple[tuple[str, ...], list[R]]]:
    """Yield the records grouped by kind, in a fixed order."""
    groups: dict[tuple[str, ...], list[R]] = {}
    for record in records:
        groups.setdefault(record.kind, []).append(record)
    yield from sorted(groups.items(), key=lambda group: group[0])

"""The merged state of a run's events, independent of their order and of duplicates.

The latest version of each facet applies; a facet that a later event lacks is kept (OpenLineage accumulates facets).
SQL is masked before it is kept.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from lineage.export.openlineage import PRODUCER
from lineage.model.dialect import Dialect
from lineage.model.dialects import DIALECTS, UnknownDialectError, dialect_named
from lineage.model.namespaces import dialect_of, normal_namespace
from lineage.sql import mask_for_parsing
from lineage_ingest.openlineage.validation.event_validation import CheckedEvent, EventKind, InvalidEventError

__all__ = [
    "UNKNOWN",
    "Facets",
    "RunState",
    "event_time",
    "facet_of",
    "facets_at",
    "merge_all",
    "sql_dialect",
    "run_state_of",
]

At: TypeAlias = "tuple[str, Any]"
"""The time of a value, as text that sorts by time, and the value."""
Facets: TypeAlias = "dict[str, At]"

UNKNOWN = "mysql"
"""The dialect for SQL of an unknown dialect: in it, both kinds of quotes enclose strings."""

_INTEGRATIONS = {"SNOWFLAKE": "snowflake", "BIGQUERY": "bigquery", "TRINO": "trino", "SPARK": "spark", "HIVE": "hive"}


MAX_EVENTS = 64
"""Maximum number of a run's events that are kept separately; beyond it, the oldest are merged."""


@dataclass(slots=True)
class RunState:
    """The state of a run, or of one JobEvent. Datasets are by namespace and name, as written in the events.

    `types` are the event types received, each with its first and last time. `events` are the merged events, by digest;
    empty for a single event.
    """

    job: At
    producer: At
    types: dict[str, tuple[str, str]] = field(default_factory=dict)
    facets: Facets = field(default_factory=dict)
    inputs: dict[tuple[str, str], Facets] = field(default_factory=dict)
    outputs: dict[tuple[str, str], Facets] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    events: dict[str, RunState] = field(default_factory=dict)
    _known_text: str = field(default="", compare=False, repr=False)
    _known_key: str = field(default="", compare=False, repr=False)

    @property
    def job_name(self) -> tuple[str, str]:
        """Namespace and name of the job."""
        namespace, name = self.job[1]
        return namespace, name

    @property
    def is_ours(self) -> bool:
        """Whether the events were exported by this project."""
        return str(self.producer[1]).startswith(PRODUCER)

    def facet(self, name: str) -> Mapping[str, Any]:
        """Return a facet of the run or the job (`job.sql`); empty if there is none."""
        return facet_of(self.facets, name)

    @property
    def is_streaming(self) -> bool:
        """Whether this is a streaming job: its lineage is stored while it runs."""
        return str(self.facet("job.jobType").get("processingType", "")).upper() == "STREAMING"

    @property
    def holds_at(self) -> datetime | None:
        """Time of the state; None if it is not stored yet (before COMPLETE) or never (the run failed)."""
        if "JOB" in self.types:
            return _moment(self.types["JOB"][0])
        if self.is_streaming:
            last = max((self.types[one][1] for one in ("RUNNING", "COMPLETE") if one in self.types), default=None)
            return _moment(last) if last else None
        return _moment(self.types["COMPLETE"][0]) if "COMPLETE" in self.types else None

    @property
    def has_ended(self) -> bool:
        """Whether no further events are expected."""
        return not self.types.keys().isdisjoint({"COMPLETE", "FAIL", "ABORT"})

    def moments(self, since: str = "") -> Iterator[tuple[datetime, RunState]]:
        """Yield the times of the state, in order, with the state at each; nothing if `holds_at` is None.

        A streaming job has several times; the state at each merges all events up to it. Of consecutive equal states
        before `since`, which are stored already, only the first and the last are yielded.
        """
        last = self.holds_at
        if last is None or "JOB" in self.types or not self.is_streaming:
            if last is not None:
                yield last, self
            return
        singles = self._singles()
        times = sorted({one.at for one in singles if not one.types.keys().isdisjoint({"RUNNING", "COMPLETE"})})
        states = [(at, merge_all(one for one in singles if one.at <= at)) for at in times]
        contents = [state._content() for _, state in states]
        for index, (at, state) in enumerate(states):
            is_new_or_ends = at >= since or index in (0, len(states) - 1)
            if is_new_or_ends or not contents[index - 1] == contents[index] == contents[index + 1]:
                # Its first events may lack the facet that tells that it is streaming.
                yield _moment(at), state

    @property
    def at(self) -> str:
        """Time of the latest event."""
        return max(last for _, last in self.types.values())

    @property
    def first_at(self) -> str:
        """Time of the earliest event."""
        return min(first for first, _ in self.types.values())

    def merged(self, other: RunState) -> RunState:
        """Return the two states merged."""
        together = self._merge_content(other)
        together.events = {one._key(): one for one in (*self._singles(), *other._singles())}
        if len(together.events) == 1:
            together.events = {}
        while len(together.events) > MAX_EVENTS:
            (first, one), (second, two) = sorted(together.events.items(), key=lambda item: (item[1].at, item[0]))[:2]
            del together.events[first], together.events[second]
            joined = one._merge_content(two)
            together.events[joined._key()] = joined
        return together

    def _merge_content(self, other: RunState) -> RunState:
        types = dict(self.types)
        for name, (first, last) in other.types.items():
            known = types.get(name, (first, last))
            types[name] = (min(first, known[0]), max(last, known[1]))
        problems = dict(self.problems)
        for text, at in other.problems.items():
            problems[text] = min(at, problems.get(text, at))
        return RunState(
            job=_latest(self.job, other.job),
            producer=_latest(self.producer, other.producer),
            types=types,
            facets=_latest_facets(self.facets, other.facets),
            inputs=_merge_facets(self.inputs, other.inputs),
            outputs=_merge_facets(self.outputs, other.outputs),
            problems=problems,
        )

    def _singles(self) -> list[RunState]:
        return list(self.events.values()) or [self]

    def _content(self) -> object:
        """Return the content without times."""

        def values(facets: Facets) -> dict[str, Any]:
            return {name: facet for name, (_, facet) in facets.items()}

        of_datasets = [{name: values(state) for name, state in side.items()} for side in (self.inputs, self.outputs)]
        return self.job[1], values(self.facets), of_datasets, self.problems.keys()

    def _value(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "producer": self.producer,
            "types": self.types,
            "facets": self.facets,
            "inputs": [[*name_key, facets] for name_key, facets in sorted(self.inputs.items())],
            "outputs": [[*name_key, facets] for name_key, facets in sorted(self.outputs.items())],
            "problems": self.problems,
        }

    def _text(self) -> str:
        if not self._known_text:
            self._known_text = _canonical(self._value())
        return self._known_text

    def _key(self) -> str:
        if not self._known_key:
            self._known_key = hashlib.sha256(self._text().encode()).hexdigest()[:16]
        return self._known_key

    def to_text(self) -> str:
        """Return the state as text; equal states have equal texts."""
        singles = sorted(self._singles(), key=lambda one: (one.at, one._key()))
        packed = zlib.compress(f"[{','.join(one._text() for one in singles)}]".encode(), 1)
        return base64.b64encode(packed).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> RunState:
        """Return the state that `to_text` wrote."""
        value = json.loads(zlib.decompress(base64.b64decode(text)))
        # Earlier versions wrote the merged state as a single object.
        return merge_all(cls._of_value(one) for one in (value if isinstance(value, list) else [value]))

    @classmethod
    def _of_value(cls, value: Mapping[str, Any]) -> RunState:
        def facets(state: Mapping[str, Any]) -> Facets:
            return {name: (at, facet) for name, (at, facet) in state.items()}

        return cls(
            job=tuple(value["job"]),
            producer=tuple(value["producer"]),
            types={name: (first, last) for name, (first, last) in value["types"].items()},
            facets=facets(value["facets"]),
            inputs={(namespace, name): facets(state) for namespace, name, state in value["inputs"]},
            outputs={(namespace, name): facets(state) for namespace, name, state in value["outputs"]},
            problems=value["problems"],
        )

    @property
    def digest(self) -> str:
        """Digest of the content."""
        keys = sorted(one._key() for one in self._singles())
        return hashlib.sha256(" ".join(keys).encode("ascii")).hexdigest()[:24]

    def holds(self, other: RunState) -> bool:
        """Return whether the other state is contained in this one."""
        return self.merged(other).digest == self.digest


def merge_all(states: Iterable[RunState]) -> RunState:
    """Return these states, at least one, merged."""
    first, *others = states
    for other in others:
        first = first.merged(other)
    return first


def facet_of(facets: Facets, name: str) -> Mapping[str, Any]:
    """Return a facet; empty if there is none or it was deleted."""
    facet = facets[name][1] if name in facets else {}
    return {} if facet.get("_deleted") else facet


def run_state_of(checked: CheckedEvent) -> RunState:
    """Return the state of one run event or job event.

    Raises:
        InvalidEventError: its time cannot be read.
    """
    event = checked.event
    at = event_time(event).isoformat(timespec="microseconds")
    job = event["job"]
    kind = str(event.get("eventType") or "OTHER") if checked.kind is EventKind.RUN else "JOB"
    namespaces = [one["namespace"] for name in ("outputs", "inputs") for one in event.get(name) or ()]
    facets = {
        f"{of}.{name}": (at, _slim(facet))
        for of in ("run", "job")
        for name, facet in (event.get(of) or {}).get("facets", {}).items()
    }
    state = RunState(
        job=(at, [job["namespace"], job["name"]]),
        producer=(at, event["producer"]),
        types={kind: (at, at)},
        facets=facets,
        inputs=_datasets(event.get("inputs") or (), at),
        outputs=_datasets(event.get("outputs") or (), at),
        problems=dict.fromkeys(checked.problems, at),
    )
    if "job.sql" in facets:
        state.facets["job.sql"] = (at, _mask(facets["job.sql"][1], state, namespaces))
    return state


def event_time(event: Mapping[str, Any]) -> datetime:
    """Return the time of an event, in UTC.

    Raises:
        InvalidEventError: it is not a valid time.
    """
    try:
        return datetime.fromisoformat(event["eventTime"]).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidEventError("/eventTime", "the value is not a valid time") from error


def sql_dialect(state: RunState, namespaces: Iterator[str] | list[str]) -> Dialect | None:
    """Return the dialect of a run's SQL: from its facet, its integration, or the namespaces of its datasets."""
    named = str(state.facet("job.sql").get("dialect") or "")
    try:
        if named:
            return dialect_named(named)
    except UnknownDialectError:
        pass
    engine = str(
        state.facet("job.jobType").get("integration") or state.facet("run.processing_engine").get("name") or ""
    )
    integration = _INTEGRATIONS.get(engine.upper())
    if integration is None:
        for namespace in namespaces:
            if (found := dialect_of(normal_namespace(namespace))) is not None:
                return found
        return DIALECTS.get(engine.lower())
    return dialect_named(integration)


def _mask(facet: Mapping[str, Any], state: RunState, namespaces: list[str]) -> dict[str, Any]:
    """Return the facet with its SQL masked. If the dialect is unknown, mask the literals of two dialects."""
    dialect = sql_dialect(state, namespaces)
    query = str(facet["query"])
    masked = mask_for_parsing(query, dialect or UNKNOWN)
    masked = masked if dialect else mask_for_parsing(masked, "ansi")
    return {**facet, "query": masked}


def facets_at(entity: Mapping[str, Any], at: datetime) -> Facets:
    """Return the facets of a dataset, with their time."""
    return _facets(entity, at.isoformat(timespec="microseconds"))


def _facets(entity: Mapping[str, Any], at: str) -> Facets:
    return {name: (at, _slim(facet)) for name, facet in (entity.get("facets") or {}).items()}


def _datasets(listed: Any, at: str) -> dict[tuple[str, str], Facets]:
    found: dict[tuple[str, str], Facets] = {}
    for one in listed:
        facets = _facets(one, at)
        name_key = (one["namespace"], one["name"])
        found[name_key] = _latest_facets(found.get(name_key, {}), facets)
    return found


def _slim(value: Any) -> Any:
    """Return a facet without members that are not read: its producer, and descriptions, which may contain data."""
    if isinstance(value, dict):
        # The keys of `fields` are column names, which may equal the names of omitted members.
        return {
            name: {field: _slim(one) for field, one in part.items()}
            if name == "fields" and isinstance(part, dict)
            else _slim(part)
            for name, part in value.items()
            if name not in _OMITTED or (name == "description" and part in _MARKS)
        }
    return [_slim(one) for one in value] if isinstance(value, list) else value


_OMITTED = frozenset({"_producer", "_schemaURL", "description", "root"})
_MARKS = frozenset({"limited", "ambiguous", "limited, ambiguous"})


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _latest(entry: At, other: At) -> At:
    if entry[0] != other[0]:
        return max(entry, other, key=lambda state: state[0])
    return entry if _canonical(entry[1]) >= _canonical(other[1]) else other


def _latest_facets(one: Facets, other: Facets) -> Facets:
    together = dict(one)
    for name, state in other.items():
        together[name] = _latest(together[name], state) if name in together else state
    return together


def _merge_facets(
    one: Mapping[tuple[str, str], Facets], other: Mapping[tuple[str, str], Facets]
) -> dict[tuple[str, str], Facets]:
    together = dict(one)
    for name_key, facets in other.items():
        together[name_key] = _latest_facets(together.get(name_key, {}), facets)
    return together

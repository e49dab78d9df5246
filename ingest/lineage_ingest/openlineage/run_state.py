"""What the events of one run tell, put together: the same whatever order they come in, and however often.

Of each facet the latest counts; a facet that a later event does not have stays (OpenLineage accumulates facets).
Texts of SQL are masked before they are kept.
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
from lineage.model.dialects import DIALECTS, Dialect, UnknownDialectError, dialect_named
from lineage.model.namespaces import dialect_of, normal_namespace
from lineage.sql import mask_for_parsing
from lineage_ingest.openlineage.validation import CheckedEvent, EventKind, InvalidEventError

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
"""A value and when it was state, as a text that sorts by time."""
Facets: TypeAlias = "dict[str, At]"

UNKNOWN = "mysql"
"""What SQL of an unknown dialect is read as: what stands in quotes of either kind is a text there."""

_INTEGRATIONS = {"SNOWFLAKE": "snowflake", "BIGQUERY": "bigquery", "TRINO": "trino", "SPARK": "spark", "HIVE": "hive"}


MAX_EVENTS = 64
"""So many events of a run are kept apart; of a run with more, the oldest are one."""


@dataclass(slots=True)
class RunState:
    """What is known of a run, or by one JobEvent. Datasets are by namespace and name, as they were written.

    `types` are the kinds of event that came, each with its first and last time. `events` are those that this was put
    together from, by digest; of a single event it is empty.
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
        """Whether our own export wrote it."""
        return str(self.producer[1]).startswith(PRODUCER)

    def facet(self, name: str) -> Mapping[str, Any]:
        """Return a facet of the run or the job (`job.sql`); empty where there is none."""
        return facet_of(self.facets, name)

    @property
    def is_streaming(self) -> bool:
        """Whether the job never ends by itself: what it tells while it runs counts."""
        return str(self.facet("job.jobType").get("processingType", "")).upper() == "STREAMING"

    @property
    def holds_at(self) -> datetime | None:
        """When what is state held; None as long as it does not count: before COMPLETE, or for a run that failed."""
        if "JOB" in self.types:
            return _moment(self.types["JOB"][0])
        if self.is_streaming:
            last = max((self.types[one][1] for one in ("RUNNING", "COMPLETE") if one in self.types), default=None)
            return _moment(last) if last else None
        return _moment(self.types["COMPLETE"][0]) if "COMPLETE" in self.types else None

    @property
    def has_ended(self) -> bool:
        """Whether no further event is to be expected."""
        return not self.types.keys().isdisjoint({"COMPLETE", "FAIL", "ABORT"})

    def moments(self, since: str = "") -> Iterator[tuple[datetime, RunState]]:
        """Yield when what is state held, in order, and what it then was; nothing as long as it does not count.

        A streaming job has several moments, at each of which all events up to it count. Each is an observation when it
        becomes known; of those before `since`, which were stated before, that say the same the first and the last are
        enough.
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
                # Its first events may not say that it is streaming.
                yield _moment(at), state

    @property
    def at(self) -> str:
        """When its latest event happened."""
        return max(last for _, last in self.types.values())

    @property
    def first_at(self) -> str:
        """When its earliest event happened."""
        return min(first for first, _ in self.types.values())

    def merged(self, other: RunState) -> RunState:
        """Return what both tell together."""
        together = self._folded(other)
        together.events = {one._key(): one for one in (*self._singles(), *other._singles())}
        if len(together.events) == 1:
            together.events = {}
        while len(together.events) > MAX_EVENTS:
            (first, one), (second, two) = sorted(together.events.items(), key=lambda item: (item[1].at, item[0]))[:2]
            del together.events[first], together.events[second]
            joined = one._folded(two)
            together.events[joined._key()] = joined
        return together

    def _folded(self, other: RunState) -> RunState:
        types = dict(self.types)
        for name, (first, last) in other.types.items():
            known = types.get(name, (first, last))
            types[name] = (min(first, known[0]), max(last, known[1]))
        problems = dict(self.problems)
        for text, at in other.problems.items():
            problems[text] = min(at, problems.get(text, at))
        return RunState(
            job=_later(self.job, other.job),
            producer=_later(self.producer, other.producer),
            types=types,
            facets=_later_each(self.facets, other.facets),
            inputs=_together(self.inputs, other.inputs),
            outputs=_together(self.outputs, other.outputs),
            problems=problems,
        )

    def _singles(self) -> list[RunState]:
        return list(self.events.values()) or [self]

    def _content(self) -> object:
        """Return what is state, without when."""

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
            "inputs": [[*place, facets] for place, facets in sorted(self.inputs.items())],
            "outputs": [[*place, facets] for place, facets in sorted(self.outputs.items())],
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
        """Return it as a text; equal ones have equal texts."""
        singles = sorted(self._singles(), key=lambda one: (one.at, one._key()))
        packed = zlib.compress(f"[{','.join(one._text() for one in singles)}]".encode(), 1)
        return base64.b64encode(packed).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> RunState:
        """Return what `to_text` wrote."""
        value = json.loads(zlib.decompress(base64.b64decode(text)))
        # Earlier versions kept what a run's events state together, as one.
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
        """What no other has."""
        keys = sorted(one._key() for one in self._singles())
        return hashlib.sha256(" ".join(keys).encode("ascii")).hexdigest()[:24]

    def holds(self, other: RunState) -> bool:
        """Return whether it tells all that the other does."""
        return self.merged(other).digest == self.digest


def merge_all(states: Iterable[RunState]) -> RunState:
    """Return what all of these, at least one, tell together."""
    first, *others = states
    for other in others:
        first = first.merged(other)
    return first


def facet_of(facets: Facets, name: str) -> Mapping[str, Any]:
    """Return a facet; empty where there is none, or where it was deleted."""
    facet = facets[name][1] if name in facets else {}
    return {} if facet.get("_deleted") else facet


def run_state_of(checked: CheckedEvent) -> RunState:
    """Return what one run event or job event tells.

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
        state.facets["job.sql"] = (at, _masked(facets["job.sql"][1], state, namespaces))
    return state


def event_time(event: Mapping[str, Any]) -> datetime:
    """Return when an event happened, in UTC.

    Raises:
        InvalidEventError: it is no moment that a calendar has.
    """
    try:
        return datetime.fromisoformat(event["eventTime"]).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidEventError("/eventTime", "the value is not a valid time") from error


def sql_dialect(state: RunState, namespaces: Iterator[str] | list[str]) -> Dialect | None:
    """Return the dialect of a run's SQL: as its facet says, by the namespaces of its datasets, by its integration."""
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


def _masked(facet: Mapping[str, Any], state: RunState, namespaces: list[str]) -> dict[str, Any]:
    """Return the facet with its SQL masked. Without a dialect, what is a literal in any of two is one."""
    dialect = sql_dialect(state, namespaces)
    query = str(facet["query"])
    masked = mask_for_parsing(query, dialect or UNKNOWN)
    masked = masked if dialect else mask_for_parsing(masked, "ansi")
    return {**facet, "query": masked}


def facets_at(entity: Mapping[str, Any], at: datetime) -> Facets:
    """Return the facets of a dataset as they were state at a time."""
    return _facets(entity, at.isoformat(timespec="microseconds"))


def _facets(entity: Mapping[str, Any], at: str) -> Facets:
    return {name: (at, _slim(facet)) for name, facet in (entity.get("facets") or {}).items()}


def _datasets(listed: Any, at: str) -> dict[tuple[str, str], Facets]:
    found: dict[tuple[str, str], Facets] = {}
    for one in listed:
        facets = _facets(one, at)
        place = (one["namespace"], one["name"])
        found[place] = _later_each(found.get(place, {}), facets)
    return found


def _slim(value: Any) -> Any:
    """Return a facet without what is not read: who wrote it, and descriptions, which may hold data."""
    if isinstance(value, dict):
        # Names of fields are keys as well, and only these may be called so below `fields`.
        return {
            name: {field: _slim(one) for field, one in part.items()}
            if name == "fields" and isinstance(part, dict)
            else _slim(part)
            for name, part in value.items()
            if name not in _LEFT_OUT or (name == "description" and part in _MARKS)
        }
    return [_slim(one) for one in value] if isinstance(value, list) else value


_LEFT_OUT = frozenset({"_producer", "_schemaURL", "description", "root"})
_MARKS = frozenset({"limited", "ambiguous", "limited, ambiguous"})


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _later(one: At, other: At) -> At:
    if one[0] != other[0]:
        return max(one, other, key=lambda state: state[0])
    return one if _canonical(one[1]) >= _canonical(other[1]) else other


def _later_each(one: Facets, other: Facets) -> Facets:
    together = dict(one)
    for name, state in other.items():
        together[name] = _later(together[name], state) if name in together else state
    return together


def _together(
    one: Mapping[tuple[str, str], Facets], other: Mapping[tuple[str, str], Facets]
) -> dict[tuple[str, str], Facets]:
    together = dict(one)
    for place, facets in other.items():
        together[place] = _later_each(together.get(place, {}), facets)
    return together

"""`EventIngest`: ingest OpenLineage events from a web endpoint or from files."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from weakref import WeakKeyDictionary

from lineage.export.openlineage import PRODUCER
from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.sql.budget import Budget
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges, BufferedText
from lineage_ingest.batch.star_expansion import expand_stars, may_open_stars
from lineage_ingest.openlineage.dataset_ids import dataset_id_of
from lineage_ingest.openlineage.facets.schemas_known import stored_schemas, tables_of_sql
from lineage_ingest.openlineage.observations import Observed, observe_run, observed_dataset
from lineage_ingest.openlineage.run_batches import batches
from lineage_ingest.openlineage.run_state import RunState, event_time, merge_all, run_state_of
from lineage_ingest.openlineage.run_state import facets_at as dataset_facets
from lineage_ingest.openlineage.validation.event_validation import CheckedEvent, EventKind, InvalidEventError, check

__all__ = ["EventIngest", "EventOutcome", "Retention"]

_MAX_OF_RUN = 32
"""Maximum events of a run in one batch; below `MAX_EVENTS`, so that a streaming job's history has each of them."""
_MAX_TEXTS = 4
"""Maximum number of buffered texts of an open run before they are merged."""

_MAX_ROUNDS = 10
"""Maximum number of attempts to merge a run while other processes add events to it."""

_LOCK = threading.Lock()
_STORE_LOCKS: WeakKeyDictionary[GraphStore, threading.Lock] = WeakKeyDictionary()
"""A lock for each store that only this process writes: one thread at a time ingests runs."""


@frozen
class EventOutcome:
    """Result of one event of a batch: accepted, or rejected with a reason. `warnings` are the ignored facets."""

    index: int
    accepted: bool
    reason: str | None = None
    pointer: str | None = None
    hint: str | None = None
    warnings: tuple[str, ...] = ()

    def moved_to(self, index: int) -> EventOutcome:
        """Return the outcome with another index."""
        return self if index == self.index else replace(self, index=index)

    def to_dict(self) -> dict[str, object]:
        """Return the outcome as JSON values."""
        return {
            "index": self.index,
            "accepted": self.accepted,
            "reason": self.reason,
            "pointer": self.pointer,
            "hint": self.hint,
            "warnings": list(self.warnings),
        }


@frozen
class Retention:
    """How long the events of runs are buffered: of open runs, and of ended ones (for late events)."""

    of_open: timedelta = timedelta(days=14)
    of_ended: timedelta = timedelta(days=2)
    looked_at_every: timedelta = timedelta(hours=1)


@dataclass(slots=True)
class _Batch:
    """The merged events of one call."""

    runs: dict[str, RunState] = field(default_factory=dict)
    jobs: list[RunState] = field(default_factory=list)
    datasets: list[Observed] = field(default_factory=list)


class EventIngest:
    """Ingests OpenLineage events into a store. Threads may share an instance; processes may share a store.

    The events of a run are buffered in the store until it completes, so they may arrive in any order, more than once,
    and at different processes. When `take` returns, the accepted events are durable.
    """

    def __init__(self, store: GraphStore, *, budget: Budget | None = None, retention: Retention | None = None) -> None:
        """Create an ingest into `store`; `budget` limits the extraction of one job's SQL."""
        self._store = store
        self._budget = budget if budget is not None else Budget()
        self._retention = retention if retention is not None else Retention()
        self._lock = threading.Lock()
        with _LOCK:
            self._store_lock = _STORE_LOCKS.setdefault(store, threading.Lock()) if store.is_file else None
        self._checked_at = float("-inf")
        self.applied = AppliedChanges()
        """Changes in the graph by all calls."""

    def take(self, events: Sequence[object]) -> list[EventOutcome]:
        """Ingest events; return the outcome of each, in order.

        Raises:
            StoreError: the store could not be reached or written. Send the events again: none is lost or counted twice.
            SchemasMissingError: jsonschema-rs is not installed.
        """
        batches = [_Batch()]
        outcomes = [self._outcome(index, event, batches) for index, event in enumerate(events)]
        self._drop_old()
        for batch in batches:
            self._apply([*batch.datasets, *self._observe((one.digest, one, "") for one in batch.jobs)])
            if self._store_lock is None:
                self._take_runs(batch.runs)
            else:
                with self._store_lock:
                    self._take_runs_alone(batch.runs)
        return outcomes

    def _outcome(self, index: int, event: object, batches: list[_Batch]) -> EventOutcome:
        try:
            checked = check(event)
            _add_event(checked, batches)
        except InvalidEventError as error:
            return EventOutcome(index, False, str(error), error.pointer, error.hint)
        return EventOutcome(index, True, warnings=checked.problems)

    def _take_runs(self, state: Mapping[str, RunState]) -> None:
        """Buffer new events of runs, and apply the runs until all buffered events are applied."""
        if not state:
            return
        known = self._buffered_runs(state)
        streaming = {run for run, one in known.items() if one.state.is_streaming}
        news = {run: new for run, new in state.items() if not _is_known(new, known.get(run))}
        self._store.buffer_texts([_text(run, new, finished=False) for run, new in news.items()])
        # Events buffered before a crash and never applied are due, too.
        due = {run for run in state if run in news or not known[run].finished}
        done: dict[str, str] = {}
        for _ in range(_MAX_ROUNDS):
            known = self._buffered_runs(due)
            fresh = {run: one for run, one in known.items() if done.get(run) != one.state.digest}
            if not fresh:
                break
            since = {run: news[run].first_at if run in news and run in streaming else "" for run in fresh}
            self._apply(self._observe((run, one.state, since[run]) for run, one in fresh.items()))
            done.update((run, one.state.digest) for run, one in fresh.items())
        self._tidy(known)

    def _take_runs_alone(self, state: Mapping[str, RunState]) -> None:
        """Do the same as `_take_runs` with one read and one write, for a store that mostly this process writes.

        Events are buffered after they are applied; the sender gets its response after both. Events that another process
        buffered in between are detected at the end.
        """
        known = self._buffered_runs(state)
        expected: set[str] = set()
        due: dict[str, RunState] = {}
        texts: list[BufferedText] = []
        release: set[str] = set()
        for run, new in state.items():
            held = known.get(run)
            if held is not None and held.finished and _is_known(new, held):
                continue
            due[run] = one = held.state.merged(new) if held is not None else new
            # Of an open run only new events are written, until it has many texts.
            joined = held is not None and (one.has_ended or len(held.keys) >= _MAX_TEXTS)
            if held is not None and joined:
                text = _text(run, one, finished=one.has_ended)
                release.update(held.keys - {text.key})
            elif held is not None and _is_known(new, held):
                continue
            else:
                text = _text(run, new, finished=new.has_ended)
            texts.append(text)
            expected.update((*(held.keys if held is not None else ()), text.key))
        streaming = {run for run, held in known.items() if held.state.is_streaming}
        since = {run: state[run].first_at if run in streaming else "" for run in due}
        observed = self._observe((run, one, since[run]) for run, one in due.items())
        unexpected = set(self._apply_and_buffer(observed, texts, release)) - (expected - release)
        again = {key.partition("~")[0] for key in unexpected}
        self._take_runs({run: new for run, new in state.items() if run in again})

    def _tidy(self, known: Mapping[str, _BufferedRun]) -> None:
        """Mark ended runs as finished, and merge the texts of runs with many."""
        for _ in range(_MAX_ROUNDS):
            texts: list[BufferedText] = []
            release: set[str] = set()
            for run, known_run in known.items():
                ended = known_run.state.has_ended
                if (ended and (not known_run.finished or len(known_run.keys) > 1)) or len(known_run.keys) > _MAX_TEXTS:
                    text = _text(run, known_run.state, finished=ended)
                    texts.append(text)
                    release.update(known_run.keys - {text.key})
            left = set(self._store.buffer_texts(texts, release)) - {text.key for text in texts}
            # Another process has merged the same run concurrently.
            again = {key.partition("~")[0] for key in left} & {text.owner for text in texts}
            if not again:
                return
            known = self._buffered_runs(again)

    def _buffered_runs(self, runs: Iterable[str]) -> dict[str, _BufferedRun]:
        texts: dict[str, list[BufferedText]] = defaultdict(list)
        for text in self._store.buffered_texts(list(runs)):
            texts[text.owner].append(text)
        return {run: _BufferedRun.of(of_run) for run, of_run in texts.items()}

    def _observe(self, states: Iterable[tuple[str, RunState, str]]) -> list[Observed]:
        """Return the observations of runs and jobs in order of time; each may use the schemas of earlier ones.

        A state has a unique name, whose hash decides between two of one job at the same time, and the time since which
        it is new.
        """
        counting = sorted(
            (
                (at, hashlib.blake2b(name.encode(), digest_size=4).hexdigest(), one.digest, one)
                for name, state, since in states
                for at, one in state.moments(since)
            ),
            key=lambda each: each[:3],
        )
        schemas = dict(stored_schemas(self._store, {key for *_, one in counting for key in tables_of_sql(one)}))
        found = []
        for at, tie, _, one in counting:
            observation = observe_run(one, at, self._budget, schemas, tie=tie)
            for record in observation.datasets:
                if record.schema_known:
                    schemas[record.key] = tuple((one.name, one.data_type) for one in record.columns if one.is_top_level)
            found.append(observation)
        return found

    def _apply_and_buffer(
        self, all_observed: Iterable[Observed], texts: Sequence[BufferedText], release: Collection[str]
    ) -> list[str]:
        """Apply observations, then buffer texts: together with the last batch, unless it may expand stars first."""
        listed = list(batches(all_observed))
        for batch in listed[:-1]:
            self._apply_batch(batch)
        if listed and not may_open_stars(self._store, listed[-1]):
            applied, held = self._store.apply_and_buffer(listed[-1], texts, release)
            self._count(applied)
            self._expand_stars(listed[-1])  # stars that another ingest stored in the meantime
            return held
        if listed:
            self._apply_batch(listed[-1])
        return self._store.buffer_texts(texts, release)

    def _apply(self, all_observed: Iterable[Observed]) -> None:
        for batch in batches(all_observed):
            self._apply_batch(batch)

    def _apply_batch(self, batch: LineageBatch) -> None:
        self._count(self._store.apply(batch))
        self._expand_stars(batch)

    def _expand_stars(self, batch: LineageBatch) -> None:
        """Expand the stored stars over tables whose schema the batch has."""
        described = [record.key for record in batch.datasets if record.schema_known]
        for opened in expand_stars(self._store, described, batch.run.at) if described else ():
            self._count(self._store.apply(opened))

    def _count(self, applied: AppliedChanges) -> None:
        with self._lock:
            self.applied += applied

    def _drop_old(self) -> None:
        """Drop buffered texts that are too old, at most once per interval."""
        with self._lock:
            now = time.monotonic()
            if now - self._checked_at < self._retention.looked_at_every.total_seconds():
                return
            self._checked_at = now
        clock = datetime.now(UTC)
        self._store.drop_buffered_texts(clock - self._retention.of_open, clock - self._retention.of_ended)


@frozen
class _BufferedRun:
    """The buffered events of a run: merged state, keys of the texts, and whether exactly this state was applied."""

    state: RunState
    keys: frozenset[str]
    finished: bool

    @classmethod
    def of(cls, texts: Sequence[BufferedText]) -> _BufferedRun:
        state = merge_all(RunState.from_text(text.text) for text in texts)
        applied = any(text.finished and text.key == _key(text.owner, state) for text in texts)
        return cls(state, frozenset(text.key for text in texts), applied)


def _add_event(checked: CheckedEvent, batches: list[_Batch]) -> None:
    """Add an event to the last batch, or to a new one if it has `_MAX_OF_RUN` events of the run.

    Raises:
        InvalidEventError: its time is not valid.
    """
    batch = batches[-1]
    if checked.kind is EventKind.DATASET:
        batch.datasets.append(_of_dataset(checked))
        return
    state = run_state_of(checked)
    if checked.kind is EventKind.JOB:
        batch.jobs.append(state)
        return
    run = f"openlineage:{str(checked.event['run']['runId']).lower()}"
    if run in batch.runs and len(batch.runs[run].events) >= _MAX_OF_RUN:
        batch = _Batch()
        batches.append(batch)
    batch.runs[run] = batch.runs[run].merged(state) if run in batch.runs else state


def _of_dataset(checked: CheckedEvent) -> Observed:
    dataset, at = checked.event["dataset"], event_time(checked.event)
    exact = str(checked.event["producer"]).startswith(PRODUCER)
    found = observed_dataset(dataset["namespace"], dataset["name"], dataset_facets(dataset, at), at, exact=exact)
    source = dataset_id_of(dataset["namespace"], dataset["name"], exact=exact).key
    for text in checked.problems:
        diagnostic = Diagnostic(
            DiagnosticCode.INVALID_FACET, Severity.WARNING, text, hint="the rest of the event was accepted"
        )
        found.diagnostics.append(DiagnosticRecord(diagnostic, source))
    return found


def _is_known(new: RunState, known: _BufferedRun | None) -> bool:
    return known is not None and known.state.holds(new)


def _key(run: str, state: RunState) -> str:
    return f"{run}~{state.digest}"


def _text(run: str, state: RunState, *, finished: bool) -> BufferedText:
    return BufferedText(_key(run, state), run, state.to_text(), finished, datetime.now(UTC))

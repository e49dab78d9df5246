"""Ingest files of events in batches (constant memory), recorded as one run in `lineage runs`."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lineage.frozen import frozen
from lineage.garbage_collection import seldom_collecting
from lineage.model.batch import LineageBatch, RunRecord
from lineage.model.text.name_lists import name_list
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.openlineage.event_reader import BadText, ReadEvent, find_event_files, read_events
from lineage_ingest.openlineage.ingest import EventIngest

__all__ = ["EventSummary", "Rejected", "ingest_event_files"]

Progress = Callable[[str, int, int | None], None]

EVENTS_AT_ONCE = 2_000
"""Maximum number of events per batch."""
CHARACTERS_AT_ONCE = 32 << 20
"""Length of the events, as JSON, from which on a batch is full."""

_MAX_LISTED = 10_000
"""Maximum number of rejected events and ignored facets to list; the rest is only counted."""


@frozen
class Rejected:
    """A rejected event or line (`is_error`), or an ignored facet: where, and why."""

    place: str
    reason: str
    hint: str | None = None
    is_error: bool = True


@dataclass(slots=True)
class EventSummary:
    """Summary of an ingest of event files."""

    files: int = 0
    events: int = 0
    accepted: int = 0
    failed: int = 0
    facets_left_out: int = 0
    found: list[Rejected] = field(default_factory=list)
    applied: AppliedChanges = field(default_factory=AppliedChanges)
    seconds: float = 0.0
    store: str = ""
    """Address of the store."""

    @property
    def has_errors(self) -> bool:
        """Whether some of the input could not be used."""
        return self.failed > 0

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts and the elapsed seconds."""
        return {
            **self.counts(),
            "nodes_created": self.applied.nodes_created,
            "edges_created": self.applied.edges_created,
            "edges_refreshed": self.applied.edges_refreshed,
            "edges_ended": self.applied.edges_ended,
            "seconds": round(self.seconds, 2),
        }

    def counts(self) -> dict[str, int]:
        """Return the counts that depend on the input only."""
        return {
            "files": self.files,
            "events": self.events,
            "accepted": self.accepted,
            "failed": self.failed,
            "facets_left_out": self.facets_left_out,
        }

    def note(self, rejected: Rejected) -> None:
        """Add a rejected event or an ignored facet."""
        if rejected.is_error:
            self.failed += 1
        else:
            self.facets_left_out += 1
        if len(self.found) < _MAX_LISTED:
            self.found.append(rejected)


def ingest_event_files(paths: Iterable[str], store: GraphStore, progress: Progress | None = None) -> EventSummary:
    """Read files, folders and patterns of OpenLineage events (`-`: standard input) and store their lineage.

    Raises:
        NoEventFilesError: a path has no file.
        StoreError: the store could not be reached or written. Ingest the files again: nothing is lost or doubled.
        SchemasMissingError: jsonschema-rs is not installed.
    """
    began = time.perf_counter()
    notify = progress or (lambda _stage, _done, _total: None)
    files = find_event_files(paths)
    ingest, summary = EventIngest(store), EventSummary(files=len(files))
    content = hashlib.sha256()
    latest: datetime | None = None
    waiting: list[ReadEvent] = []
    length = 0

    def flush() -> None:
        for event, outcome in zip(waiting, ingest.take([one.value for one in waiting]), strict=True):
            summary.accepted += outcome.accepted
            for warning in outcome.warnings:
                summary.note(Rejected(event.position, warning, is_error=False))
            if not outcome.accepted:
                summary.note(Rejected(event.position, str(outcome.reason), outcome.hint))
        waiting.clear()
        notify("events", summary.events, None)

    with seldom_collecting():
        for file in files:
            for read in read_events(file):
                summary.events += 1
                if isinstance(read, BadText):
                    content.update(read.reason.encode(errors="replace"))
                    summary.note(Rejected(read.position, read.reason))
                    continue
                text = json.dumps(read.value, sort_keys=True)
                content.update(text.encode())
                latest = _later(latest, read.value)
                waiting.append(read)
                length += len(text)
                if len(waiting) >= EVENTS_AT_ONCE or length >= CHARACTERS_AT_ONCE:
                    flush()
                    length = 0
        flush()
    summary.applied = ingest.applied
    summary.seconds = time.perf_counter() - began
    if summary.accepted:
        store.apply(_run(content.hexdigest()[:24], files, latest or datetime.now(UTC), summary))
    return summary


def _run(digest: str, files: list[str], at: datetime, summary: EventSummary) -> LineageBatch:
    """Return the run that `lineage runs` shows; ingesting the same events again gives the same run."""
    source = name_list([file.rpartition("/")[2] for file in files], 3)
    counts = Counter(summary.counts())
    return LineageBatch(RunRecord(f"openlineage:{digest}", "openlineage", source, at, counts, summary.seconds))


def _later(latest: datetime | None, event: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(event["eventTime"]).astimezone(UTC)  # type: ignore[index]
    except (KeyError, TypeError, ValueError, OverflowError):
        return latest
    return at if latest is None or at > latest else latest

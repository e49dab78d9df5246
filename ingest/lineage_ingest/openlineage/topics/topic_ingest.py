"""Ingest the events of a Kafka topic: batch by batch, each committed when it is durable in the store."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lineage.garbage_collection import seldom_collecting
from lineage.model.batch import DiagnosticRecord, LineageBatch
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.store.errors import StoreError
from lineage.store.protocol import GraphStore
from lineage_ingest.openlineage.event_reader import why_not_json
from lineage_ingest.openlineage.files import EventSummary, Rejected
from lineage_ingest.openlineage.ingest import EventIngest, EventOutcome
from lineage_ingest.openlineage.run_batches import run_of_hour
from lineage_ingest.openlineage.topics.event_topic import EventTopic, TopicConsumer, position_of
from lineage_ingest.openlineage.topics.read_offsets import ReadOffsets

if TYPE_CHECKING:
    from confluent_kafka import Message

__all__ = ["ingest_event_topic"]

MAX_STORED = 1_000
"""Maximum number of refused messages whose diagnostics one process stores; more are printed and counted only."""


def ingest_event_topic(
    topic: EventTopic,
    store: GraphStore,
    stopping: threading.Event,
    *,
    on_progress: Callable[[str, int, int | None], None] = lambda _stage, _done, _total: None,
    on_rejected: Callable[[Rejected], None] = lambda _rejected: None,
    on_notice: Callable[[str], None] = lambda _text: None,
    on_start: Callable[[], None] = lambda: None,
) -> EventSummary:
    """Ingest the events of a topic until `stopping` is set, or with `topic.once` until its end; return the counts.

    A process that is killed at any point loses nothing and counts nothing twice: offsets are committed after the store
    has the events, and events that come again change nothing. A message that is not a valid event is reported to
    `on_rejected` by its topic, partition and offset, stored as the diagnostic `INVALID_EVENT`, and passed over.

    Raises:
        KafkaMissingError: confluent-kafka is not installed.
        KafkaUnreachableError: no broker answered in time.
        TopicError: the topic does not exist or may not be read, or a setting is wrong.
        StoreError: the store could not be reached or written. The batch is read again by the next process.
        SchemasMissingError: jsonschema-rs is not installed.
    """
    began = time.perf_counter()
    summary, ingest = EventSummary(), EventIngest(store)
    reader = _MessageIngest(ingest, store, summary, on_rejected)
    with seldom_collecting(), TopicConsumer(topic, ReadOffsets(store), on_notice) as consumer:
        consumer.subscribe(stopping)
        on_start()
        while not stopping.is_set():
            messages = consumer.read(stopping)
            if messages:
                reader.take(messages)
                consumer.commit(messages)
                on_progress("events", summary.events, summary.events + consumer.waiting())
            elif topic.once and consumer.is_at_end:
                if not consumer.partitions:
                    on_notice(f"other members of the group {topic.group} read all partitions")
                break
    summary.applied = ingest.applied
    summary.seconds = time.perf_counter() - began
    return summary


class _MessageIngest:
    """Stores batches of messages, and counts them."""

    def __init__(
        self, ingest: EventIngest, store: GraphStore, summary: EventSummary, on_rejected: Callable[[Rejected], None]
    ) -> None:
        self._ingest = ingest
        self._store = store
        self._summary = summary
        self._on_rejected = on_rejected
        self._stored = 0

    def take(self, messages: Sequence[Message]) -> None:
        """Store the events of these messages; all that is valid is durable when it returns."""
        events: list[tuple[Message, object]] = []
        refused: list[tuple[Message, Rejected]] = []
        for message in messages:
            text = message.value()
            if text is None:
                refused.append((message, Rejected(position_of(message), "the message is empty")))
                continue
            try:
                events.append((message, json.loads(text)))
            except (ValueError, RecursionError) as error:
                refused.append((message, Rejected(position_of(message), why_not_json(error))))
        for (message, _), outcome in zip(events, self._outcomes([value for _, value in events]), strict=True):
            place = position_of(message)
            self._summary.accepted += outcome.accepted
            for warning in outcome.warnings:
                self._note(Rejected(place, warning, is_error=False))
            if not outcome.accepted:
                refused.append((message, Rejected(place, str(outcome.reason), outcome.hint)))
        self._summary.events += len(messages)
        refused.sort(key=lambda one: (one[0].partition(), one[0].offset()))
        for _, rejected in refused:
            self._note(rejected)
        self._store_diagnostics(refused)

    def _outcomes(self, events: list[object]) -> list[EventOutcome]:
        """Return the outcome of each event. One that cannot be read because of a fault of ours does not stop others."""
        try:
            return self._ingest.take(events)
        except (StoreError, MemoryError):
            raise
        except Exception as error:
            if not events:
                raise
            if len(events) == 1:
                return [EventOutcome(0, False, f"it could not be ingested: {type(error).__name__}", hint="report it")]
            return [self._outcomes([event])[0].moved_to(index) for index, event in enumerate(events)]

    def _note(self, rejected: Rejected) -> None:
        self._summary.note(rejected)
        self._on_rejected(rejected)

    def _store_diagnostics(self, refused: Sequence[tuple[Message, Rejected]]) -> None:
        """Store what was refused, under the hour in which each message was sent; the same again changes nothing."""
        for message, rejected in refused[: MAX_STORED - self._stored]:
            at = _sent_at(message)
            diagnostic = Diagnostic(DiagnosticCode.INVALID_EVENT, Severity.ERROR, rejected.reason, hint=rejected.hint)
            record = DiagnosticRecord(diagnostic, f"kafka://{rejected.place}")
            self._store.apply(LineageBatch(run=run_of_hour(at), diagnostics=(record,)))
            self._stored += 1


def _sent_at(message: Message) -> datetime:
    _, milliseconds = message.timestamp()
    return datetime.fromtimestamp(max(0, milliseconds) / 1000, UTC)

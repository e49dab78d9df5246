"""A Kafka topic of events, read as a member of a consumer group; offsets are committed by whoever stored the events."""

from __future__ import annotations

import difflib
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from lineage.frozen import frozen
from lineage_ingest.openlineage.topics.read_offsets import ReadOffsets

if TYPE_CHECKING:
    from types import TracebackType

    from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

__all__ = ["EventTopic", "KafkaMissingError", "KafkaUnreachableError", "TopicConsumer", "TopicError", "position_of"]

_LOGGER = logging.getLogger("lineage.kafka")
_LOGGER.addHandler(logging.NullHandler())  # its messages repeat every second while a broker is away

MAX_BYTES = 32 << 20
"""Size of the messages, in bytes, from which on no more are read into a batch."""
PREFETCHED_KILOBYTES = 16 << 10
"""Maximum size of the messages that wait in the client. When it is full, nothing is fetched."""
_MESSAGES_AT_ONCE = 100
_PATIENCE = 0.5
"""Maximum seconds between the arrival of an event and the beginning of its write."""
_METADATA = 10.0
_BETWEEN_ATTEMPTS = 0.5
_POLL_INTERVAL = 600_000
"""Milliseconds that storing one batch may take, until the group gives the partitions to another member."""


class KafkaMissingError(RuntimeError):
    """confluent-kafka is not installed; the message says how to install it."""


class KafkaUnreachableError(ConnectionError):
    """No broker answered in time."""


class TopicError(ValueError):
    """The topic does not exist or may not be read, or a setting of the client is wrong."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@frozen
class EventTopic:
    """A topic, and how to read it."""

    brokers: str
    """Addresses, `host:port,host:port`."""
    topic: str
    group: str = "lineage"
    """Consumer group: its members share the partitions, and the next one resumes where the last one stopped."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings of librdkafka, such as `security.protocol`."""
    wait: float = 60
    """Seconds to wait at the start for a broker, and for the topic."""
    once: bool = False
    """Stop after the last message that exists at the start."""
    at_once: int = 2_000
    """Maximum number of messages in a batch."""


def position_of(message: Message) -> str:
    """Return `topic/partition/offset` of a message."""
    return f"{message.topic()}/{message.partition()}/{message.offset()}"


class TopicConsumer:
    """Reads batches of messages. What was read and not committed is read again by the next member of the group."""

    def __init__(self, topic: EventTopic, read_offsets: ReadOffsets, notice: Callable[[str], None]) -> None:
        """Create a consumer; `notice` is called with what an operator should know.

        Where the group has committed more than `read_offsets` has, it is set back.

        Raises:
            KafkaMissingError: confluent-kafka is not installed.
            TopicError: a setting is unknown, or has a wrong value.
        """
        self._kafka = _library()
        self._topic = topic
        self._read_offsets = read_offsets
        self._notice = notice
        self._cluster = ""
        self._pending: list[Message] = []
        self._ends: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._at_end: set[int] = set()
        self._is_assigned = False
        self._outage: str | None = None
        settings: dict[str, Any] = {
            "client.id": "lineage",
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": PREFETCHED_KILOBYTES,
            "max.poll.interval.ms": _POLL_INTERVAL,
            **topic.settings,
            "bootstrap.servers": topic.brokers,
            "group.id": topic.group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "error_cb": self._note_outage,
        }
        try:
            self._consumer: Consumer = self._kafka.Consumer(settings, logger=_LOGGER)
        except self._kafka.KafkaException as error:
            raise TopicError(error.args[0].str()) from error

    def subscribe(self, stopping: threading.Event) -> None:
        """Join the group when a broker and the topic are there; return early if `stopping` is set.

        Raises:
            KafkaUnreachableError: no broker answered in time.
            TopicError: the topic does not exist, or may not be read.
        """
        until, noticed = time.monotonic() + self._topic.wait, False
        while not stopping.is_set():
            problem = self._find_topic(max(until - time.monotonic(), _BETWEEN_ATTEMPTS))
            if problem is None:
                self._cluster = self._consumer.cluster_id(_METADATA)
                self._consumer.subscribe(
                    [self._topic.topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
                )
                return
            if time.monotonic() >= until:
                raise problem
            if not noticed:
                noticed = True
                self._notice(f"{problem}; trying until {self._topic.wait:g} s have passed")
            stopping.wait(_BETWEEN_ATTEMPTS)

    def read(self, stopping: threading.Event) -> list[Message]:
        """Return the next messages in order; none if none arrived for a moment, or if `stopping` is set.

        Raises:
            TopicError: the topic was deleted, or may not be read any more.
        """
        size, until = 0, time.monotonic() + _PATIENCE
        while (missing := self._topic.at_once - len(self._pending)) > 0 and size < MAX_BYTES:
            left = until - time.monotonic()
            if left <= 0 or stopping.is_set():
                break
            for message in self._consumer.consume(min(missing, _MESSAGES_AT_ONCE), left):
                if (error := message.error()) is not None:
                    self._handle(error, message)
                    continue
                self._outage = None
                self._pending.append(message)
                size += len(message.value() or b"")
        read, self._pending = self._pending, []
        for message in read:
            self._next[_number(message.partition())] = _number(message.offset()) + 1
        return read

    def commit(self, messages: Sequence[Message]) -> None:
        """Keep and commit the offsets after these messages. If that fails they are read again, which changes nothing.

        Raises:
            StoreError: the store could not be written.
        """
        offsets = {_number(message.partition()): _number(message.offset()) + 1 for message in messages}
        self._read_offsets.keep(self._cluster, self._topic.topic, offsets)
        ends = [self._partition(partition, offset) for partition, offset in offsets.items()]
        try:
            done = self._consumer.commit(offsets=ends, asynchronous=False)
            error = next((one.error for one in done if one.error is not None), None)
        except self._kafka.KafkaException as failure:
            error = failure.args[0]
        if error is not None:
            self._notice(f"offsets were not committed ({error.str()}): these events are read again, and count once")

    @property
    def is_at_end(self) -> bool:
        """Whether all messages that existed at the start, of the partitions that this member has, have been read."""
        return self._is_assigned and all(
            partition in self._at_end or self._next.get(partition, 0) >= end for partition, end in self._ends.items()
        )

    @property
    def partitions(self) -> int:
        """Number of partitions that this member has."""
        return len(self._ends)

    def waiting(self) -> int:
        """Return the number of messages that are in the partitions of this member and were not read yet."""
        behind = 0
        for partition, after in self._next.items():
            if partition in self._ends:
                _, end = self._consumer.get_watermark_offsets(self._partition(partition), cached=True)
                behind += max(0, end - after)
        return behind

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()  # leaves the group

    def _find_topic(self, seconds: float) -> Exception | None:
        """Return None if the topic is there, else what is missing.

        Raises:
            TopicError: the topic may not be read.
        """
        name = self._topic.topic
        try:
            topic = self._consumer.list_topics(name, timeout=min(seconds, _METADATA)).topics[name]
            if topic.error is None:
                return None
            if topic.error.code() not in (
                self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART,
                self._kafka.KafkaError.LEADER_NOT_AVAILABLE,
            ):
                raise TopicError(f"topic {name}: {topic.error.str()}")
            near = difflib.get_close_matches(name, self._consumer.list_topics(timeout=_METADATA).topics)
        except self._kafka.KafkaException as error:
            reason = self._outage or error.args[0].str()
            return KafkaUnreachableError(f"Kafka does not answer at {self._topic.brokers}: {reason}")
        return TopicError(
            f"there is no topic {name} at {self._topic.brokers}",
            f"did you mean {', '.join(near)}?" if near else "it is created by its first message",
        )

    def _assigned(self, _consumer: object, partitions: list[TopicPartition]) -> None:
        """Start each partition where both the group and the store have read it.

        Raises:
            KafkaUnreachableError: no broker answered in time.
        """
        self._is_assigned = True
        read = self._read_offsets.of(self._cluster, self._topic.topic, [one.partition for one in partitions])
        starts = []
        try:
            committed = self._consumer.committed(partitions, timeout=_METADATA)
            watermarks = [self._consumer.get_watermark_offsets(one, timeout=_METADATA) for one in committed]
        except self._kafka.KafkaException as error:
            raise KafkaUnreachableError(f"Kafka does not answer at {self._topic.brokers}: {error}") from error
        for partition, (low, high) in zip(committed, watermarks, strict=True):
            start = self._start(partition, read.get(partition.partition), low, high)
            starts.append(self._partition(partition.partition, start))
            self._ends[partition.partition] = high
            self._next[partition.partition] = max(start, low)
            self._at_end.discard(partition.partition)
        if "cooperative" in self._topic.settings.get("partition.assignment.strategy", ""):
            self._consumer.incremental_assign(starts)
        else:
            self._consumer.assign(starts)

    def _start(self, one: TopicPartition, read: int | None, low: int, high: int) -> int:
        """Return the offset to read a partition from; negative where the client's settings decide."""
        name, committed = f"{one.topic}/{one.partition}", one.offset
        if committed < 0:
            is_latest = self._topic.settings.get("auto.offset.reset") in ("latest", "largest", "end")
            return read if is_latest and read is not None and read <= high else committed
        if max(committed, read or 0) > high:
            self._notice(f"{name}: the topic was replaced, or lost messages; it is read from its first message on")
            return low
        wanted = min(committed, read or 0)
        start = max(wanted, low)
        if start < committed:
            self._notice(
                f"{name}: group {self._topic.group} has committed offset {committed}, this store has read up to "
                f"{wanted}: what is between is read again"
            )
        first = committed if read is None else wanted
        if first < low:
            self._notice(f"{name}: messages {first} to {low - 1} were deleted before they were read")
        return start

    def _revoked(self, _consumer: object, partitions: list[TopicPartition]) -> None:
        """Forget messages of partitions that another member has now: it reads them again."""
        gone = {one.partition for one in partitions}
        self._pending = [message for message in self._pending if message.partition() not in gone]
        for partition in gone:
            self._ends.pop(partition, None)
            self._next.pop(partition, None)
            self._at_end.discard(partition)

    def _handle(self, error: KafkaError, message: Message) -> None:
        code, codes = error.code(), self._kafka.KafkaError
        if code == codes._PARTITION_EOF:
            self._at_end.add(_number(message.partition()))
        elif code == codes._MAX_POLL_EXCEEDED:
            self._notice("storing a batch took longer than max.poll.interval.ms: the group is joined again")
        elif error.fatal() or code in (
            codes.UNKNOWN_TOPIC_OR_PART,
            codes.TOPIC_AUTHORIZATION_FAILED,
            codes.GROUP_AUTHORIZATION_FAILED,
        ):
            raise TopicError(f"topic {self._topic.topic}: {error.str()}")
        else:
            self._notice(f"topic {self._topic.topic}: {error.str()}; trying again")

    def _note_outage(self, error: KafkaError) -> None:
        """Keep why there is no connection; say so once if it was there before."""
        if self._outage is None and self._is_assigned:
            self._notice(f"Kafka does not answer: {error.str()}; trying again")
        self._outage = error.str()

    def _partition(self, number: int, offset: int = -1) -> TopicPartition:
        partition: TopicPartition = self._kafka.TopicPartition(self._topic.topic, number, offset)
        return partition


def _number(value: int | None) -> int:
    assert value is not None  # a message that was read has a partition and an offset
    return value


def _library() -> ModuleType:
    try:
        import confluent_kafka  # noqa: PLC0415  an extra
    except ImportError as error:
        raise KafkaMissingError(
            "confluent-kafka, which reads Kafka, is not installed: pip install '.[kafka]' in a checkout of lineage"
        ) from error
    return confluent_kafka

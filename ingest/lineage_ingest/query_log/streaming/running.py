"""Running a stream on Spark: micro-batch by micro-batch, until it ends, fails or is asked to end."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException

from lineage_ingest.query_log.streaming.checkpoint import Checkpoint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["StreamFailedError", "explained", "run_stream"]

_LOOK = 0.2
_COMMIT = 10
_LOST = ("failOnDataLoss", "offsets out of range", "OffsetOutOfRange")
_UNREACHABLE = (
    "TimeoutException",
    "Timed out waiting for a node",
    "No resolvable bootstrap",
    "Failed to create new KafkaAdminClient",
    "UnknownTopicOrPartition",
    "AuthenticationException",
)
_WRAPPING = re.compile(r"\[\w+\] Query \[[^\]]*\] terminated with exception: | ?SQLSTATE: \w+")
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+: )?(.+)$", re.MULTILINE)
_GONE = ("FileNotFoundException", "does not exist")


class StreamFailedError(RuntimeError):
    """A stream that cannot go on; `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None, *, unreachable: bool = False) -> None:
        super().__init__(message)
        self.hint = hint
        self.unreachable = unreachable


class _AskedToEnd(Exception):  # noqa: N818  not an error
    """Raised towards Spark, for it not to take a micro-batch as done."""


class _MicroBatches:
    """The function that Spark calls with each micro-batch; it remembers what went wrong in it."""

    def __init__(self, work: Callable[[DataFrame, int], None], stopping: threading.Event) -> None:
        self._work = work
        self._stopping = stopping
        self.turn = threading.Lock()
        self.failure: Exception | None = None
        self.last: int | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        with self.turn:
            if self._stopping.is_set():
                raise _AskedToEnd
            try:
                self._work(frame, number)
            except Exception as error:
                self.failure = error
                raise
            self.last = number


def run_stream(
    frame: DataFrame,
    checkpoint: Checkpoint,
    work: Callable[[DataFrame, int], None],
    *,
    every: float,
    once: bool,
    stopping: threading.Event,
) -> None:
    """Give each micro-batch of a stream to `work`, with its number.

    Args:
        frame: the stream's rows.
        checkpoint: of the stream.
        work: called with the rows of a micro-batch; a micro-batch after whose return the process ends may come again.
        every: seconds from the beginning of a micro-batch to that of the next.
        once: end when all is read that is there at the beginning.
        stopping: when it is set, the stream ends after the micro-batch that is in hand.

    Raises:
        StreamFailedError: Spark could not read on.
        Exception: whatever `work` raised.
    """
    batches = _MicroBatches(work, stopping)
    writer = frame.writeStream.foreachBatch(batches).option("checkpointLocation", str(checkpoint.spark))
    try:
        started = (
            writer.trigger(availableNow=True)
            if once
            else writer.trigger(processingTime=f"{round(every * 1_000)} milliseconds")
        )
        query = started.start()
        while not query.awaitTermination(_LOOK):  # type: ignore[arg-type]  # fractions of a second are taken
            if stopping.is_set():
                _end(query, batches, checkpoint)
                return
    except StreamingQueryException as error:
        if isinstance(batches.failure, PySparkException | Py4JError):
            raise explained(str(batches.failure)) from error
        if batches.failure is not None:
            raise batches.failure from error
        if not stopping.is_set():
            raise explained(str(error)) from error
    except PySparkException as error:
        raise explained(str(error)) from error
    except (Py4JError, OSError) as error:
        # What was stored is in the checkpoint, whenever Java ended.
        if batches.failure is not None and not isinstance(batches.failure, Py4JError | OSError):
            raise batches.failure from error
        if not stopping.is_set():
            raise StreamFailedError("Spark's Java process has ended", "start again: nothing is lost") from error


def _end(query: StreamingQuery, batches: _MicroBatches, checkpoint: Checkpoint) -> None:
    with batches.turn:  # after the micro-batch that is in hand
        last = batches.last
    waited = time.monotonic() + _COMMIT
    while last is not None and not checkpoint.is_committed(last) and query.isActive and time.monotonic() < waited:
        time.sleep(_LOOK / 4)
    query.stop()
    if batches.failure is not None:
        raise batches.failure


def explained(text: str) -> StreamFailedError:
    """Return what Spark says of the end of a stream in our words, with what to do."""
    causes = _CAUSE.findall(text)
    first = causes[-1] if causes else next((line.strip() for line in _WRAPPING.sub("", text).splitlines()), text)
    if any(word in text for word in _LOST):
        return StreamFailedError(
            f"messages are gone from the topic that were not read yet: {first}",
            "Kafka kept them for too short a time. --kafka-option failOnDataLoss=false goes on with what is there",
        )
    if "Failed to find data source: kafka" in text or "DATA_SOURCE_NOT_FOUND" in text:
        return StreamFailedError(
            "Spark's connector for Kafka is not there",
            "name its jars: --spark-conf spark.jars=spark-sql-kafka-0-10.jar,…, "
            "or its package: --spark-conf spark.jars.packages=…",
        )
    if any(word in text for word in _UNREACHABLE):
        return StreamFailedError(f"Kafka does not answer: {first}", "look at --kafka and --topic", unreachable=True)
    if any(word in text for word in _GONE):
        return StreamFailedError(
            f"a file that landed is gone: {first}", "put it back, or an empty file in its place, to go on"
        )
    return StreamFailedError(f"the stream ended: {first}")

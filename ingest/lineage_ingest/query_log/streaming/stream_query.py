"""Runs a stream on Spark, in micro-batches, until it ends, fails or is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException

from lineage_ingest.query_log.streaming.checkpoint import Checkpoint
from lineage_ingest.query_log.streaming.stream_errors import StreamFailedError, explain_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["run_stream"]

_LOOK = 0.2
_COMMIT = 10


class _AskedToEnd(Exception):  # noqa: N818  not an error
    """Raised to Spark so that it does not commit the micro-batch."""


class _MicroBatches:
    """The function that Spark calls with each micro-batch; it records the exception of a failed one."""

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
    """Call `work` with the rows and the number of each micro-batch of a stream.

    Args:
        frame: the stream's rows.
        checkpoint: the checkpoint of the stream.
        work: processes a micro-batch; called again with the same one if the process ends before Spark commits it.
        every: interval in seconds between the starts of micro-batches.
        once: stop when all input that exists at the start is read.
        stopping: stops the stream after the current micro-batch when set.

    Raises:
        StreamFailedError: Spark cannot continue the stream.
        Exception: any exception raised by `work`.
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
        while not query.awaitTermination(_LOOK):  # type: ignore[arg-type]  # accepts fractions of a second
            if stopping.is_set():
                _end(query, batches, checkpoint)
                return
    except StreamingQueryException as error:
        if isinstance(batches.failure, PySparkException | Py4JError):
            raise explain_failure(str(batches.failure)) from error
        if batches.failure is not None:
            raise batches.failure from error
        if not stopping.is_set():
            raise explain_failure(str(error)) from error
    except PySparkException as error:
        raise explain_failure(str(error)) from error
    except (Py4JError, OSError) as error:
        # The checkpoint has everything that was stored, whenever Java ended.
        if batches.failure is not None and not isinstance(batches.failure, Py4JError | OSError):
            raise batches.failure from error
        if not stopping.is_set():
            raise StreamFailedError("Spark's Java process has ended", "start again: nothing is lost") from error


def _end(query: StreamingQuery, batches: _MicroBatches, checkpoint: Checkpoint) -> None:
    with batches.turn:  # wait for the current micro-batch
        last = batches.last
    waited = time.monotonic() + _COMMIT
    while last is not None and not checkpoint.is_committed(last) and query.isActive and time.monotonic() < waited:
        time.sleep(_LOOK / 4)
    query.stop()
    if batches.failure is not None:
        raise batches.failure

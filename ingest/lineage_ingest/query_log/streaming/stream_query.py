"""Running a stream on Spark: micro-batch by micro-batch, until it ends, fails or is asked to end."""

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
            raise explain_failure(str(batches.failure)) from error
        if batches.failure is not None:
            raise batches.failure from error
        if not stopping.is_set():
            raise explain_failure(str(error)) from error
    except PySparkException as error:
        raise explain_failure(str(error)) from error
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

"""Extraction in several processes of this machine; the results are those of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from lineage.worker_pool import WorkerPool
from lineage_ingest.query_log.pipeline.extraction import (
    Extractor,
    KnownSchemas,
    LogContext,
    extract_batch,
    extract_batches,
)

__all__ = ["ExtractionWorkers"]

_MIN_CHARACTERS = 600_000
"""Characters of SQL per worker that are worth starting it for: about a second of work."""


class ExtractionWorkers:
    """Up to so many processes that extract units. They start with the first work that is worth it, and are kept."""

    def __init__(self, jobs: int) -> None:
        """Take the number of processes; with one, everything is extracted in this process."""
        self._jobs = jobs
        self._pool: WorkerPool[Any, Any] | None = None
        self._started = ExitStack()

    def extract(
        self, batches: Iterable[Any], context: LogContext, known_schemas: KnownSchemas, characters: int
    ) -> Iterator[Any]:
        """Yield record batches of units as batches of `RESULT_SCHEMA`, in order.

        `characters` is the length of all their texts: few are extracted in this process.

        Raises:
            WorkerError: a worker process was killed, or crashed.
        """
        jobs = min(self._jobs, characters // _MIN_CHARACTERS)
        if jobs < 2 and self._pool is None:
            yield from extract_batches(batches, Extractor(context, known_schemas))
            return
        prepare = partial(_extractor, context, known_schemas)
        if self._pool is None:
            self._pool = self._started.enter_context(WorkerPool(prepare, jobs, _describe))
        else:
            self._pool.prepare(prepare)
        yield from self._pool.each(batches)

    def close(self) -> None:
        """End the processes."""
        self._started.close()
        self._pool = None


def _extractor(context: LogContext, known_schemas: KnownSchemas) -> Callable[[Any], Any]:
    return partial(extract_batch, extractor=Extractor(context, known_schemas))


def _describe(batch: Any) -> str:
    return f"extracted {batch.num_rows} statements"

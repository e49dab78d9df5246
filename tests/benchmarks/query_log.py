"""A query history end to end, against what cannot be saved: extracting its templates, and reading its rows.

1,000,000 rows over 20,000 templates from the committed generator (`tests.query_logs.make`, seed 1). In one run:

- `bare_extract`: each template's text through `extract`, in two processes;
- `bare_read`: the rows are read and their texts' lengths counted, so that every text is read;
- ours: all stages of `lineage ingest log` with the storing, in the processes that it takes by itself.

`QUERY_LOG_ENGINE=spark` runs both on Spark, without the start of the JVM. `QUERY_LOG_ROWS=10000000` asks for ten times
the rows over the same templates, and so on; `QUERY_LOG_SQL` for a folder of more queries (see
tests/query_logs/statements.py), `QUERY_LOG_KEEP` for a folder to keep the history in.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from pyarrow.dataset import dataset

from lineage.sql import extract
from lineage.store import open_store
from lineage.worker_pool import available_processors
from lineage_ingest.query_log import source_named
from lineage_ingest.query_log.ingest import ingest_log_rows
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions, open_engine, spark_session
from lineage_ingest.query_log.pipeline.extraction import LogContext
from lineage_ingest.query_log.pipeline.log_input import LogInput
from tests.query_logs.make import make, runs

ON_REQUEST = True  # it takes some minutes

_ROWS = int(os.environ.get("QUERY_LOG_ROWS", "1000000"))
_TEMPLATES = int(os.environ.get("QUERY_LOG_TEMPLATES", "20000"))
_OWN = ("started_at", "duration_us", "user", "session", "position", "dialect", "status", "rows", "truncated")
_ENGINE = EngineKind(os.environ.get("QUERY_LOG_ENGINE", "local"))
_OTHERS = (
    {"jvm": b"pyspark-shell", "worker": b"engines.daemon"}
    if _ENGINE is EngineKind.SPARK
    else {"worker": b"multiprocessing.spawn"}
)
_GC = (50_000, 20, 50)  # as in the workers


def run() -> dict[str, Any]:
    on_spark = spark_session(SparkOptions()) if _ENGINE is EngineKind.SPARK else nullcontext()
    with _history() as folder, tempfile.TemporaryDirectory() as own, on_spark as spark:
        given = LogInput(
            source_named(
                "generic", mapping={field: field for field in _OWN} | {"query_text": "sql", "default_schema": "schema"}
            ),
            (str(folder),),
        )
        if spark is not None:
            spark.range(1_000).count()  # the first job loads classes
        read = _timed(lambda: _read(spark, folder))
        stages, peaks, found = _ours(given, Path(own) / "store.db")
        texts = [(part.text, part.dialect) for part in found]
        extracted = _timed(lambda: _extract_bare(texts))
    total = sum(stages.values())
    storing = stages["storing"]
    return {
        "engine": _ENGINE.value,
        "rows": _ROWS,
        "templates": len(texts),
        "bare_read_seconds": round(read, 1),
        "bare_extract_seconds": round(extracted, 1),
        **{f"{name}_seconds": round(seconds, 1) for name, seconds in stages.items()},
        "total_seconds": round(total, 1),
        "rows_per_second": round(_ROWS / total),
        "total_to_bare": round(total / (read + extracted), 2),
        "storing_to_rest": round(storing / (total - storing), 2),
        **peaks,
    }


@contextmanager
def _history() -> Iterator[Path]:
    keep, sql = os.environ.get("QUERY_LOG_KEEP"), os.environ.get("QUERY_LOG_SQL")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(keep or temporary) / f"history_{_ROWS}_{_TEMPLATES}"
        if not folder.exists():
            batches = runs("generic", _ROWS, _TEMPLATES, 1, sql=Path(sql) if sql else None)
            make(folder, "generic", batches, files=8)
        yield folder


def _read(spark: Any, folder: Path) -> int:
    if spark is None:
        batches = dataset(folder).to_batches(columns=["sql"])
        return sum(pc.sum(pc.utf8_length(batch.column("sql"))).as_py() or 0 for batch in batches)
    rows = spark.read.parquet(str(folder))
    return int(rows.selectExpr("count(*) AS n", "sum(length(sql)) AS c").collect()[0]["n"])


def _ours(given: LogInput, path: Path) -> tuple[dict[str, float], dict[str, int], list[Any]]:
    """Return each stage's seconds, the peak memory in MB of this process and of the largest others, the templates."""
    seconds: dict[str, float] = defaultdict(float)
    current, since, before_storing = "starting", time.perf_counter(), 0

    def show(stage: str, _done: int = 0, _total: int | None = None) -> None:
        nonlocal current, since, before_storing
        if stage != current:
            if stage == "storing":
                before_storing = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            seconds[current] += time.perf_counter() - since
            current, since = stage, time.perf_counter()

    with _memory_of_others() as largest, open_store(path) as store:
        with open_engine(given, _ENGINE, SparkOptions(), available_processors()) as engine:
            since = time.perf_counter()
            ingest_log_rows(engine, store, LogContext(given.name, datetime(2026, 1, 1, tzinfo=UTC)), progress=show)
            show("")
            templates = engine.samples()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    peaks = {
        "peak_rss_mb": peak,
        "before_storing_peak_rss_mb": before_storing,
        **{f"{kind}_peak_rss_mb": found for kind, found in largest.items()},
    }
    return dict(seconds), peaks, templates


@contextmanager
def _memory_of_others() -> Iterator[dict[str, int]]:
    """Yield the peak memory in MB of Spark's JVM and of the largest worker process, watched each second."""
    largest: dict[str, int] = defaultdict(int)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(1):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    command = (status.parent / "cmdline").read_bytes()
                    kind = next((kind for kind, words in _OTHERS.items() if words in command), None)
                    if kind is not None:
                        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
                        largest[kind] = max(largest[kind], int(peak.split()[1]) // 1024)
                except (OSError, StopIteration):
                    continue

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield largest
    done.set()
    thread.join()


def _extract_bare(texts: list[tuple[str, str]]) -> int:
    with multiprocessing.get_context("spawn").Pool(2, initializer=gc.set_threshold, initargs=_GC) as pool:
        return sum(pool.imap_unordered(_edges, texts, chunksize=64))


def _edges(given: tuple[str, str]) -> int:
    return sum(len(statement.edges) for statement in extract(*given))


def _timed(call: Callable[[], int]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began

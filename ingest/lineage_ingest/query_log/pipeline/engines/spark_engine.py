"""The stages on Spark, local or on a cluster. Rows never reach the driver; the lineage of templates does.

The Python code runs in `mapInArrow`, with the same functions as in-process. They read and yield blocks of rows, which
Spark distributes to workers and stores.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark import StorageLevel, inheritable_thread_target
from pyspark.sql import functions as f

from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.pipeline.engines import workers
from lineage_ingest.query_log.pipeline.engines.arrow_blocks import tables, unpack
from lineage_ingest.query_log.pipeline.engines.engine import (
    LogCounts,
    Opener,
    Progress,
    SessionBlock,
    Template,
    Work,
    unit_of,
)
from lineage_ingest.query_log.pipeline.engines.workers import AT_ONCE, LINEAGE, RESULTS, SUMMARIES, Normalise
from lineage_ingest.query_log.pipeline.extraction import (
    Extractor,
    KnownSchemas,
    LogContext,
    UnitLineage,
    extract_batches,
    results_from,
)
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, work_batches
from lineage_ingest.query_log.pipeline.members import Member
from lineage_ingest.query_log.pipeline.merging.partial_aggregates import (
    LEFT_OUT,
    NAMES,
    PARTS,
    RUNS,
    TEMPLATES,
    TOTALS,
    add_counts,
    templates_from,
)
from lineage_ingest.query_log.pipeline.merging.statistics import COUNTED_SCHEMA, JobRuns, counted, runs_by_unit
from lineage_ingest.query_log.pipeline.schema_rounds import RunInterval
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import events_of
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession
from lineage_ingest.query_log.pipeline.sessions.sessions import BY_DAY, BY_UNIT, MEMBERS, RAN
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.pipeline.versions.column_changes import ColumnChanges
from lineage_ingest.query_log.pipeline.versions.versions import Event, Versions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkEngine"]

_FEW = 200
"""Maximum number of units that the driver extracts: sending so few to workers would take longer."""
_LOOK_EVERY = 0.3
_ROWS_AT_ONCE = 2_000_000
_PACKETS = "kind string, bucket bigint, rows bigint, packed binary"
"""`BLOCK_SCHEMA`, as Spark writes it."""


T = TypeVar("T")


class SparkEngine:
    """The engine on Spark: rows are in Spark's storage on disk, without their texts."""

    def __init__(self, spark: SparkSession, rows: DataFrame, normalise: Normalise) -> None:
        """Take the log's rows, and the function that normalizes them to the log schema."""
        self._spark = spark
        self._processors = spark.sparkContext.defaultParallelism
        self._rows = rows
        self._normalise = normalise
        self._kept: list[DataFrame] = []
        self._all: DataFrame | None = None
        self._templates: DataFrame | None = None
        self._named: list[Any] = []
        self._session_blocks: dict[int, SessionBlock] = {}
        self._results: DataFrame | None = None
        self._again: dict[int, bytes] = {}
        self._spans: dict[int, RunInterval] = {}
        self._ran: DataFrame | None = None
        self._days: DataFrame | None = None
        self._runs: dict[int, dict[int, JobRuns]] = {}

    def read(self, progress: Progress) -> LogCounts:
        """Read, normalise and fingerprint all rows."""
        self._all = self._keep(self._rows.mapInArrow(partial(workers.read, normalise=self._normalise), _PACKETS))
        counts = LogCounts()
        for table in self._tables(self._all, LEFT_OUT):
            add_counts(counts, table)
        progress("reading", counts.rows, counts.rows)
        aggregates = _by_bucket(self._all.where(f.col("kind").isin(TOTALS, PARTS)), self._processors * 8)
        self._templates = self._keep(aggregates.mapInArrow(templates_from, _PACKETS))
        self._named = list(self._tables(self._templates, NAMES))
        return counts

    def templates(self) -> Iterator[Template]:
        """Yield the templates, without their texts."""
        for table in self._named:
            for row in table.to_pylist():
                part = LogStatement("", "", row["dialect"], row["database"], row["schema"])
                yield Template(row["template"], part, RunInterval(row["first"], row["last"]), row["runs"])

    def samples(self) -> list[LogStatement]:
        """Return the sample of each template."""
        assert self._templates is not None
        found = self._tables(self._templates, TEMPLATES)
        return [LogStatement.of(part) for table in found for part in table["part"].to_pylist()]

    def _sessions(self, templates: Mapping[int, TemplateInSession]) -> tuple[DataFrame, bool]:
        """Return the runs, and whether the runs of a session must be in one partition (then they are)."""
        assert self._all is not None
        runs = self._all.where(f.col("kind") == RUNS)
        whole = any(one.effects.stateful for one in templates.values())
        return (_by_bucket(runs, self._processors * 4) if whole else runs), whole

    def events(self, wanted: frozenset[tuple[int, int]]) -> Iterable[Event]:
        """Return the runs of the wanted parts of units."""
        assert self._ran is not None
        shared = self._spark.sparkContext.broadcast(pa.array(sorted({unit for unit, _ in wanted}), pa.int64()))
        found = self._ran.where(f.col("kind") == RAN).mapInArrow(partial(workers.pick_runs, shared=shared), _PACKETS)
        return events_of(self._tables(found, RAN), wanted)

    def sessions(
        self,
        templates: Mapping[int, TemplateInSession],
        versions: Versions | None = None,
        changes: ColumnChanges | None = None,
    ) -> list[SessionBlock]:
        """Assign every run to its unit; return the units that are not templates."""
        self._session_blocks.clear()
        runs, whole = self._sessions(templates)
        shared = self._spark.sparkContext.broadcast((dict(templates), versions, changes))
        units = self._keep(runs.mapInArrow(partial(workers.assign, shared=shared, whole=whole), _PACKETS))
        for table in self._tables(units, MEMBERS):
            for key, listed in zip(table["unit"].to_pylist(), table["members"].to_pylist(), strict=True):
                self._session_blocks[key] = SessionBlock(key, tuple(map(Member.of, listed)))
        if versions is None and changes is None:
            self._ran = units
        self._days = units.where(f.col("kind") == BY_DAY)
        totals = _by_bucket(units.where(f.col("kind") == BY_UNIT), self._processors * 4)
        found = list(self._tables(totals.mapInArrow(workers.sum_up, _PACKETS), BY_UNIT))
        self._runs = runs_by_unit(pa.concat_tables([COUNTED_SCHEMA.empty_table().drop(["day"]), *found]))
        self._spans = {key: RunInterval.of(parts.values()) for key, parts in self._runs.items()}
        return list(self._session_blocks.values())

    def extract(
        self, work: Collection[Work] | None, context: LogContext, known_schemas: KnownSchemas, progress: Progress
    ) -> Iterator[UnitSummary]:
        """Extract units; yield their summaries, and keep their lineage."""
        assert self._templates is not None
        if work is None:
            shared = self._spark.sparkContext.broadcast((context, known_schemas))
            templates = self._templates.where(f.col("kind") == TEMPLATES)
            self._results = results = self._keep(
                templates.mapInArrow(partial(workers.extract_templates, shared=shared), _PACKETS)
            )
            count = sum(table.num_rows for table in self._named)
            found = self._watch_progress(
                lambda: self._tables(results, SUMMARIES),
                lambda share: progress("extracting", int(share * count), count),
            )
            for table in found:
                for summary in table["summary"]:
                    yield pickle.loads(summary.as_buffer())  # our own, of this run
            return
        units = self._units(work)
        for done, batch in enumerate(self._extract(units, context, known_schemas), 1):
            for summary, lineage in results_from(batch):
                self._again[summary.key] = lineage
                yield summary
            progress("extracting", min(done * AT_ONCE, len(units)), len(units))

    def _watch_progress(self, action: Callable[[], T], on_progress: Callable[[float], None]) -> T:
        """Return an action's result; while it runs, report the completed share of the tasks of its last stage."""
        spark_context = self._spark.sparkContext
        group = f"lineage-{id(self):x}"

        def run() -> T:
            spark_context.setJobGroup(group, "lineage ingest log")
            return action()

        pool = ThreadPoolExecutor(1)
        running: Future[T] = pool.submit(inheritable_thread_target(self._spark)(run))
        pool.shutdown(wait=False)
        tracker = spark_context.statusTracker()
        while not wait((running,), _LOOK_EVERY).done:
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
            ids = [stage for job in jobs if job is not None for stage in job.stageIds]
            last = tracker.getStageInfo(max(ids)) if ids else None
            if last is not None and last.numTasks:
                on_progress(last.numCompletedTasks / last.numTasks)
        on_progress(1)
        return running.result()

    def _extract(self, units: list[ExtractionUnit], context: LogContext, known_schemas: KnownSchemas) -> Iterator[Any]:
        batches = list(work_batches(units, AT_ONCE))
        if len(units) <= _FEW:
            yield from extract_batches(batches, Extractor(context, known_schemas))
            return
        shared = self._spark.sparkContext.broadcast((context, known_schemas))
        given = self._spark.createDataFrame(pa.Table.from_batches(batches))
        spread = given.repartition(self._processors * 4)
        results = spread.mapInArrow(partial(workers.extract_units, shared=shared), _PACKETS)
        for table in self._tables(results, RESULTS):
            yield from table.to_batches()

    def _units(self, work: Collection[Work]) -> list[ExtractionUnit]:
        """Return the units to extract, with their texts."""
        assert self._templates is not None
        needed = {w.key for w in work if w.key not in self._session_blocks}
        for unit_work in work:
            if unit_work.key in self._session_blocks:
                needed.update(member.template for member in self._session_blocks[unit_work.key].members)
        keys = self._spark.sparkContext.broadcast(pa.array(sorted(needed), pa.int64()))
        templates = self._templates.where(f.col("kind") == TEMPLATES)
        picked = templates.mapInArrow(partial(workers.pick, shared=keys), _PACKETS)
        parts = {
            row["template"]: LogStatement.of(row["part"])
            for table in self._tables(picked, TEMPLATES)
            for row in table.to_pylist()
        }
        units = []
        for unit_work in work:
            span = self._spans.get(unit_work.key, RunInterval(None, None))
            found: Template | SessionBlock | None = self._session_blocks.get(unit_work.key)
            runs = self._runs.get(unit_work.key, {})
            units.append(
                unit_of(found or Template(unit_work.key, parts[unit_work.key], span, 0), parts, runs, span, unit_work)
            )
        return units

    def runs(self) -> dict[int, dict[int, JobRuns]]:
        """Return the runs of each part of each unit."""
        return self._runs

    def days(self) -> Iterator[Any]:
        """Yield the counts of runs, some whole days at a time."""
        assert self._days is not None
        sizes: Counter[int] = Counter()
        for row in self._days.select("bucket", "rows").toArrow().to_pylist():
            sizes[row["bucket"]] += row["rows"]
        days = sorted(sizes)
        while days:
            rows, taken = 0, 0
            while taken < len(days) and (taken == 0 or rows + sizes[days[taken]] <= _ROWS_AT_ONCE):
                rows += sizes[days[taken]]
                taken += 1
            own = self._days.where(f.col("bucket").between(days[0], days[taken - 1]))
            yield counted(pa.concat_tables(self._tables(own, BY_DAY)))
            days = days[taken:]

    def lineage(self, units: Collection[int]) -> Iterator[tuple[int, UnitLineage]]:
        """Yield the lineage of these units."""
        assert self._results is not None
        wanted = set(units)
        for row in self._results.where(f.col("kind") == LINEAGE).select("packed").toLocalIterator(True):
            table = unpack(row["packed"])
            for key, lineage in zip(table["key"].to_pylist(), table["lineage"], strict=True):
                if key in wanted and key not in self._again:
                    yield key, pickle.loads(lineage.as_buffer())  # our own, of this run
        for key, lineage in self._again.items():
            if key in wanted:
                yield key, pickle.loads(lineage)

    def write(self, parts: Sequence[BatchPart], opener: Opener) -> AppliedChanges:
        """Apply parts of a batch in the workers."""
        if not parts:
            return AppliedChanges()
        partitions = self._spark.sparkContext.parallelize(parts, len(parts))
        return sum(partitions.mapPartitions(partial(workers.write, opener=opener)).collect(), start=AppliedChanges())

    def close(self) -> None:
        """Release the frames that Spark stores."""
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()

    def _tables(self, blocks: DataFrame, *kinds: str) -> Iterator[Any]:
        """Yield the tables in blocks of some kinds."""
        found = blocks.where(f.col("kind").isin(*kinds)).select("packed").toArrow()
        return tables(found.to_batches())

    def _keep(self, frame: DataFrame) -> DataFrame:
        """Return the frame persisted on disk, so that it is computed once."""
        kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        return kept


def _by_bucket(frame: DataFrame, partitions: int) -> DataFrame:
    """Return blocks partitioned by bucket, with each bucket in one partition."""
    return frame.repartition(partitions, "bucket").sortWithinPartitions("bucket")

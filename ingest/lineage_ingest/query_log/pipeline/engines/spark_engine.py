"""The stages on Spark, local or on a cluster. Rows never reach the driver; the lineage of templates does.

Rows are typed columns. What Spark can do is done by Spark: grouping by template, counts, samples, deduplication. Python
runs in `mapInArrow`, with the same functions as in-process, where SQL is read and where a session's order matters.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark import StorageLevel, inheritable_thread_target
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.pipeline.engines import workers
from lineage_ingest.query_log.pipeline.engines.engine import (
    LogCounts,
    Opener,
    Progress,
    SessionBlock,
    Template,
    Work,
    unit_of,
)
from lineage_ingest.query_log.pipeline.engines.workers import ASSIGNED_OR_RAN_SCHEMA, AT_ONCE, Normalise
from lineage_ingest.query_log.pipeline.extraction import (
    RESULT_SCHEMA,
    Extractor,
    KnownSchemas,
    LogContext,
    UnitLineage,
    extract_batches,
    results_from,
)
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement, work_batches
from lineage_ingest.query_log.pipeline.fingerprinting import OF_RUNS, RUN_SCHEMA
from lineage_ingest.query_log.pipeline.members import Member
from lineage_ingest.query_log.pipeline.merging.row_counts import add_counts
from lineage_ingest.query_log.pipeline.merging.statistics import COUNTED_SCHEMA, DAY, MEASURES, JobRuns, runs_by_unit
from lineage_ingest.query_log.pipeline.schema_rounds import RunInterval
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import RAN_SCHEMA, events_of, runs_apart
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession, tie_without_sessions
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.pipeline.versions.column_changes import ColumnChanges
from lineage_ingest.query_log.pipeline.versions.versions import Event, Versions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["SparkEngine"]

_FEW = 200
"""Maximum number of units that the driver extracts: sending so few to workers would take longer."""
_LOOK_EVERY = 0.3
_ROWS_AT_ONCE = 2_000_000
_RUNS, _RESULTS, _ASSIGNED = map(from_arrow_schema, (RUN_SCHEMA, RESULT_SCHEMA, ASSIGNED_OR_RAN_SCHEMA))


T = TypeVar("T")


class SparkEngine:
    """The engine on Spark: rows are in Spark's storage on disk, without their texts."""

    def __init__(self, spark: SparkSession, rows: DataFrame, normalise: Normalise) -> None:
        """Take the log's rows, and the function that normalizes them to the log schema."""
        self._spark = spark
        self._processors = spark.sparkContext.defaultParallelism
        self._given = rows
        self._normalise = normalise
        self._kept: list[DataFrame] = []
        self._rows: DataFrame | None = None
        self._templates: DataFrame | None = None
        self._names: Any = None
        self._touched: DataFrame | None = None
        """The sessions with a statement that changes what later ones mean."""
        self._session_blocks: dict[int, SessionBlock] = {}
        self._results: DataFrame | None = None
        self._again: dict[int, bytes] = {}
        self._spans: dict[int, RunInterval] = {}
        self._ran: DataFrame | None = None
        self._counts: DataFrame | None = None
        self._of_units: dict[int, dict[int, JobRuns]] = {}

    def read(self, progress: Progress) -> LogCounts:
        """Read, normalise and fingerprint all rows."""
        self._rows = self._keep(_in_python(self._given, _RUNS, workers.read, normalise=self._normalise))
        counts = LogCounts()
        add_counts(counts, _row_counts(self._rows).toArrow())
        progress("reading", counts.rows, counts.rows)
        self._templates = self._keep(_templates(self._rows, self._processors * 8))
        parts = (f.col(f"part.{name}").alias(name) for name in ("fingerprint", "dialect", "database", "schema"))
        self._names = self._templates.select("template", "first", "last", "runs", *parts).toArrow()
        return counts

    def templates(self) -> Iterator[Template]:
        """Yield the templates, without their texts."""
        for row in self._names.to_pylist():
            part = LogStatement("", row["fingerprint"], row["dialect"], row["database"], row["schema"])
            yield Template(row["template"], part, RunInterval(row["first"], row["last"]), row["runs"])

    def samples(self) -> list[LogStatement]:
        """Return the sample of each template."""
        assert self._templates is not None
        return [LogStatement.of(row) for row in self._templates.select("part.*").toArrow().to_pylist()]

    def events(self, wanted: frozenset[tuple[int, int]]) -> Iterable[Event]:
        """Return the runs of the wanted parts of units."""
        if not wanted:
            return ()
        units = f.broadcast(self._keys({unit for unit, _ in wanted}, "unit"))
        apart = self._runs()
        ran = []
        if self._touched is not None:
            assert self._ran is not None
            apart = apart.join(self._touched, "session", "left_anti")
            inside = self._ran.where("in_order").select(RAN_SCHEMA.names)
            ran.append(inside.join(units, "unit", "left_semi").select(RAN_SCHEMA.names).toArrow())
        found = apart.withColumn("unit", f.col("template")).join(units, "unit", "left_semi")
        ran.append(runs_apart(found.select(OF_RUNS).toArrow()))
        return events_of(ran, wanted)

    def sessions(
        self,
        templates: Mapping[int, TemplateInSession],
        versions: Versions | None = None,
        changes: ColumnChanges | None = None,
    ) -> list[SessionBlock]:
        """Assign every run to its unit; return the units that are not templates."""
        self._session_blocks.clear()
        stateful = [key for key, one in templates.items() if one.effects.stateful]
        if stateful and self._touched is None:
            self._touched = self._keep(_touched(self._runs(), self._keys(stateful, "template")))
        tied = tie_without_sessions({key: one.effects for key, one in templates.items()})
        bound = versions.units() if versions is not None else ()
        inside, apart = self._split(self._runs(), bound, tied)
        assigned: DataFrame | None = None
        if inside is not None:
            shared = self._spark.sparkContext.broadcast((dict(templates), versions, changes))
            assigned = self._keep(_in_python(inside, _ASSIGNED, workers.assign, shared=shared))
            blocks = assigned.where("members IS NOT NULL").select("unit", "members").dropDuplicates(["unit"])
            for row in blocks.toArrow().to_pylist():
                self._session_blocks[row["unit"]] = SessionBlock(row["unit"], tuple(map(Member.of, row["members"])))
            if versions is None and changes is None:
                self._ran = assigned
        self._counts = self._keep(_counted(apart, assigned))
        self._of_units = runs_by_unit(_summed(self._counts, "unit", "part", "user").toArrow())
        self._spans = {key: RunInterval.of(parts.values()) for key, parts in self._of_units.items()}
        return list(self._session_blocks.values())

    def _split(
        self, runs: DataFrame, bound: Collection[int], tied: Collection[int]
    ) -> tuple[DataFrame | None, DataFrame]:
        """Return the runs for which `assign_units` has to look at more than the template; and all others.

        The first are the sessions with a statement that changes what later ones mean, whole; runs of templates `bound`
        to versions of tables; and runs without a session of templates `tied` to others. None: there are no such runs.
        """
        inside = []
        if self._touched is not None:
            inside.append(runs.join(self._touched, "session", "left_semi").select(OF_RUNS))
            runs = runs.join(self._touched, "session", "left_anti").select(OF_RUNS)
        for keys, condition in ((bound, f.lit(True)), (tied, f.col("session").isNull())):
            if keys:
                named = f.broadcast(self._keys(keys, "key"))
                on = (f.col("template") == f.col("key")) & condition
                inside.append(runs.join(named, on, "left_semi"))
                runs = runs.join(named, on, "left_anti")
        if not inside:
            return None, runs
        together = inside[0]
        for frame in inside[1:]:
            together = together.unionByName(frame)
        spread = f.coalesce("session", f.col("template").cast("string"))  # all without a session are not one task
        return together.repartition(spread).sortWithinPartitions(f.col("session").asc_nulls_last()), runs

    def extract(
        self, work: Collection[Work] | None, context: LogContext, known_schemas: KnownSchemas, progress: Progress
    ) -> Iterator[UnitSummary]:
        """Extract units; yield their summaries, and keep their lineage."""
        assert self._templates is not None
        if work is None:
            shared = self._spark.sparkContext.broadcast((context, known_schemas))
            templates = self._templates.select("template", "part", "first", "last")
            results = self._keep(_in_python(templates, _RESULTS, workers.extract_templates, shared=shared))
            self._results = results
            count = self._names.num_rows
            found = self._watch_progress(
                results.select("summary").toArrow, lambda share: progress("extracting", int(share * count), count)
            )
            for summary in found["summary"]:
                yield pickle.loads(summary.as_buffer())  # our own, of this run
            return
        units = self._units(work) if work else []
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
        yield from _in_python(spread, _RESULTS, workers.extract_units, shared=shared).toArrow().to_batches()

    def _units(self, work: Collection[Work]) -> list[ExtractionUnit]:
        """Return the units to extract, with their texts."""
        assert self._templates is not None
        needed = {w.key for w in work if w.key not in self._session_blocks}
        for unit_work in work:
            if unit_work.key in self._session_blocks:
                needed.update(member.template for member in self._session_blocks[unit_work.key].members)
        keys = f.broadcast(self._keys(needed, "template"))
        picked = self._templates.select("template", "part").join(keys, "template", "left_semi").toArrow()
        parts = {row["template"]: LogStatement.of(row["part"]) for row in picked.to_pylist()}
        units = []
        for unit_work in work:
            span = self._spans.get(unit_work.key, RunInterval(None, None))
            found: Template | SessionBlock | None = self._session_blocks.get(unit_work.key)
            runs = self._of_units.get(unit_work.key, {})
            units.append(
                unit_of(found or Template(unit_work.key, parts[unit_work.key], span, 0), parts, runs, span, unit_work)
            )
        return units

    def runs(self) -> dict[int, dict[int, JobRuns]]:
        """Return the runs of each part of each unit."""
        return self._of_units

    def days(self) -> Iterator[Any]:
        """Yield the counts of runs, some whole days at a time."""
        assert self._counts is not None
        sizes = Counter({row["day"]: row["count"] for row in self._counts.groupBy("day").count().toArrow().to_pylist()})
        if None in sizes:
            yield self._counts.where("day IS NULL").select(COUNTED_SCHEMA.names).toArrow()
            del sizes[None]
        days = sorted(sizes)
        while days:
            rows, taken = 0, 0
            while taken < len(days) and (taken == 0 or rows + sizes[days[taken]] <= _ROWS_AT_ONCE):
                rows += sizes[days[taken]]
                taken += 1
            own = self._counts.where(f.col("day").between(days[0], days[taken - 1]))
            yield own.select(COUNTED_SCHEMA.names).toArrow()
            days = days[taken:]

    def lineage(self, units: Collection[int]) -> Iterator[tuple[int, UnitLineage]]:
        """Yield the lineage of these units."""
        assert self._results is not None
        wanted = set(units)
        for row in self._results.select("key", "lineage").toLocalIterator(True):
            if row["key"] in wanted and row["key"] not in self._again:
                yield row["key"], pickle.loads(row["lineage"])  # our own, of this run
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

    def explain(self) -> Iterator[tuple[str, str]]:
        """Yield the stages that Spark runs, each with its plan. Nothing is computed."""
        self._rows = self._keep(_in_python(self._given, _RUNS, workers.read, normalise=self._normalise))
        self._templates = self._keep(_templates(self._rows, self._processors * 8))
        self._touched = self._keep(_touched(self._runs(), self._keys((0,), "template")))
        inside, apart = self._split(self._runs(), (0,), (0,))
        assert inside is not None
        assigned = self._keep(_in_python(inside, _ASSIGNED, workers.assign, shared=None))
        yield "read", _plan(self._rows)
        yield "normalise", _plan(_row_counts(self._rows))
        yield "fingerprint", _plan(self._templates)
        yield "extract", _plan(_in_python(self._templates, _RESULTS, workers.extract_templates, shared=None))
        yield "sessions", _plan(assigned)
        yield "count", _plan(_counted(apart, assigned))

    def _runs(self) -> DataFrame:
        assert self._rows is not None
        return self._rows.where("template IS NOT NULL").select(OF_RUNS)

    def _keys(self, keys: Iterable[int], name: str) -> DataFrame:
        """Return keys as a frame with one column, to join with."""
        return self._spark.createDataFrame(pa.table({name: pa.array(sorted(keys), pa.int64())}))

    def _keep(self, frame: DataFrame) -> DataFrame:
        """Return the frame persisted on disk, so that it is computed once."""
        kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        return kept


def _row_counts(rows: DataFrame) -> DataFrame:
    """Return the counts of rows that `add_counts` adds."""
    undated = f.when(f.expr("template IS NOT NULL AND started_at IS NULL"), f.col("runs")).otherwise(0)
    return rows.groupBy("outcome", "sample").agg(f.count("*").alias("rows"), f.sum(undated).alias("undated"))


def _templates(rows: DataFrame, partitions: int) -> DataFrame:
    """Return each template's smallest text, with the number of its runs and their first and last time."""
    runs = rows.where("template IS NOT NULL").select("template", "runs", "duration_us", *_times())
    text = f.col("part.text")
    given = rows.where("part IS NOT NULL").select("template", "part")
    smallest = given.groupBy("template").agg(f.min_by("part", f.struct(f.length(text), text)).alias("part"))
    templates = _summed(runs, "template").join(smallest, "template")
    # In each task, short statements come first: the columns they use resolve ambiguous columns of longer ones.
    return templates.repartition(partitions, "template").sortWithinPartitions(f.length(text))


def _touched(runs: DataFrame, stateful: DataFrame) -> DataFrame:
    """Return the sessions in which one of these templates ran."""
    ran = runs.where("session IS NOT NULL").join(f.broadcast(stateful), "template", "left_semi")
    return ran.select("session").distinct()


def _counted(apart: DataFrame, assigned: DataFrame | None) -> DataFrame:
    """Return the counts of runs whose unit is their template, and of those that `assign_units` counted in part."""
    day = f.floor(f.col("started_at") / DAY).alias("day")
    unit = f.col("template").alias("unit"), f.lit(0).cast("bigint").alias("part")
    counts = apart.select(*unit, day, "user", "runs", "duration_us", *_times())
    if assigned is not None:
        counts = counts.unionByName(assigned.where("runs IS NOT NULL").select(COUNTED_SCHEMA.names))
    return _summed(counts, "unit", "part", "day", "user")


def _times() -> tuple[Column, Column]:
    return f.col("started_at").alias("first"), f.col("started_at").alias("last")


def _summed(runs: DataFrame, *by: str) -> DataFrame:
    """Return the measures of runs, grouped by columns: `summed` of `statistics.py`, by Spark."""
    return runs.groupBy(*by).agg(*(getattr(f, how)(name).alias(name) for name, how in MEASURES.items()))


def _in_python(frame: DataFrame, schema: StructType, function: Callable[..., Iterator[Any]], **given: Any) -> DataFrame:
    """Return the rows that a function makes of a frame's batches in Python."""
    call = partial(function, **given)
    call.__name__ = function.__name__  # type: ignore[attr-defined]  # Spark shows it in plans
    return frame.mapInArrow(call, schema)


def _plan(frame: DataFrame) -> str:
    printed = StringIO()
    with redirect_stdout(printed):
        frame.explain(mode="formatted")
    return printed.getvalue()

"""The stages on Spark: a laptop's processors, or a cluster's. Rows never come to the driver; what templates state does.

Python's part runs in `mapInArrow`, on the same functions as in-process; joining, sorting and summing is Spark's own.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import StorageLevel, inheritable_thread_target
from pyspark.sql import functions as f

from lineage.store.planning.parts import BatchPart
from lineage.store.protocol import AppliedChanges
from lineage_ingest.query_log.pipeline.definitions import Span
from lineage_ingest.query_log.pipeline.engine import LogCounts, Opener, Progress, Slice, Template, Work, unit_of
from lineage_ingest.query_log.pipeline.extraction import (
    RESULT_SCHEMA,
    Facts,
    Knowledge,
    Setting,
    UnitLineage,
    extracted,
    results_from,
)
from lineage_ingest.query_log.pipeline.sessions import ASSIGNED_SCHEMA, Member, TemplateInSession, assigned
from lineage_ingest.query_log.pipeline.statistics import JobRuns, runs_by_unit
from lineage_ingest.query_log.pipeline.templating import RUN_SCHEMA, templated
from lineage_ingest.query_log.pipeline.units import Part, Unit, work_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkEngine"]

Normalise = Callable[[Iterable[Any]], Iterator[Any]]
"""Batches of a source's rows in, batches of the log schema out; it is sent to the workers."""

_FEW = 200
"""So few units are extracted in the driver: sending them to workers would take longer."""
_LOOK_EVERY = 0.3
_ROWS_AT_ONCE = 2_000_000
_OF_SESSIONS = ("session", "template", "started_at", "position", "user", "duration_us", "runs")
_COUNTED_BY = ("unit", "part", "day", "user")


class SparkEngine:
    """Rows in Spark's storage on disk, without their texts."""

    def __init__(self, spark: SparkSession, rows: DataFrame, normalise: Normalise) -> None:
        """Take the log's rows, and what makes them rows of the log schema."""
        self._spark = spark
        self._rows = rows
        self._normalise = normalise
        self._kept: list[DataFrame] = []
        self._all: DataFrame | None = None
        self._templates: DataFrame | None = None
        self._count = 0
        self._slices: dict[int, Slice] = {}
        self._results: DataFrame | None = None
        self._again: dict[int, bytes] = {}
        self._spans: dict[int, Span] = {}
        self._counted: DataFrame | None = None
        self._runs: dict[int, dict[int, JobRuns]] = {}

    def read(self, progress: Progress) -> LogCounts:
        """Read, normalise and fingerprint all rows."""
        self._all = runs = self._keep(
            self._rows.mapInArrow(partial(_templated, normalise=self._normalise), _ddl(RUN_SCHEMA))
        )
        counts = LogCounts()
        by_outcome = runs.groupBy("outcome").agg(
            f.count("*").alias("rows"),
            f.min_by("sample", f.when(f.col("sample").isNotNull(), f.struct(f.length("sample"), "sample"))).alias(
                "sample"
            ),
        )
        for row in by_outcome.collect():
            counts.rows += row["rows"]
            if row["outcome"] is not None:
                counts.left_out[row["outcome"]] = row["rows"]
                if row["sample"] is not None:
                    counts.samples[row["outcome"]] = row["sample"]
        progress("reading", counts.rows, counts.rows)
        lineage = runs.where(f.col("template").isNotNull())
        text = f.col("part.text")
        samples = (
            lineage.where(f.col("part").isNotNull())
            .groupBy("template")
            .agg(f.min_by("part", f.struct(f.length(text), text)).alias("part"))
        )
        totals = lineage.groupBy("template").agg(
            f.min("started_at").alias("first"), f.max("started_at").alias("last"), f.sum("runs").alias("runs")
        )
        processors = self._spark.sparkContext.defaultParallelism
        self._templates = self._keep(samples.join(totals, "template").repartition(processors * 8, "template"))
        self._count = self._templates.count()
        return counts

    def templates(self) -> Iterator[Template]:
        """Yield the templates, without their texts."""
        assert self._templates is not None
        named = self._templates.select(
            "template", "part.dialect", "part.database", "part.schema", "first", "last", "runs"
        )
        for row in named.toArrow().to_pylist():
            part = Part("", "", row["dialect"], row["database"], row["schema"])
            yield Template(row["template"], part, Span(row["first"], row["last"]), row["runs"])

    def samples(self) -> list[Part]:
        """Return the sample of each template."""
        assert self._templates is not None
        return [Part.of(row["part"]) for row in self._templates.select("part").toArrow().to_pylist()]

    def sessions(self, templates: Mapping[int, TemplateInSession]) -> list[Slice]:
        """Assign every run to its unit; return the units that are no templates."""
        assert self._all is not None
        runs = self._all.where(f.col("template").isNotNull()).select(*_OF_SESSIONS)
        if any(one.facts.stateful for one in templates.values()):
            # A run without a session may go to any worker.
            runs = runs.repartition(f.coalesce("session", f.col("template").cast("string"))).sortWithinPartitions(
                *map(f.asc_nulls_last, ("session", "started_at", "position")), "template"
            )
        shared = self._spark.sparkContext.broadcast(dict(templates))
        units = self._keep(runs.mapInArrow(partial(_assigned, shared=shared), _ddl(ASSIGNED_SCHEMA)))
        for row in units.where(f.col("members").isNotNull()).select("unit", "members").collect():
            members = (Member(m["template"], m["database"], m["schema"]) for m in row["members"])
            self._slices[row["unit"]] = Slice(row["unit"], tuple(members))
        self._counted = self._keep(
            units.where(f.col("members").isNull())
            .groupBy(*_COUNTED_BY)
            .agg(
                f.sum("runs").alias("runs"),
                f.sum("duration_us").alias("duration_us"),
                f.min("first").alias("first"),
                f.max("last").alias("last"),
            )
        )
        self._runs = self._totals()
        for key, parts in self._runs.items():
            firsts = [one.first for one in parts.values() if one.first is not None]
            lasts = [one.last for one in parts.values() if one.last is not None]
            self._spans[key] = Span(min(firsts, default=None), max(lasts, default=None))
        return list(self._slices.values())

    def extract(
        self, work: Collection[Work] | None, setting: Setting, knowledge: Knowledge, progress: Progress
    ) -> Iterator[Facts]:
        """Extract units; yield what the stages have to know, keep what they state."""
        assert self._templates is not None
        if work is None:
            shared = self._spark.sparkContext.broadcast((setting, knowledge))
            self._results = self._keep(
                self._templates.mapInArrow(partial(_extracted_templates, shared=shared), _ddl(RESULT_SCHEMA))
            )
            self._watched(
                self._results.count, lambda share: progress("extracting", int(share * self._count), self._count)
            )
            for row in self._results.select("facts").toLocalIterator(prefetchPartitions=True):
                yield pickle.loads(row["facts"])  # our own, of this run
            return
        units = self._units(work)
        for done, batch in enumerate(self._extracted(units, setting, knowledge), 1):
            for facts, lineage in results_from(batch):
                self._again[facts.key] = lineage
                yield facts
            progress("extracting", min(done * 64, len(units)), len(units))

    def _watched(self, action: Callable[[], int], told: Callable[[float], None]) -> None:
        """Run an action; meanwhile tell which share of its last stage's tasks is done."""
        context = self._spark.sparkContext
        group = f"lineage-{id(self):x}"

        def run() -> None:
            context.setJobGroup(group, "lineage ingest log")
            action()

        pool = ThreadPoolExecutor(1)
        running = pool.submit(inheritable_thread_target(self._spark)(run))
        pool.shutdown(wait=False)
        tracker = context.statusTracker()
        while not wait((running,), _LOOK_EVERY).done:
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
            ids = [stage for job in jobs if job is not None for stage in job.stageIds]
            last = tracker.getStageInfo(max(ids)) if ids else None
            if last is not None and last.numTasks:
                told(last.numCompletedTasks / last.numTasks)
        running.result()
        told(1)

    def _extracted(self, units: list[Unit], setting: Setting, knowledge: Knowledge) -> Iterator[Any]:
        batches = list(work_batches(units, 64))
        if len(units) <= _FEW:
            yield from extracted(batches, setting, knowledge)
            return
        shared = self._spark.sparkContext.broadcast((setting, knowledge))
        given = self._spark.createDataFrame(pa.Table.from_batches(batches))
        processors = self._spark.sparkContext.defaultParallelism
        results = given.repartition(processors * 4).mapInArrow(partial(_extracted, shared=shared), _ddl(RESULT_SCHEMA))
        yield from results.toArrow().to_batches()

    def _units(self, work: Collection[Work]) -> list[Unit]:
        """Return the units to extract, with their texts."""
        assert self._templates is not None
        needed = {w.key for w in work if w.key not in self._slices}
        for one in work:
            if one.key in self._slices:
                needed.update(member.template for member in self._slices[one.key].members)
        keys = self._keys(needed)
        rows = self._templates.join(f.broadcast(keys), "template", "left_semi").select("template", "part")
        parts = {row["template"]: Part.of(row["part"]) for row in rows.toArrow().to_pylist()}
        units = []
        for one in work:
            span = self._spans.get(one.key, Span(None, None))
            found: Template | Slice | None = self._slices.get(one.key)
            units.append(unit_of(found or Template(one.key, parts[one.key], span, 0), parts, span, one))
        return units

    def _keys(self, templates: Iterable[int]) -> DataFrame:
        return self._spark.createDataFrame(pa.table({"template": pa.array(sorted(templates), pa.int64())}))

    def runs(self) -> dict[int, dict[int, JobRuns]]:
        """Return how often each part of each unit ran."""
        return self._runs

    def _totals(self) -> dict[int, dict[int, JobRuns]]:
        assert self._counted is not None
        summed = self._counted.groupBy("unit", "part", "user").agg(
            f.sum("runs").alias("runs"),
            f.sum("duration_us").alias("duration_us"),
            f.min("first").alias("first"),
            f.max("last").alias("last"),
        )
        return runs_by_unit(summed.toArrow())

    def days(self) -> Iterator[Any]:
        """Yield the counts of runs, some whole days at a time."""
        assert self._counted is not None
        sizes = {row["day"]: row["count"] for row in self._counted.groupBy("day").count().collect()}
        if None in sizes:
            yield self._counted.where(f.col("day").isNull()).toArrow()
        days = sorted(day for day in sizes if day is not None)
        while days:
            rows, taken = 0, 0
            while taken < len(days) and (taken == 0 or rows + sizes[days[taken]] <= _ROWS_AT_ONCE):
                rows += sizes[days[taken]]
                taken += 1
            yield self._counted.where(f.col("day").between(days[0], days[taken - 1])).toArrow()
            days = days[taken:]

    def lineage(self, units: Collection[int]) -> Iterator[tuple[int, UnitLineage]]:
        """Yield what these units state."""
        assert self._results is not None
        wanted = set(units)
        for row in self._results.select("key", "lineage").toLocalIterator(prefetchPartitions=True):
            if row["key"] in wanted and row["key"] not in self._again:
                yield row["key"], pickle.loads(row["lineage"])  # our own, of this run
        for key, lineage in self._again.items():
            if key in wanted:
                yield key, pickle.loads(lineage)

    def write(self, parts: Sequence[BatchPart], opener: Opener) -> AppliedChanges:
        """Apply parts of a batch in the workers."""
        if not parts:
            return AppliedChanges()
        dealt = self._spark.sparkContext.parallelize(parts, len(parts))
        return sum(dealt.mapPartitions(partial(_written, opener=opener)).collect(), start=AppliedChanges())

    def close(self) -> None:
        """Let go of what Spark stored."""
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()

    def _keep(self, frame: DataFrame) -> DataFrame:
        """Return the frame, so that it is computed once, into storage on disk."""
        kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        return kept


# What runs in the workers


def _templated(batches: Iterable[Any], normalise: Normalise) -> Iterator[Any]:
    return templated(normalise(batches))


def _assigned(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    return assigned(batches, shared.value)


def _extracted(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    # Syntax trees are circles of objects: looked for less often, they cost a third less.
    gc.set_threshold(50_000, 20, 50)
    setting, knowledge = shared.value
    return extracted(batches, setting, knowledge)


def _extracted_templates(batches: Iterable[Any], shared: Any) -> Iterator[Any]:
    return _extracted(work_batches(_template_units(batches), 64), shared)


def _template_units(batches: Iterable[Any]) -> Iterator[Unit]:
    for batch in batches:
        for row in batch.select(["template", "part", "first", "last"]).to_pylist():
            yield Unit(row["template"], (Part.of(row["part"]),), row["first"], row["last"])


def _written(parts: Iterable[BatchPart], opener: Opener) -> Iterator[AppliedChanges]:
    gc.set_threshold(100_000)
    with opener() as store:
        for part in parts:
            yield store.apply(part)


def _ddl(schema: Any) -> str:
    """Return an Arrow schema as Spark writes it."""
    return ", ".join(f"`{field.name}` {_type(field.type)}" for field in schema)


def _type(kind: Any) -> str:
    if pa.types.is_list(kind):
        return f"array<{_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{field.name}`: {_type(field.type)}' for field in kind)}>"
    return {pa.int64(): "bigint", pa.bool_(): "boolean", pa.binary(): "binary", pa.string(): "string"}[kind]

"""The plan of a log ingest, stage by stage, as shown to the user before it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkOptions
from lineage_ingest.query_log.pipeline.log_input import LogInput
from lineage_ingest.query_log.reading.log_files import find_log_files
from lineage_ingest.query_log.streaming.stream_input import StreamInput

__all__ = ["plan_stages"]


def plan_stages(
    given: LogInput | StreamInput, kind: EngineKind, spark: SparkOptions, plans: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the name of each stage, where it runs, what it does, and Spark's plan of it if `plans` has one, by name.

    Raises:
        NoLogFilesError: a path matches no file.
    """
    for stage in _stages(given, kind, spark):
        yield *stage, (plans or {}).get(stage[0], "")


def _stages(given: LogInput | StreamInput, kind: EngineKind, spark: SparkOptions) -> Iterator[tuple[str, str, str]]:
    source = given.source
    where = "this process" if kind is EngineKind.LOCAL else f"Spark, {spark.master or 'local[*]'}"
    together = f"; rows of one {' and '.join(source.assembly.by)} are joined" if source.assembly else ""
    yield "read", where, f"{source.title}: {_inputs(given)}"
    yield "normalise", where, f"its columns into the log schema{together}; failed statements and bad rows are counted"
    yield "fingerprint", where, "texts that differ only in literals are one template; the smallest is kept"
    yield "extract", where, "the lineage of one text per template, with the known table schemas"
    yield (
        "sessions",
        where,
        "statements of a session are resolved in order: temporary tables, USE, SET, renames, rollbacks",
    )
    yield (
        "rounds",
        where,
        "readers of tables that the log defines are resolved again, until nothing changes",
    )
    yield "count", where, "runs, users and durations of templates; use of tables and columns by day"
    yield "merge", "this process", "the lineage of all templates, by job, dataset and edge"
    yield "store", "this process", "into the graph; ingesting the same log again changes nothing"


def _inputs(given: LogInput | StreamInput) -> str:
    if isinstance(given, StreamInput):
        return f"new data of {', '.join(given.inputs)}; the stages below for each micro-batch"
    if given.jdbc is not None:
        query = given.jdbc.query or given.source.query_since(given.jdbc.since)
        return f"{given.jdbc.url.partition('?')[0]}: {query}"
    if given.is_remote:
        return ", ".join(given.paths)
    count = len(find_log_files(given.paths, given.source))
    return f"{count:,} file{'' if count == 1 else 's'}, {given.size() / 1e6:,.1f} MB"

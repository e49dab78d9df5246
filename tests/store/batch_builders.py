"""A text notation for batches and for the content of a store.

A job's lines are `a.x -> v.x` (value flow), `a.x ~> v.x` and `a.x ~> v` (influence); marks may follow:
`a.x -> v.x MASKING AGGREGATION`, or `IDENTITY AGGREGATION:MASKING`, where only one subtype masks. Datasets have the
namespace `pg`; days are in January 2024.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256

from lineage.model.batch import (
    ColumnRecord,
    DatasetChange,
    DatasetRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    definition_job_key,
)
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import column_key, dataset_key, dataset_of
from lineage.model.statement import ChangeKind, DatasetKind
from lineage.store import GraphStore
from lineage.store.values import GraphDump

NAMESPACE = "pg"


def day(number: float) -> datetime:
    """Return midnight of a day of January 2024; fractions are of a day."""
    return datetime.fromtimestamp(datetime(2024, 1, 1, tzinfo=UTC).timestamp() + (number - 1) * 86400, UTC)


def key(name: str) -> str:
    """Return the key of `v`, or of the column `v.x`; the path of a nested field may have dots.

    >>> key("v"), key("v.address.city")
    ('pg/v', 'pg/v#address.city')
    """
    dataset, dot, path = name.partition(".")
    table = dataset_key(NAMESPACE, dataset)
    return column_key(table, path) if dot else table


@dataclass(frozen=True)
class JobWithEdges:
    """A job and its edges, as part of a batch."""

    job: JobRecord
    edges: tuple[EdgeRecord, ...]


def job(
    name: str,
    *lines: str,
    at: float,
    until: float | None = None,
    kind: JobKind = JobKind.SQL_FILE,
    reads: Iterable[str] = (),
    writes: Iterable[str] = (),
    source: str | None = None,
    observations: int = 1,
    sql: str = "select …",
) -> JobWithEdges:
    """Return a job that was seen from one day until another; it reads and writes the datasets in its lines."""
    edges = tuple(_edge(line, name) for line in lines)
    read = {dataset_of(edge.source) for edge in edges} | {key(one) for one in reads}
    written = {edge.output for edge in edges} | {key(one) for one in writes}
    return JobWithEdges(
        JobRecord(
            key=name,
            kind=kind,
            first_seen=day(at),
            last_seen=day(at if until is None else until),
            reads=tuple(sorted(read)),
            writes=tuple(sorted(written)),
            sql=sql,
            dialect="postgres",
            source=source,
            operation="CREATE_VIEW",
            observations=observations,
        ),
        edges,
    )


def view(name: str, *lines: str, at: float, until: float | None = None) -> JobWithEdges:
    """Return the definition of a dataset."""
    return job(definition_job_key(key(name)), *lines, at=at, until=until, kind=JobKind.DEFINITION, writes=[name])


def query(name: str, *lines: str, at: float, until: float | None = None, reads: Iterable[str] = ()) -> JobWithEdges:
    """Return a query template, which only adds lineage."""
    return job(f"query:{name}", *lines, at=at, until=until, kind=JobKind.QUERY, reads=reads)


def table(name: str, *columns: str, at: float | None = None, kind: DatasetKind = DatasetKind.TABLE) -> DatasetRecord:
    """Return a dataset with a known schema."""
    records = tuple(ColumnRecord(path, "int", ordinal) for ordinal, path in enumerate(columns))
    when = None if at is None else day(at)
    return DatasetRecord(NAMESPACE, name, kind, "postgres", records, schema_known=True, at=when)


def drop(name: str, at: float) -> DatasetChange:
    """Return a DROP."""
    return DatasetChange(ChangeKind.DROP, f"{NAMESPACE}/{name}", day(at))


def rename(name: str, other: str, at: float) -> DatasetChange:
    """Return a RENAME."""
    return DatasetChange(ChangeKind.RENAME, f"{NAMESPACE}/{name}", day(at), f"{NAMESPACE}/{other}")


def rename_column(name: str, column: str, other: str, at: float) -> DatasetChange:
    """Return a RENAME COLUMN."""
    return DatasetChange(ChangeKind.RENAME_COLUMN, f"{NAMESPACE}/{name}", day(at), other, column)


def drop_column(name: str, column: str, at: float) -> DatasetChange:
    """Return a DROP COLUMN."""
    return DatasetChange(ChangeKind.DROP_COLUMN, f"{NAMESPACE}/{name}", day(at), column=column)


def swap(name: str, other: str, at: float) -> DatasetChange:
    """Return a SWAP."""
    return DatasetChange(ChangeKind.SWAP, f"{NAMESPACE}/{name}", day(at), f"{NAMESPACE}/{other}")


def batch(
    *parts: JobWithEdges | DatasetRecord | DatasetChange,
    at: float | None = None,
    run: str = "",
    files: Iterable[str] = (),
) -> LineageBatch:
    """Return a batch of these items, run on the day of its latest job unless a day is given."""
    jobs = [one.job for one in parts if isinstance(one, JobWithEdges)]
    changes = tuple(one for one in parts if isinstance(one, DatasetChange))
    when = max([record.last_seen for record in jobs] + [change.at for change in changes], default=day(1))
    return LineageBatch(
        run=RunRecord(
            f"run:{run or sha256(repr(parts).encode()).hexdigest()}",
            "sql",
            "tests",
            when if at is None else day(at),
            {"files": 1},
            0.5,
        ),
        datasets=tuple(one for one in parts if isinstance(one, DatasetRecord)),
        jobs=tuple(jobs),
        edges=tuple(edge for one in parts if isinstance(one, JobWithEdges) for edge in one.edges),
        changes=changes,
        complete_sources=tuple(files),
    )


def later(new_batch: LineageBatch, days: float) -> LineageBatch:
    """Return the same batch, observed again the given number of days later."""

    def moved(at: datetime) -> datetime:
        return datetime.fromtimestamp(at.timestamp() + days * 86400, UTC)

    jobs = tuple(
        replace(one, first_seen=moved(one.first_seen), last_seen=moved(one.last_seen)) for one in new_batch.jobs
    )
    return replace(new_batch, run=replace(new_batch.run, at=moved(new_batch.run.at)), jobs=jobs)


def history(store: GraphStore) -> list[str]:
    """Return every edge, live and retired, as a line with its days: `a.x -> v.x 1..3`; `1..` for a live edge."""
    return sorted(_lines(store.dump(), {"CONTRIBUTES", "CONTRIBUTED", "REFERENCES", "REFERENCED"}))


def table_history(store: GraphStore) -> list[str]:
    """Return table-level lineage, live and retired, in the same format: `a => v 1..`."""
    return sorted(_lines(store.dump(), {"FEEDS", "FED"}))


def live(store: GraphStore) -> list[str]:
    """Return the live edges, without their days."""
    return sorted(line.rpartition(" ")[0] for line in history(store) if line.endswith(".."))


def _lines(dump: GraphDump, types: set[str]) -> Iterable[str]:
    arrows = {"C": "->", "R": "~>", "F": "=>"}
    for name, source, target, properties in dump.relationships:
        if name in types:
            arrow = arrows[name[0]]
            start = properties.get("first_seen") or properties["valid_from"]
            end = properties.get("valid_to")
            days = f"{_number(start)}..{_number(end) if end else ''}"
            partly = properties.get("partly_masking")
            masks = " masked" if properties.get("masking") else f" {'+'.join(partly)} masked" if partly else ""
            yield f"{_name(source)} {arrow} {_name(target)}{masks} {days}"


def _name(node: str) -> str:
    return node.removeprefix(f"{NAMESPACE}/").replace("#", ".", 1)


def _number(at: datetime) -> str:
    return f"{(at - day(1)).total_seconds() / 86400 + 1:g}"


def _edge(line: str, job_key: str) -> EdgeRecord:
    source, arrow, target, *marks = line.split()
    contributes = arrow == "->"
    default = Subtype.IDENTITY if contributes else Subtype.FILTER
    partly = tuple(Subtype(mark.removesuffix(":MASKING")) for mark in marks if mark.endswith(":MASKING"))
    marks = [mark.removesuffix(":MASKING") for mark in marks]
    subtypes = tuple(Subtype(mark) for mark in marks if mark in Subtype.__members__) or (default,)
    return EdgeRecord(
        source=key(source),
        target=key(target),
        kind=EdgeKind.CONTRIBUTES if contributes else EdgeKind.REFERENCES,
        job=job_key,
        output=key(target.partition(".")[0]),
        subtypes=subtypes,
        masking="MASKING" in marks,
        limited="LIMITED" in marks,
        ambiguous="AMBIGUOUS" in marks,
        spans=((7, 12),),
        partly_masking=partly,
    )

"""Read datasets, columns, jobs, edges and usage, in a stable order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from typing import Any

from lineage.model.batch import JobKind
from lineage.model.influence.evidence import chains_from
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import is_column_key, schema_of, split_dataset_key
from lineage.model.namespaces import dialect_of, scheme_of
from lineage.model.statement import DatasetKind
from lineage.model.usage import UserCounts, latest
from lineage.store.graph.backend import Row, Transaction
from lineage.store.graph.reading.edge_rows import at_time, edge_rows, edge_types, is_valid, when_valid
from lineage.store.graph.reading.live_edges import date_live
from lineage.store.graph.records import (
    column_from,
    dataset_from,
    diagnostic_from,
    edge_type_of,
    job_from,
    period_from,
    reads_from,
    run_from,
    usage_from,
    users_from,
    writes_from,
)
from lineage.store.graph.schema import RELATIONSHIPS
from lineage.store.graph.statements import query
from lineage.store.planning.graph_state import EdgeType, JobOutput, RunUsage, Seen
from lineage.store.planning.validity import Period
from lineage.store.values import (
    ColumnHead,
    Direction,
    Hop,
    LiveDataset,
    SchemaCount,
    StoredColumn,
    StoredDataset,
    StoredDiagnostic,
    StoredEdge,
    StoredJob,
    StoredRun,
    StoredStep,
    StoredUsage,
)

__all__ = [
    "column_spellings",
    "columns",
    "dataset_keys",
    "dataset_keys_ending",
    "dataset_names",
    "datasets",
    "diagnostics",
    "edge_from",
    "edges_of_pairs",
    "expand",
    "job_keys",
    "jobs",
    "live_datasets",
    "runs",
    "schema_counts",
    "steps",
    "usage",
    "usages",
]


_MOST_SUFFIXES = 500
"""Beyond this, to compare all of them with each name in the database takes longer than to read all keys."""


def datasets(transaction: Transaction, keys: Collection[str] | None = None) -> list[StoredDataset]:
    """Return the datasets of these keys (all, without keys), sorted by key."""
    rows = _by_key(transaction, "datasets_by_key", keys, every="all_datasets")
    return sorted((dataset_from(row["n"]) for row in rows), key=lambda dataset: dataset.key)


def job_keys(transaction: Transaction) -> list[str]:
    """Return the keys of all jobs, sorted."""
    return sorted(row["key"] for row in transaction.read(query("all_job_keys"), [{}]))


def live_datasets(transaction: Transaction) -> list[LiveDataset]:
    """Return what an overview needs of all datasets but dropped ones, sorted by key."""
    kinds = {str(kind): kind for kind in DatasetKind}
    rows = transaction.read(query("live_datasets"), [{}])
    found = (
        LiveDataset(
            row["key"], row["namespace"], row["name"], kinds[row["kind"]], row["facts"], tuple(row["tags"] or ())
        )
        for row in rows
    )
    return sorted(found, key=lambda one: one.key)


def schema_counts(transaction: Transaction) -> list[SchemaCount]:
    """Return how many tables each schema has, without dropped ones, sorted."""
    counts: Counter[tuple[str, str]] = Counter()
    exposures: Counter[tuple[str, str]] = Counter()
    for row in transaction.read(query("schema_counts"), [{}]):
        schema = row["namespace"], schema_of(row["name"])
        counts[schema] += row["tables"]
        exposures[schema] += row["exposures"]
    return [SchemaCount(*schema, number, exposures[schema]) for schema, number in sorted(counts.items())]


def dataset_keys(transaction: Transaction) -> list[str]:
    """Return the keys of all datasets, sorted."""
    return sorted(row["key"] for row in transaction.read(query("all_dataset_keys"), [{}]))


def dataset_keys_ending(transaction: Transaction, names: Collection[str]) -> list[str]:
    """Return the keys of the datasets whose full names end in a dot and one of these names, sorted."""
    wanted = {name.lower() for name in names}
    if len(wanted) > _MOST_SUFFIXES:
        return [key for key in dataset_keys(transaction) if not wanted.isdisjoint(_last_parts(key.lower()))]
    suffixes = [f".{name}" for name in sorted(wanted)]
    rows = transaction.read(query("dataset_keys_by_last_parts"), [{"suffixes": suffixes}]) if suffixes else ()
    return sorted(row["key"] for row in rows)


def _last_parts(key: str) -> Iterator[str]:
    """Yield what follows each dot of the name in a key."""
    rest = split_dataset_key(key)[1]
    while dot := rest.find(".") + 1:
        rest = rest[dot:]
        yield rest


def dataset_names(transaction: Transaction, keys: Collection[str]) -> dict[str, str]:
    """Return the full names of the datasets of these keys, as people write them."""
    found: dict[str, str] = {}
    for row in _by_key(transaction, "dataset_names", keys):
        found.update(zip(row["keys"], row["names"], strict=True))
    return found


def column_spellings(transaction: Transaction, keys: Collection[str]) -> dict[str, str]:
    """Return the paths of these columns by key, as written, where that differs from the key.

    Columns of dialects that show names as they compare them are not looked up.
    """
    dialects = {key: dialect_of(scheme_of(key).partition("/")[0]) for key in keys}
    asked = [key for key, dialect in dialects.items() if dialect is None or dialect.shows_columns]
    found: dict[str, str] = {}
    for row in _by_key(transaction, "column_spellings", asked) if asked else ():
        found.update(zip(row["keys"], row["spellings"], strict=True))
    return found


def columns(transaction: Transaction, datasets: Collection[str], *, dropped: bool = False) -> list[StoredColumn]:
    """Return the columns of these datasets, by dataset, ordinal and path; those without an ordinal last."""
    found = (column_from(row["n"]) for row in _by_key(transaction, "columns_of_dataset", datasets))
    return sorted((column for column in found if dropped or column.dropped_at is None), key=_place)


def column_heads(transaction: Transaction, datasets: Collection[str]) -> list[ColumnHead]:
    """Return what the schemas of these datasets say of their columns, as `columns` sorts them."""
    return sorted((ColumnHead(**row) for row in _by_key(transaction, "column_heads", datasets)), key=_place)


def _place(column: StoredColumn | ColumnHead) -> tuple[str, bool, int, str]:
    return column.dataset, column.ordinal is None, column.ordinal or 0, column.path


def expand(
    transaction: Transaction,
    keys: Collection[str],
    direction: Direction,
    *,
    kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
    as_of: datetime | None = None,
) -> list[Hop]:
    """Return one hop from columns, their fields and their parents, and from the rows of datasets."""
    asked = sorted(set(keys))
    datasets = [key for key in asked if not is_column_key(key)]
    reached: dict[str, set[str]] = {key: {key} for key in asked}
    for step in ("fields_of_column", "parent_of_column"):
        for found, via in _climb(transaction, step, asked).items():
            reached.setdefault(found, set()).update(via)
    relations = [EdgeType(str(kind)) for kind in sorted(set(kinds))]
    if not relations:
        return []
    if direction is Direction.DOWNSTREAM:
        rows = edge_rows(transaction, "out_of_column", reached, relations, as_of)
        if EdgeType.REFERENCES in relations:
            rows += edge_rows(transaction, "out_of_dataset", datasets, [EdgeType.REFERENCES], as_of)
    else:
        rows = edge_rows(transaction, "into_column", reached, relations, as_of)
        if EdgeType.REFERENCES in relations:
            rows += edge_rows(transaction, "into_dataset", datasets, [EdgeType.REFERENCES], as_of)
    edges = date_live(transaction, [edge_from(row) for row in rows])
    hops = [Hop(via, edge) for row, edge in zip(rows, edges, strict=True) for via in reached[row["asked"]]]
    return sorted(hops, key=_hop_order)


def edges_of_pairs(
    transaction: Transaction,
    pairs: Collection[tuple[str, str]],
    *,
    kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
    as_of: datetime | None = None,
) -> list[StoredEdge]:
    """Return the edges of these pairs of columns or datasets, sorted."""
    relations = [EdgeType(str(kind)) for kind in sorted(set(kinds))]
    labelled: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for source, target in sorted(set(pairs)):
        labelled[_label(source), _label(target)].append({"source": source, "target": target})
    found: list[StoredEdge] = []
    for ends, rows in labelled.items():
        types = edge_types([one for one in relations if ends in RELATIONSHIPS[one].ends], as_of)
        if types:
            statement = query("edges_of_pairs", **{"from": ends[:1]}, to=ends[1:], types=types)
            found += [
                edge_from(row)
                for row in transaction.read(statement, rows)
                if as_of is None or is_valid(row["e"], as_of)
            ]
    return sorted(
        date_live(transaction, found), key=lambda edge: (edge.source, edge.target, edge.kind, edge.job, edge.valid_from)
    )


def steps(
    transaction: Transaction, pairs: Collection[tuple[str, str, EdgeKind]], *, as_of: datetime | None = None
) -> list[StoredStep]:
    """Return the edges of these pairs of columns or datasets, job by job, sorted."""
    groups: dict[tuple[str, str, EdgeKind], list[dict[str, Any]]] = defaultdict(list)
    for source, target, kind in set(pairs):
        row = {"source": source, "target": target, **at_time(as_of)}
        groups[_label(source), _label(target), kind].append(row)
    stored_steps: list[StoredStep] = []
    ended: dict[int, datetime] = {}
    for (label, to, kind), rows in groups.items():
        types = edge_types([EdgeType(str(kind))], as_of)
        name = "steps" if as_of is None else "steps_then"
        statement = query(name, **{"from": (label,)}, to=(to,), types=types, when=when_valid(as_of))
        for row in transaction.read(statement, rows):
            if row.get("until") is not None:
                ended[len(stored_steps)] = row["until"]
            stored_steps.append(
                StoredStep(
                    source=row["source"],
                    target=row["target"],
                    kind=kind,
                    job=row["job"],
                    subtypes=tuple(Subtype(subtype) for subtype in row["subtypes"] or ()),
                    masking=row["masking"] or False,
                    spans=chains_from(row["spans"]),
                    partly_masking=tuple(Subtype(subtype) for subtype in row["partly_masking"] or ()),
                )
            )
    jobs = _jobs_by_key(transaction, {stored_steps[position].job for position in ended})
    for position, until in ended.items():
        if _has_other_sql(jobs.get(stored_steps[position].job), until):
            stored_steps[position] = replace(stored_steps[position], spans=())
    return sorted(stored_steps, key=lambda step: (step.source, step.target, step.kind, step.job))


def _jobs_by_key(transaction: Transaction, keys: Collection[str]) -> dict[str, StoredJob]:
    return {row["n"]["key"]: job_from(row["n"]) for row in _by_key(transaction, "jobs_by_key", keys)}


def _has_other_sql(job: StoredJob | None, until: datetime) -> bool:
    """Return whether the SQL of a job has been replaced since the end of an edge: only its last SQL is kept."""
    if job is None or job.kind not in (JobKind.DBT, JobKind.DEFINITION, JobKind.SQL_FILE):
        return False
    return job.retired_at is None or job.retired_at > until


def _label(key: str) -> str:
    return "Column" if is_column_key(key) else "Table"


def jobs(
    transaction: Transaction, keys: Collection[str] | None = None, *, users: bool = False, runs: bool = True
) -> list[StoredJob]:
    """Return the jobs of these keys (all, without keys), sorted by key; their users only with `users`."""
    jobs_by_key = {
        row["n"]["key"]: job_from(row["n"]) for row in _by_key(transaction, "jobs_by_key", keys, every="all_jobs")
    }
    if not runs:
        return [jobs_by_key[key] for key in sorted(jobs_by_key)]
    reads: dict[str, dict[str, Seen]] = defaultdict(dict)
    for row in _by_key(transaction, "reads_of_job", jobs_by_key):
        reads[row["job"]][row["dataset"]] = reads_from(row["e"], jobs_by_key[row["job"]])
    writes: dict[str, dict[str, JobOutput]] = defaultdict(dict)
    for row in _by_key(transaction, "writes_of_job", jobs_by_key):
        writes[row["job"]][row["dataset"]] = writes_from(row["e"], jobs_by_key[row["job"]])
    observations: dict[str, int] = defaultdict(int)
    durations: dict[str, int] = defaultdict(int)
    for row in _by_key(transaction, "counts_of_job", jobs_by_key):
        observations[row["job"]] += row["observations"]
        durations[row["job"]] += row["duration_us"] or 0
    users_of: dict[str, list[UserCounts]] = defaultdict(list)
    for row in _by_key(transaction, "users_of_job", jobs_by_key) if users else ():
        users_of[row["job"]].append(users_from(row))
    answer = []
    for key, job in sorted(jobs_by_key.items()):
        # A job that defines its output reads and writes what its latest version does.
        defines, retired = job.kind.defines_output, job.retired_at is not None
        now_read = (k for k, seen in reads[key].items() if not defines or seen.last_seen >= job.last_seen)
        now_written = (k for k, unit in writes[key].items() if not defines or unit.timeline.present)
        answer.append(
            replace(
                job,
                observations=observations[key],
                reads=() if retired else tuple(sorted(now_read)),
                writes=() if retired else tuple(sorted(now_written)),
                duration_us=durations[key],
                users=UserCounts.joined(users_of[key]) if users else None,
            )
        )
    return answer


def runs(transaction: Transaction, limit: int = 20) -> list[StoredRun]:
    """Return the latest ingests, newest first."""
    return [run_from(row["n"]) for row in transaction.read(query("latest_runs"), [{"limit": limit}])]


def diagnostics(transaction: Transaction, source: str | None = None) -> list[StoredDiagnostic]:
    """Return the stored diagnostics, of one source if given, sorted by source and position."""
    if source is None:
        rows = transaction.read(query("all_diagnostics"), [{}])
    else:
        rows = transaction.read(query("diagnostics_of_sources"), [{"sources": [source]}])
    return sorted((diagnostic_from(row["n"]) for row in rows), key=_by_position)


def usage(
    transaction: Transaction, of: str, *, since: date | None = None, until: date | None = None
) -> list[StoredUsage]:
    """Return the use of a dataset or column by day, summed over runs."""
    return usages(transaction, [of], since=since, until=until)


def usages(
    transaction: Transaction, of: Collection[str], *, since: date | None = None, until: date | None = None
) -> list[StoredUsage]:
    """Return the use of datasets and columns by day, summed over runs, sorted by key and day."""
    days: dict[tuple[str, date], list[RunUsage]] = defaultdict(list)
    between = {"since": since or date.min, "until": until or date.max}
    for label, name in (("Table", "usage_of_dataset_between"), ("Column", "usage_of_column_between")):
        asked = [{"key": key, **between} for key in sorted(set(of)) if is_column_key(key) == (label == "Column")]
        for row in transaction.read(query(name), asked):
            used = usage_from(row["n"], row["of"])
            days[row["of"], row["n"]["day"]].append(used)
    return [
        StoredUsage(
            of=key,
            day=day,
            reads=sum(used.reads for used in count_changes),
            writes=sum(used.writes for used in count_changes),
            users=UserCounts.joined(used.users for used in count_changes),
            last_read=latest(*(used.last_read for used in count_changes)),
            last_write=latest(*(used.last_write for used in count_changes)),
        )
        for (key, day), count_changes in sorted(days.items())
    ]


def _by_key(transaction: Transaction, name: str, keys: Collection[str] | None, every: str = "") -> list[dict[str, Any]]:
    if keys is None:
        return transaction.read(query(every), [{}])
    return transaction.read(query(name), [{"key": key} for key in sorted(set(keys))])


def _climb(transaction: Transaction, step: str, keys: Iterable[str]) -> dict[str, set[str]]:
    """Return what repeated steps from these keys reach, with the keys that it was reached from."""
    reached: dict[str, set[str]] = {}
    level = {key: {key} for key in keys}
    while level:
        rows = transaction.read(query(step), [{"key": key} for key in sorted(level)])
        following: dict[str, set[str]] = {}
        for row in rows:
            following.setdefault(row["found"], set()).update(level[row["asked"]])
        for key, via in following.items():
            reached.setdefault(key, set()).update(via)
        level = following
    return reached


def edge_from(row: Row) -> StoredEdge:
    """Return the edge of a row with source, target and `e`."""
    relationship = row["e"]
    period: Period = period_from(relationship)
    meaning = period.meaning
    return StoredEdge(
        source=row["source"],
        target=row["target"],
        kind=_kind_of(relationship["type"]),
        job=relationship["job"],
        subtypes=meaning.subtypes,
        masking=meaning.masking,
        limited=meaning.limited,
        ambiguous=meaning.ambiguous,
        spans=period.spans,
        valid_from=period.start,
        last_seen=period.last_seen,
        valid_to=period.end,
        partly_masking=meaning.partly_masking,
    )


@cache
def _kind_of(relationship_type: str) -> EdgeKind:
    return EdgeKind(str(edge_type_of(relationship_type)))


def _hop_order(hop: Hop) -> tuple[object, ...]:
    edge = hop.edge
    return (hop.via, edge.source, edge.target, edge.kind, edge.job, edge.valid_from)


def _by_position(found: StoredDiagnostic) -> tuple[object, ...]:
    span = found.diagnostic.span
    return (found.source, found.job or "", span.start if span else -1, found.diagnostic.code, found.key)

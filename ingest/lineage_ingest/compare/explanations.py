"""Explain differences: what the graph and the export know that makes one of two opinions incomplete, not wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta

from lineage.model.names import dataset_of, is_column_key, split_column_key, split_dataset_key
from lineage.model.statement import Completeness
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredEdge, StoredJob
from lineage_ingest.compare.graph_names import GraphNames, root_of
from lineage_ingest.compare.opinions import Opinion, OpinionLineage
from lineage_ingest.compare.our_lineage import OurLineage
from lineage_ingest.compare.verdicts import ComparedEdge, EdgeVerdict, Reason

__all__ = ["Explanations", "shown_name"]

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_ONE_STATEMENT = timedelta(seconds=5)
"""Edges that a run states into one table within this time are of one statement."""
_SLACK = timedelta(hours=1)
"""Products record lineage after the statement has begun: a smaller difference of times explains nothing."""


class Explanations:
    """Reasons of differences, from the most specific to none."""

    def __init__(self, stated: OpinionLineage, columns: Collection[str], names: GraphNames, ours: OurLineage) -> None:
        self._stated = stated
        self._columns = columns
        self._names = names
        self._ours = ours
        self._datasets = {names.datasets.get(key, key) for key in stated.datasets()}
        self._constant = {root_of(names.key_of(key)) for key in stated.written_without_source}
        self._agreed: dict[str, datetime] = {}
        """When they last stated an edge into each table that agrees: their statement was ours then."""
        self._shared: dict[tuple[str, str], set[datetime]] = defaultdict(set)
        """When a run of theirs stated an edge into a table that we have too, by table and run."""
        self._then: dict[tuple[str, str], StoredEdge] = {}

    def load(
        self,
        store: GraphStore,
        edges: Iterable[ComparedEdge],
        as_of: datetime | None,
        progress: Callable[[str, int, int | None], None],
    ) -> None:
        """Load what the reasons need: the jobs that write the tables of differences, and the graph at their times.

        Raises:
            StoreError: the store could not be read.
        """
        listed = list(edges)
        differing = [edge for edge in listed if edge.verdict.is_difference]
        for edge in listed:
            if edge.verdict is EdgeVerdict.AGREE and edge.theirs is not None and edge.theirs.last_at is not None:
                target = dataset_of(edge.target)
                self._agreed[target] = max(edge.theirs.last_at, self._agreed.get(target, _LONG_AGO))
            if edge.ours and edge.theirs is not None and (run := edge.theirs.run or edge.theirs.entity):
                self._shared[dataset_of(edge.target), run].add(edge.theirs.last_at or _LONG_AGO)
        theirs = [edge for edge in differing if edge.verdict is EdgeVerdict.ONLY_THEIRS]
        self._ours.load_writers(store, {dataset_of(edge.target) for edge in theirs})
        self._ours.load_jobs(store, {one.job for edge in differing for one in edge.ours})
        times: dict[datetime, set[str]] = defaultdict(set)
        wanted = set()
        for edge in theirs:
            if edge.theirs is not None and edge.theirs.last_at is not None:
                times[edge.theirs.last_at].add(dataset_of(edge.target))
                wanted.add((edge.source, edge.target))
        for number, (at, targets) in enumerate(sorted(times.items()), 1):
            if as_of is None or at <= as_of:
                for found in store.edges_into(sorted(targets), as_of=at):
                    if (found.source, found.target) in wanted:
                        self._then[found.source, found.target] = found
            progress("history", number, len(times))

    def of(self, edge: ComparedEdge) -> tuple[Reason, str]:
        """Return the reason of a difference, and its explanation."""
        return self._of_theirs(edge) if edge.verdict is EdgeVerdict.ONLY_THEIRS else self._of_ours(edge)

    def _of_theirs(self, edge: ComparedEdge) -> tuple[Reason, str]:
        theirs, target, source = edge.theirs, dataset_of(edge.target), dataset_of(edge.source)
        assert theirs is not None
        if (then := self._then.get((edge.source, edge.target))) is not None:
            ended = f" on {then.valid_to:%Y-%m-%d %H:%M}" if then.valid_to is not None else ""
            return Reason.RETIRED, f"ours ended{ended}, after they last saw theirs"
        if unknown := self._names.unknown_columns((edge.source, edge.target)):
            listed = " and ".join(map(shown_name, unknown))
            return Reason.COLUMN_UNKNOWN, f"the graph has no column {listed}"
        if theirs.through:
            listed = ", ".join(map(_table, theirs.through))
            return Reason.UNKNOWN_TABLE_BETWEEN, f"they state it through {listed}, which the graph does not have"
        writers = [self._ours.jobs[key] for key in self._ours.writers.get(target, ())]
        reading = [job for job in writers if source in job.reads]
        for job in reading:
            if job.completeness in (Completeness.TABLES, Completeness.NONE):
                return Reason.TABLE_LEVEL, f"ours is at table level only: {_job(job)} could not be resolved"
        for job in reading or writers:
            if job.completeness is not Completeness.FULL:
                return Reason.PARTIAL, f"{_job(job)}, which writes it, is resolved in part ({job.completeness})"
        if not reading and is_column_key(edge.target) and self._is_of_shared_statement(target, theirs):
            because = f"ours reads the statement without {_table(source)}: other edges of this run agree"
            return Reason.UNEXPLAINED, because
        if not reading:
            return Reason.STATEMENT_UNKNOWN, f"no statement in the graph writes {_table(target)} from {_table(source)}"
        latest = max([job.last_seen for job in reading] + [self._agreed.get(target, _LONG_AGO)])
        if theirs.first_at is not None and theirs.first_at > latest + _SLACK:
            return Reason.NEWER, f"they first saw it after our latest statement that agrees ({latest:%Y-%m-%d %H:%M})"
        return Reason.UNEXPLAINED, "ours reads the same statement otherwise, or they do: compare the proofs"

    def _is_of_shared_statement(self, target: str, theirs: Opinion) -> bool:
        """Return whether the run that states an edge also states one into the same table that we have."""
        at = theirs.last_at or _LONG_AGO
        times = self._shared.get((target, theirs.run or theirs.entity or ""), ())
        return any(abs(at - other) <= _ONE_STATEMENT for other in times)

    def _of_ours(self, edge: ComparedEdge) -> tuple[Reason, str]:
        target = root_of(edge.target)
        if edge.ours and all(one.ambiguous for one in edge.ours):
            return Reason.AMBIGUOUS, "our edge is one of several possible ones: a column has no table before it"
        if dataset_of(edge.source) not in self._datasets:
            return Reason.SOURCE_UNSTATED, f"their export does not mention {_table(dataset_of(edge.source))}"
        if is_column_key(target) and target not in self._columns:
            return Reason.TARGET_UNSTATED, f"their export says nothing of {shown_name(target)}"
        since, until = self._stated.first_at, self._stated.last_at
        if until is not None and edge.ours and all(one.valid_from > until + _SLACK for one in edge.ours):
            return Reason.OTHER_PERIOD, f"ours is newer than their export, which ends {until:%Y-%m-%d %H:%M}"
        if since is not None and edge.ours and all(one.last_seen < since - _SLACK for one in edge.ours):
            return Reason.OTHER_PERIOD, f"ours is older than their export, which begins {since:%Y-%m-%d %H:%M}"
        for one in edge.ours:
            job = self._ours.jobs.get(one.job)
            if job is not None and job.completeness is not Completeness.FULL:
                return Reason.PARTIAL, f"{_job(job)}, which states ours, is resolved in part ({job.completeness})"
        if target in self._constant:
            return Reason.CONSTANT, "they say that the column is written without a source"
        return Reason.UNEXPLAINED, "they list other sources of this column: compare the proofs"


def shown_name(key: str) -> str:
    """Return the name of a column or table by its key, without the namespace."""
    dataset, path = split_column_key(key)
    return f"{_table(dataset)}.{path}" if is_column_key(key) else _table(dataset)


def _table(key: str) -> str:
    return split_dataset_key(key)[1]


def _job(job: StoredJob) -> str:
    return job.source or job.key

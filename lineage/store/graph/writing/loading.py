"""Load the part of the graph that a batch may change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from lineage.model.batch import definition_job_key, event_job_key_under
from lineage.model.names import is_column_key
from lineage.model.statement import ChangeKind
from lineage.store.graph.backend import Row, Transaction
from lineage.store.graph.reading.known_names import KnownNames
from lineage.store.graph.records import (
    column_from,
    dataset_from,
    diagnostic_from,
    edge_type_of,
    job_from,
    observed_from,
    period_from,
    prune_from,
    reads_from,
    run_from,
    usage_from,
    writes_from,
)
from lineage.store.graph.statements import query
from lineage.store.planning.chunking.chunks import Stage
from lineage.store.planning.graph_state import GraphState, JobEdge, Prune, change_key, usage_key
from lineage.store.planning.intake import Intake
from lineage.store.planning.rival_definitions import FILE_JOBS, live_writers
from lineage.store.planning.validity import Period

__all__ = ["load_edges_between", "load_jobs", "load_state", "load_units_that_only_add"]

_OF_UNITS = ("edges_of_units", "row_edges_of_units", "feeds_of_units")
_AROUND = (
    "edges_into_dataset",
    "row_edges_into_dataset",
    "feeds_into_dataset",
    "edges_out_of_dataset",
    "row_edges_out_of_dataset",
    "table_edges_out_of_dataset",
    "feeds_out_of_dataset",
)
_MANY_JOBS = 100
"""From this number on, jobs are looked up by their run instead of one by one."""
_OUT_OF_COLUMN = ("edges_out_of_column", "row_edges_out_of_column")
_AROUND_COLUMN = (*_OUT_OF_COLUMN, "edges_into_column")


def load_state(transaction: Transaction, intake: Intake, names: KnownNames) -> GraphState:
    """Return everything that the batch may change, and everything that the changes depend on."""
    return _Loading(transaction, intake, names).load()


def load_units_that_only_add(transaction: Transaction, prune: Prune) -> GraphState:
    """Return the units of ad-hoc jobs with their histories, and the prune if it is stored."""
    state = GraphState()
    for row in transaction.read(query("prunes_by_key"), [{"key": prune.key}]):
        state.prunes[prune.key] = prune_from(row["n"])
    units = [(row["job"], row["output"]) for row in transaction.read(query("units_that_only_add"), [{}])]
    _load_histories(transaction, state, units)
    return state


def load_edges_between(transaction: Transaction, source: str, target: str) -> GraphState:
    """Return the histories of all edges between two nodes."""
    state = GraphState()
    rows = [row for name in _OUT_OF_COLUMN for row in transaction.read(query(name), [{"key": source}])]
    _add_lineage(state, [row for row in rows if row["target"] == target])
    _date_live_edges(transaction, state)
    return state


def load_jobs(transaction: Transaction, keys: Collection[str]) -> GraphState:
    """Return jobs with everything related to them, and their diagnostics and those of their files."""
    state = GraphState()
    asked = [{"key": key} for key in sorted(set(keys))]
    state.jobs = {row["n"]["key"]: job_from(row["n"]) for row in transaction.read(query("jobs_by_key"), asked)}
    asked = [{"key": key} for key in state.jobs]
    for row in transaction.read(query("reads_of_job"), asked):
        state.reads[row["job"], row["dataset"]] = reads_from(row["e"], state.jobs[row["job"]])
    for row in transaction.read(query("writes_of_job"), asked):
        state.units[row["job"], row["dataset"]] = writes_from(row["e"], state.jobs[row["job"]])
    for row in transaction.read(query("observed_of_job"), asked):
        state.observed[row["run"], row["job"]] = observed_from(row["e"])
    _load_histories(transaction, state, state.units)
    _date_live_edges(transaction, state)
    rows = transaction.read(query("diagnostics_of_job"), asked)
    files = sorted({job.file_key for job in state.jobs.values() if job.file_key is not None})
    rows += transaction.read(query("diagnostics_of_origins"), [{"sources": files}] if files else [])
    for diagnostic in (diagnostic_from(row["n"]) for row in rows):
        of_files = diagnostic.file_key is not None or diagnostic.run.startswith("sql:")
        if diagnostic.job in state.jobs or (diagnostic.job is None and of_files):
            state.diagnostics[diagnostic.key] = diagnostic
    return state


class _Loading:
    def __init__(self, transaction: Transaction, intake: Intake, names: KnownNames) -> None:
        self.transaction = transaction
        self.intake = intake
        self.naming = names.naming
        changes = {change_key(change.stated): change for change in names.changes}
        self.state = GraphState(changes=changes, aliases=dict(names.aliases))

    def load(self) -> GraphState:
        state, intake, stages = self.state, self.intake, self.intake.stages
        observed = {observation.job.key for observation in intake.observations}
        changed = self._changed_datasets() if Stage.CHANGES in stages else set()
        if Stage.NODES in stages:
            changed |= self._remade_datasets()
        self._load_datasets(changed)
        jobs = self._around(changed) if changed else set()
        if stages & {Stage.JOBS, Stage.RUN}:
            jobs |= observed
        self._load_jobs(jobs)
        if Stage.RETIREMENT in stages:
            self._load_retirable(self.intake.observed_jobs)
        if changed or stages & {Stage.JOBS, Stage.RETIREMENT, Stage.CHANGES}:
            self._load_links()
        if stages & {Stage.JOBS, Stage.RETIREMENT}:
            self._load_units(observed)
        if Stage.JOBS in stages:
            self._load_prunes()
        self._load_runs(changed)
        if changed or Stage.RUN in stages:
            self._load_diagnostics()
        if changed or Stage.DATASETS in stages:
            self._load_usage(changed)
        if Stage.DATASETS in stages:
            self._load_lineage_of_absent_columns()
        if Stage.RUN in stages and intake.complete_sources:
            self._load_unplaced()
        _date_live_edges(self.transaction, state)
        return state

    def _rows(self, name: str, rows: Iterable[Row]) -> list[dict[str, Any]]:
        return self.transaction.read(query(name), list(rows))

    def _by_key(self, name: str, keys: Collection[str]) -> list[dict[str, Any]]:
        return self._rows(name, [{"key": key} for key in sorted(keys)])

    def _changed_datasets(self) -> set[str]:
        """Return the datasets of changes that are new to the graph, by their old and current keys."""
        keys: set[str] = set()
        for change in self.intake.changes:
            if change_key(change) in self.state.changes:
                continue
            for key in change.datasets:
                keys |= {key, self.naming.after(key, change)}
        for key, root in self.naming.aliases.items():
            if self.state.aliases.get(key) != root:
                keys |= {key, root}
        return keys

    def _remade_datasets(self) -> set[str]:
        """Return the datasets that the batch re-creates after a known DROP."""
        keys: set[str] = set()
        for change in self.state.changes.values():
            if change.stated.kind is ChangeKind.DROP and not change.replaced and not change.remade:
                key = self.naming.after(change.stated.dataset, change.stated)
                reference = self.intake.references.get(key)
                if reference is not None and reference.is_made_again(change.stated.at):
                    keys.add(key)
        return keys

    def _load_datasets(self, changed: set[str]) -> None:
        """Load the datasets that change or are referenced, with the columns that may change."""
        with_columns = set(changed)
        referenced: set[str] = set()
        if self.intake.stages & {Stage.NODES, Stage.DATASETS}:
            referenced.update(self.intake.references)
        if Stage.NODES in self.intake.stages:
            with_columns.update(key for key, reference in self.intake.references.items() if reference.columns)
        if Stage.DATASETS in self.intake.stages:
            with_columns.update(news.key for news in self.intake.datasets)
            with_columns.update(record.dataset for record in self.intake.facts)
        for row in self._by_key("datasets_by_key", changed | referenced):
            dataset = dataset_from(row["n"])
            self.state.datasets[dataset.key] = dataset
        for row in self._by_key("columns_of_dataset", with_columns & self.state.datasets.keys()):
            column = column_from(row["n"])
            self.state.columns[column.key] = column

    def _around(self, datasets: set[str]) -> set[str]:
        """Load all lineage into and out of these datasets; return the jobs related to them."""
        keys = datasets & self.state.datasets.keys()
        for name in _AROUND:
            _add_lineage(self.state, self._by_key(name, keys))
        jobs = {pair.job for pair in self.state.histories}
        jobs |= {row["job"] for row in self._by_key("jobs_touching_dataset", keys)}
        return jobs | {definition_job_key(key) for key in datasets}

    def _load_jobs(self, keys: set[str]) -> None:
        for row in self._by_key("jobs_by_key", keys):
            job = job_from(row["n"])
            self.state.jobs[job.key] = job

    def _load_retirable(self, observed: set[str]) -> None:
        """Load the jobs that complete sources no longer contain. An observed job is not retired."""
        sources = sorted(self.intake.complete_sources)
        for row in self._rows("jobs_by_source", [{"sources": sources}] if sources else []):
            if row["n"]["key"] not in observed:
                job = job_from(row["n"])
                self.state.jobs[job.key] = job

    def _load_links(self) -> None:
        jobs = self.state.jobs.keys()
        for row in self._by_key("reads_of_job", jobs):
            self.state.reads[row["job"], row["dataset"]] = reads_from(row["e"], self.state.jobs[row["job"]])
        for row in self._by_key("writes_of_job", jobs):
            self.state.units[row["job"], row["dataset"]] = writes_from(row["e"], self.state.jobs[row["job"]])

    def _load_units(self, observed: set[str]) -> None:
        """Load the lineage of the observed and retired jobs, including outputs that they no longer write."""
        state, sources = self.state, self.intake.complete_sources
        named = {
            (observation.job.key, output)
            for observation in self.intake.observations
            if observation.job.key in state.jobs
            for output in observation.outputs
        }
        stated = [unit for unit in state.units if unit[0] in observed or state.jobs[unit[0]].origin in sources]
        _load_histories(self.transaction, state, {*named, *stated})

    def _load_prunes(self) -> None:
        """Load the prunes that apply to observations of ad-hoc jobs."""
        seen = [one.job.last_seen for one in self.intake.observations if not one.job.kind.defines_output]
        for row in self._rows("prunes_since", [{"at": min(seen)}] if seen else []):
            prune = prune_from(row["n"])
            self.state.prunes[prune.key] = prune

    def _load_runs(self, changed: set[str]) -> None:
        """Load the run, the runs of complete sources of the jobs, and the runs that observed renamed jobs."""
        intake, state = self.intake, self.state
        rows: list[dict[str, Any]] = []
        if Stage.RUN in intake.stages:
            rows += self._by_key("runs_by_key", {intake.run.key})
        sources = {observation.job.file_key or observation.job.source for observation in intake.observations} - {None}
        if Stage.JOBS in intake.stages and sources:
            earliest = min(observation.job.last_seen for observation in intake.observations)
            rows += self._rows("runs_seen_after", [{"at": earliest}])
        for run in (run_from(row["n"]) for row in rows):
            if run.key == intake.run.key or not sources.isdisjoint(run.complete_sources):
                state.runs[run.key] = run
        renamed = {definition_job_key(key) for key in changed}
        renamed |= {key for key in state.jobs if event_job_key_under(key, self.naming.aliases) != key}
        whole = {key for key, run in state.runs.items() if key != intake.run.key or run.complete_sources}
        own = {observation.job.key for observation in intake.observations}
        if intake.run.key in state.runs and (intake.complete_sources or len(own) >= _MANY_JOBS):
            whole.add(intake.run.key)
        # A run of an hour of events has all jobs of that hour; each batch observes only some.
        singly = own if intake.run.key in state.runs.keys() - whole else ()
        observed = [
            *self._by_key("observed_by_run", whole),
            *self._rows("observed_in_run", [{"run": intake.run.key, "key": key} for key in sorted(singly)]),
            *self._by_key("observed_of_job", renamed & state.jobs.keys()),
        ]
        for row in observed:
            state.observed[row["run"], row["job"]] = observed_from(row["e"])

    def _load_diagnostics(self) -> None:
        if not self._rows("any_diagnostic", [{}]):  # saves a query per job
            return
        sources = {*self.intake.complete_sources, *(record.origin for record in self.intake.diagnostics)}
        rows = self._by_key("diagnostics_of_job", self.state.jobs.keys())
        rows += self._rows("diagnostics_of_origins", [{"sources": sorted(sources)}] if sources else [])
        for found in (diagnostic_from(row["n"]) for row in rows):
            self.state.diagnostics[found.key] = found

    def _load_usage(self, changed: set[str]) -> None:
        run = self.intake.run.key
        keys = {usage_key(run, used.of, used.day): used.of for used in self.intake.usage}
        # Most are new, and checking for a node is faster than reading its relationship.
        there = {row["key"] for row in self._by_key("usage_keys", keys.keys())}
        of_datasets = {key for key in there if not is_column_key(keys[key])}
        rows = [
            *self._by_key("usage_of_dataset_by_key", of_datasets),
            *self._by_key("usage_of_column_by_key", there - of_datasets),
            *self._by_key("usage_of_dataset", changed),
            *self._by_key("usage_within_dataset", changed),
        ]
        for used in (usage_from(row["n"], row["of"]) for row in rows):
            self.state.usage[used.key] = used

    def _load_lineage_of_absent_columns(self) -> None:
        """Load all lineage of columns that are missing in the newest known schemas; it decides whether they stay."""
        whole = [news for news in self.intake.datasets if news.record.schema_known]
        newest: dict[str, datetime] = {}
        for news in whole:
            known = self.state.datasets.get(news.key)
            times = (news.at, newest.get(news.key), known.schema_at if known else None)
            newest[news.key] = max(at for at in times if at is not None)
        named = {
            (news.key, column.path)
            for news in whole
            if news.at == newest[news.key]
            for column in news.record.schema_columns
        }
        absent = {
            column.key
            for column in self.state.columns.values()
            if column.dataset in newest and (column.dataset, column.path) not in named
        }
        self._load_fate_of(absent)

    def _load_unplaced(self) -> None:
        """Load the columns of these files' outputs that a complete schema lacks and another file's definition kept."""
        rows = self._rows("unplaced_columns_of_sources", [{"sources": sorted(self.intake.complete_sources)}])
        columns = [column_from(row["n"]) for row in rows]
        datasets = {column.dataset for column in columns}
        for row in self._by_key("datasets_by_key", datasets - self.state.datasets.keys()):
            dataset = dataset_from(row["n"])
            self.state.datasets[dataset.key] = dataset
        for row in self._by_key("columns_of_dataset", datasets):
            column = column_from(row["n"])
            self.state.columns[column.key] = column
        self.state.unplaced = frozenset(column.key for column in columns)
        self._load_fate_of(self.state.unplaced)

    def _load_fate_of(self, columns: Collection[str]) -> None:
        """Load what decides whether columns that a complete schema lacks stay: all their lineage and its jobs."""
        for name in _AROUND_COLUMN:
            _add_lineage(self.state, self._by_key(name, columns))
        self.state.bound_columns |= {row["of"] for row in self._by_key("used_columns", columns)}
        self._load_rivals({self.state.columns[key].dataset for key in live_writers(self.state, columns)})

    def _load_rivals(self, datasets: Collection[str]) -> None:
        """Load the SQL files' jobs that write these datasets, and when they did."""
        jobs = {
            row["job"] for row in self._by_key("jobs_touching_dataset", datasets) if row["job"].startswith(FILE_JOBS)
        }
        self._load_jobs(jobs - self.state.jobs.keys())
        for row in self._by_key("writes_of_job", jobs):
            unit = writes_from(row["e"], self.state.jobs[row["job"]])
            self.state.units.setdefault((row["job"], row["dataset"]), unit)


def _date_live_edges(transaction: Transaction, state: GraphState) -> None:
    """Date the live edges of files and dbt models by their unit: what is unchanged is seen again without its edges."""
    jobs = {pair.job for pair, found in state.histories.items() if found[-1].live and pair.job.startswith(FILE_JOBS)}
    seen = {unit: one.last_seen for unit, one in state.units.items() if unit[0] in jobs}
    rows = [{"key": key} for key in sorted(jobs - {job for job, _ in seen})]
    for row in transaction.read(query("times_of_outputs"), rows):
        seen[row["job"], row["dataset"]] = row["last_seen"]
    for pair, history in state.histories.items():
        at = seen.get((pair.job, pair.output))
        if at is not None and history[-1].live and history[-1].last_seen < at:
            state.histories[pair] = (*history[:-1], history[-1]._replace(last_seen=at))


def _load_histories(transaction: Transaction, state: GraphState, units: Iterable[tuple[str, str]]) -> None:
    jobs_of: dict[str, list[str]] = defaultdict(list)
    for job, output in units:
        jobs_of[output].append(job)
    rows = [{"output": output, "jobs": sorted(jobs)} for output, jobs in sorted(jobs_of.items())]
    for name in _OF_UNITS:
        _add_lineage(state, transaction.read(query(name), rows))


def _add_lineage(state: GraphState, rows: Iterable[Row]) -> None:
    periods: dict[JobEdge, set[Period]] = defaultdict(set)
    for row in rows:
        edge = row["e"]
        pair = JobEdge(
            source=row["source"],
            target=row["target"],
            relation=edge_type_of(edge["type"]),
            job=edge["job"],
            from_dataset=row["from_dataset"],
            output=row["output"],
        )
        periods[pair].add(period_from(edge))
    for pair, found in periods.items():
        # An edge within one dataset is found in both directions.
        known = {*state.histories.get(pair, ()), *found}
        state.histories[pair] = tuple(sorted(known, key=lambda period: period.start))

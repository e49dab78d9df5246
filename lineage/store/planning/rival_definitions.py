"""Tables that several SQL files define: a column that one lacks may be defined by another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from lineage.model.batch import JobKind
from lineage.model.files import FileKey
from lineage.store.planning.graph_state import GraphState
from lineage.store.planning.observations import ABSENT
from lineage.store.values import StoredJob

__all__ = ["FILE_JOBS", "columns_of_other_files", "live_writers"]

FILE_JOBS = ("file:", "dbt:")
"""How the keys of jobs begin that SQL files and dbt projects define."""
_FILES = (JobKind.SQL_FILE, JobKind.DBT)


def live_writers(state: GraphState, columns: Collection[str]) -> dict[str, set[str]]:
    """Return the jobs of SQL files with live lineage into each of these columns."""
    found: dict[str, set[str]] = {}
    for pair, history in state.histories.items():
        if pair.target in columns and history[-1].live and pair.job.startswith(FILE_JOBS):
            found.setdefault(pair.target, set()).add(pair.job)
    return found


def columns_of_other_files(state: GraphState, absent: Mapping[str, datetime]) -> set[str]:
    """Return the columns (given by key, with the time of a complete schema without them) that another file defines.

    If the schema comes from a file as well, both apply, as in a single ingest: either may be the current one.
    The state must contain the jobs that write the datasets of these columns.
    """
    writers = live_writers(state, absent.keys())
    kept: set[str] = set()
    for key, jobs in writers.items():
        dataset, at = state.columns[key].dataset, absent[key]
        by_schema = [job for job in _file_jobs(state, dataset) if _was_observed(state, job, dataset, at)]
        if by_schema and any(_is_other(state.jobs[one], by_schema) for one in jobs if one in state.jobs):
            kept.add(key)
    return kept


def _file_jobs(state: GraphState, dataset: str) -> list[StoredJob]:
    jobs = (state.jobs.get(job) for job, output in state.units if output == dataset)
    return [job for job in jobs if job is not None and job.kind in _FILES]


def _was_observed(state: GraphState, job: StoredJob, dataset: str, at: datetime) -> bool:
    timeline = state.units[job.key, dataset].timeline
    # A job that is retired by the ingest of the schema is absent at that time.
    return any(moment == at for moment, _ in timeline.points) and timeline.content_at(at) != ABSENT


def _is_other(job: StoredJob, by_schema: Collection[StoredJob]) -> bool:
    """Return whether a job belongs to another project than the schema, or defines the table in another file."""
    if job.kind not in _FILES or any(job.file_key == one.file_key for one in by_schema):
        return False
    defines = (job.operation or "").startswith(("CREATE", "SELECT", "DBT"))
    return defines or _project(job) not in {_project(one) for one in by_schema}


def _project(job: StoredJob) -> str | None:
    return None if job.file_key is None else FileKey.parse(job.file_key).project

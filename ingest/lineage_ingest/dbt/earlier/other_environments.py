"""The nodes that a store has of a project in other environments than the one that is ingested, and of other projects.

An environment is where dbt's target puts its tables, as far as a manifest shows it. Its name can change although the
tables stay: with the first model that has no custom schema, for example.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from lineage.model.batch import JobKind, LineageBatch, dbt_job_key
from lineage.model.files import FileKey
from lineage.model.names import split_dataset_key
from lineage.model.text.name_lists import name_list
from lineage.screen.listing import counted
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore

__all__ = ["nodes_built_here", "notices_of_others"]


def nodes_built_here(
    store: GraphStore, others: Collection[str], tables: Mapping[str, str], stated: Collection[str]
) -> set[str]:
    """Return those of some file keys of other environments whose nodes have the table that they have here.

    `tables` are the datasets of the nodes by unique id, `stated` the nodes that are stated anew. A table has what was
    built last. An environment of which all models are found here is this one, by an earlier name: nothing of it stays.

    Raises:
        StoreError: the store could not be read.
    """
    datasets = sorted({tables[key] for key in stated})
    listed = store.job_keys_of(datasets, JobFilter(kinds=(JobKind.DBT,))) if datasets else {}
    wanted = {dbt_job_key(key): FileKey.parse(key) for key in others}
    jobs = store.jobs(sorted({job for found in listed.values() for job in found} & wanted.keys()))
    same = {wanted[one.key] for one in jobs if one.writes == (tables.get(wanted[one.key].path),)}
    elsewhere = {key.environment for key in wanted.values() if key.path in tables and key not in same}
    renamed = {key.environment for key in same} - elsewhere
    return {str(key) for key in wanted.values() if key in same or key.environment in renamed}


def notices_of_others(
    store: GraphStore, batch: LineageBatch, project: str, elsewhere: Collection[str], replaced: Collection[str]
) -> Iterator[str]:
    """Yield notices about a project's nodes, by file key, in other environments, and about those replaced there.

    Then those about other dbt projects that build tables which the project's batch states.

    Raises:
        StoreError: the store could not be read.
    """
    for environment, count in sorted(_by_environment(replaced).items()):
        yield (
            f"{counted(count, 'node')} of {project} as {environment} replaced: the tables that they had are built by "
            "the models of this manifest"
        )
    for environment, count in sorted(_by_environment(elsewhere).items()):
        yield (
            f"the store has {count:,} nodes of {project} as {environment}, too; if that is no longer right: "
            f"lineage forget --project {shlex.quote(f'dbt/{project}')} --environment {shlex.quote(environment)}"
        )
    yield from _notices_of_projects(store, batch)


def _notices_of_projects(store: GraphStore, batch: LineageBatch) -> Iterator[str]:
    built = [job for job in batch.jobs if _node_of(job.key).path.startswith(_BUILT)]
    own = {key for job in built for key in job.writes}
    projects = {_node_of(job.key).project for job in batch.jobs}
    found = store.job_keys_of(sorted(own), JobFilter(kinds=(JobKind.DBT,))) if own else {}
    others = {key for jobs in found.values() for key in jobs if _node_of(key).project not in projects}
    shared: dict[str, set[str]] = {}
    for job in store.jobs(sorted(others)) if others else ():
        node = _node_of(job.key)
        if node.path.startswith(_BUILT):
            shared.setdefault(node.project, set()).update(own.intersection(job.writes))
    for other, tables in sorted(shared.items()):
        if tables:
            names = name_list(sorted(split_dataset_key(one)[1] for one in tables), 3)
            yield (
                f"{other} builds {counted(len(tables), 'table')} of this project as well ({names}): they have the "
                f"lineage of both; if it has another name now: lineage forget --project {shlex.quote(other)}"
            )


def _node_of(job: str) -> FileKey:
    """Return the node of a dbt job."""
    return FileKey.parse(f"dbt/{job.partition(':')[2]}")


_BUILT = ("model.", "snapshot.")
"""Unique ids of nodes that define their tables."""


def _by_environment(keys: Collection[str]) -> Counter[str]:
    return Counter(str(FileKey.parse(key).environment) for key in keys)

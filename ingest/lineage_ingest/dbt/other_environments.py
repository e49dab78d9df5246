"""The nodes of a project that a store has in other environments than the one that is ingested.

An environment is where dbt's target puts its tables, as far as a manifest shows it. Its name can change although the
tables stay: with the first model that has no custom schema, for example.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from lineage.cli.listing import counted
from lineage.model.batch import JobKind, dbt_job_key
from lineage.model.files import FileKey
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore

__all__ = ["environment_notices", "nodes_built_here"]


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


def environment_notices(project: str, elsewhere: Collection[str], replaced: Collection[str]) -> Iterator[str]:
    """Yield notices about a project's nodes, by file key, in other environments, and about those replaced there."""
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


def _by_environment(keys: Collection[str]) -> Counter[str]:
    return Counter(str(FileKey.parse(key).environment) for key in keys)

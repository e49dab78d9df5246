"""Lineage in the form of LineageX's output.json: by table, the columns that each of its columns comes from.

https://github.com/sfu-db/lineagex: `tables` are the tables that it reads, `columns` have two lists, of the columns that
contribute and of those that are referenced; `sql` is what defines it. What decides the rows of a table is referenced
by all of its columns. A table that nothing writes has empty names in their places.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from lineage.export.graph_part import GraphPart
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredEdge, StoredJob

__all__ = ["lineagex_tables"]

_BASE_TABLE = "this is a base table"


def lineagex_tables(store: GraphStore, part: GraphPart) -> tuple[dict[str, Any], list[StoredJob]]:
    """Return the tables of a part of the graph by name, and the jobs that state their edges. Literals are masked.

    A name that tables of several namespaces have is written with its namespace.

    Raises:
        StoreError: the store could not be read.
    """
    names = _names(part)
    jobs = {one.key: one for one in store.jobs({edge.job for edge in part.edges})}
    columns = {one.key: (one.dataset, one.display_path) for one in part.columns}
    into: dict[str, list[StoredEdge]] = defaultdict(list)
    for edge in part.edges:
        into[dataset_of(edge.target)].append(edge)
    shown = {key: f"{names[dataset]}.{path}" for key, (dataset, path) in columns.items()}
    own: dict[str, dict[str, str]] = {one.key: {} for one in part.datasets}
    for key, (dataset, path) in columns.items():
        own[dataset][key] = path
    found = {
        names[one.key]: _table(names, own[one.key], into.get(one.key, []), shown, jobs, one.key)
        for one in part.datasets
    }
    return found, list(jobs.values())


def _names(part: GraphPart) -> dict[str, str]:
    counts = Counter(one.display_name for one in part.datasets)
    return {one.key: one.display_name if counts[one.display_name] == 1 else one.key for one in part.datasets}


def _table(
    names: Mapping[str, str],
    columns: Mapping[str, str],
    edges: list[StoredEdge],
    shown: Mapping[str, str],
    jobs: Mapping[str, StoredJob],
    dataset: str,
) -> dict[str, Any]:
    if not edges:
        empty = {path: [[""], [""]] for path in columns.values()}
        return {"tables": [""], "columns": empty, "table_name": names[dataset], "sql": _BASE_TABLE}
    values: dict[str, set[str]] = defaultdict(set)
    influences: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if is_column_key(edge.source):
            chosen = values if edge.kind is EdgeKind.CONTRIBUTES else influences
            chosen[edge.target].add(shown.get(edge.source, edge.source))
    texts = dict.fromkeys(job.sql for key in sorted({edge.job for edge in edges}) if (job := jobs.get(key)) and job.sql)
    return {
        "tables": sorted({names[dataset_of(edge.source)] for edge in edges} - {names[dataset]}),
        "columns": {
            path: [sorted(values[key]), sorted(influences[key] | influences[dataset])] for key, path in columns.items()
        },
        "table_name": names[dataset],
        "sql": ";\n\n".join(texts),
    }

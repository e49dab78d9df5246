"""Datasets with several keys, such as a path that a catalog knows as a table.

The main key does not depend on the order in which the keys become known: a catalog's name precedes a path, otherwise
the first in sort order is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from lineage.model.names import column_key, split_dataset_key
from lineage.model.namespaces import is_path, preferred_key
from lineage.model.statement import DatasetKind
from lineage.store.planning.columns import remove_columns
from lineage.store.planning.graph_state import GraphState, JobEdge, JobOutput
from lineage.store.planning.naming import NamesOverTime, column_as_named
from lineage.store.planning.renaming.renames import Rekeying
from lineage.store.planning.validity import History, holds_at, merge_periods

__all__ = ["join_aliased", "find_main_keys"]


def find_main_keys(known: Mapping[str, str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the main key of each key that has another one, given further pairs of keys of one dataset.

    >>> find_main_keys({}, [("s3://b/t", "hive://m:1/d.t"), ("s3://b/t", "glue:x/d.t")])
    {'s3://b/t': 'glue:x/d.t', 'hive://m:1/d.t': 'glue:x/d.t'}
    """
    above = dict(known)

    def top(key: str) -> str:
        while key in above:
            key = above[key]
        return key

    for pair in pairs:
        tops = set(map(top, pair))
        if len(tops) > 1:
            one = preferred_key(tops)
            (other,) = tops - {one}
            above[other] = one
    return {key: top(key) for key in above}


def join_aliased(state: GraphState, naming: NamesOverTime) -> None:
    """Merge datasets that a new alias identifies, with their lineage, columns and usage of all times.

    The state must contain all lineage of these datasets.
    """
    news = {key: root for key, root in naming.aliases.items() if state.aliases.get(key) != root}
    state.aliases.update(news)
    keys = {key: root for key, root in news.items() if key in state.datasets}
    for key in sorted(keys):
        _join(state, key, keys[key])


def _join(state: GraphState, key: str, root: str) -> None:
    arriving, there = state.datasets[key], state.datasets.get(root)
    if arriving.kind is DatasetKind.FILE and not is_path(root):
        arriving = replace(arriving, kind=DatasetKind.TABLE, kind_at=None)
    state.datasets[key] = replace(
        arriving, aliases=tuple(sorted({*arriving.aliases, "/".join(split_dataset_key(key))}))
    )
    described = there.schema_at if there is not None else None
    is_newer_there = described is not None and (arriving.schema_at is None or described >= arriving.schema_at)
    gone = _columns_of_the_older_schema(state, key, root)
    rekeying = Rekeying({key: root}, frozenset([root] if is_newer_there else []), column_as_named)
    joined = _histories_of_joined_units(state, rekeying)
    rekeying.apply(state)
    state.histories.update(joined)
    remove_columns(state, gone)


def _columns_of_the_older_schema(state: GraphState, key: str, root: str) -> dict[str, datetime]:
    """Return the columns (by new key) that only the older of two complete schemas has, with the newer one's time."""
    times = {one: known.schema_at for one in (key, root) if (known := state.datasets.get(one)) is not None}
    described = sorted((at, one) for one, at in times.items() if at is not None)
    if len(described) < 2:
        return {}
    columns: dict[str, set[str]] = {key: set(), root: set()}
    for column in state.columns.values():
        if column.dataset in columns and column.ordinal is not None:
            columns[column.dataset].add(column_as_named(root, column.path))
    (_, older), (at, newer) = described
    return {column_key(root, path): at for path in columns[older] - columns[newer]}


def _histories_of_joined_units(state: GraphState, rekeying: Rekeying) -> dict[JobEdge, History]:
    """Return the merged histories of two units: each observation applies until the next one of either."""
    found: dict[JobEdge, History] = {}
    for link, unit in state.units.items():
        new = rekeying.link(link)
        other = state.units.get(new)
        if new == link or other is None or not state.jobs[link[0]].kind.defines_output:
            continue
        observed = sorted({*((at, 0) for at in _moments(other)), *((at, 1) for at in _moments(unit))})
        said: dict[JobEdge, tuple[History, History]] = {}
        for pair, history in state.histories.items():
            if (pair.job, pair.output) == new:
                said[pair] = (history, said.get(pair, ((), ()))[1])
            elif (pair.job, pair.output) == link:
                moved = rekeying.pair(pair)
                said[moved] = (said.get(moved, ((), ()))[0], history)
        for pair, both in said.items():
            periods = []
            for (at, whose), until in zip(observed, [*(after for after, _ in observed[1:]), None], strict=True):
                held = next((one for one in both[whose] if holds_at(one.start, one.end, at)), None)
                if held is not None and until != at:
                    ends = [end for end in (held.end, until) if end is not None]
                    periods.append(held._replace(start=at, end=min(ends, default=None), last_seen=at))
            found[pair] = merge_periods(periods)
    return found


def _moments(unit: JobOutput) -> set[datetime]:
    return {unit.first_seen, unit.last_seen, *(at for at, _ in unit.timeline.points)}

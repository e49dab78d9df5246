"""The classes of personal data that some columns hold, as a picture marks them: their own, and those that arrive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime

from lineage.frozen import frozen
from lineage.governance.exposure import Exposure, ValueEffects
from lineage.governance.propagation import load_value_graph, spread
from lineage.governance.report.pii_report import sources_among
from lineage.governance.tags.tagging import Classification
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import ColumnPath, column_key, dataset_of, is_column_key, split_column_key
from lineage.store.protocol import GraphStore
from lineage.traversal import Target, TraversalOptions, root_cause

__all__ = ["HeldClass", "HeldClasses", "held_classes"]

_ANY_DISTANCE = 1_000_000


@frozen
class HeldClass:
    """A class of personal data in a column: how much is shown, and the key of the column that it comes from."""

    name: str
    exposure: Exposure
    source: str


@frozen
class HeldClasses:
    """The classes by the key of their column; those without any are left out."""

    by_column: dict[str, tuple[HeldClass, ...]]
    cuts: tuple[str, ...]
    """Why not all that leads to these columns was looked at; then there may be more."""


def held_classes(
    store: GraphStore,
    classification: Classification,
    functions: ValueEffects,
    columns: Collection[str],
    *,
    as_of: datetime | None = None,
    most: int = 10_000,
    timeout: float | None = None,
) -> HeldClasses:
    """Return the classes that these columns (keys) hold, by today's tags and the edges of now, or of a time.

    They are those of the report (`make_report`) on all columns; a nested field also has those of the columns that it is
    part of, and they have its. Of several sources of a class, the one counts that shows most. At most `most` columns
    above are looked at.

    Raises:
        StoreTimeoutError: it took longer than `timeout` seconds.
        StoreError: the store could not be read.
    """
    asked = sorted({key for key in columns if is_column_key(key)})
    if not asked or not classification.tags:
        return HeldClasses({}, ())
    kinds = frozenset({EdgeKind.CONTRIBUTES})
    options = TraversalOptions(_ANY_DISTANCE, kinds, limit_total=most, as_of=as_of, timeout=timeout)
    above = root_cause(store, [_target(key) for key in asked], options)
    tables = {dataset_of(key) for key in asked} | {one.dataset for one in above.outlines}
    starts = [key for key in classification.columns_of() if dataset_of(key) in tables]
    graph = load_value_graph(store, starts, functions, tables=tables, as_of=as_of)
    best: defaultdict[str, dict[str, HeldClass]] = defaultdict(dict)
    spreads = {}
    for start in starts:
        names = {one.name for one in classification.tags[start]}
        stops = {key for key in classification.denials if key != start and classification.denies(key, names)}
        spreads[start] = spread(graph, start, stops)
    for start in sorted(sources_among(spreads, classification)):
        shown = {start: Exposure.UNMASKED} | {key: one.exposure for key, one in spreads[start].reached.items()}
        for key, exposure in shown.items():
            names = {one.name for one in classification.tags[start]}
            denied = {one.name for one in classification.denials.get(key, ())}
            _add(best[key], (HeldClass(name, exposure, start) for name in names - denied))
    families = _families(best.keys())
    by_column = {}
    for key in asked:
        classes: dict[str, HeldClass] = {}
        for member in families[key] | {parent for parent in _parents(key) if parent in best}:
            _add(classes, best[member].values())
        denials = classification.denials.get(key, ())
        kept = tuple(classes[name] for name in sorted(classes) if not any(one.name == name for one in denials))
        if kept and not classification.denies(key, classes):
            by_column[key] = kept
    return HeldClasses(by_column, above.cuts)


def _add(classes: dict[str, HeldClass], more: Iterable[HeldClass]) -> None:
    for one in more:
        known = classes.get(one.name)
        if known is None or (one.exposure.rank, one.source) < (known.exposure.rank, known.source):
            classes[one.name] = one


def _families(keys: Iterable[str]) -> defaultdict[str, set[str]]:
    """Return, by the key of each column, those of these keys that are the column or its fields at any depth."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for key in keys:
        for one in (key, *_parents(key)):
            found[one].add(key)
    return found


def _parents(key: str) -> list[str]:
    dataset, text = split_column_key(key)
    found = []
    path = ColumnPath.parse(text).parent
    while path is not None:
        found.append(column_key(dataset, str(path)))
        path = path.parent
    return found


def _target(key: str) -> Target:
    dataset, path = split_column_key(key)
    return Target(key, key, dataset, path)

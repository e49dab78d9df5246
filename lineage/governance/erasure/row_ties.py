"""How the rows of tables are tied to a person: by columns that SQL joins, by copies of keys, or by their names alone.

A join says that two columns hold the same values, not which of them is a key: `orders.product_id = products.id` does
not make a product the person's. So ties lead from the key of a table's rows only: the column that the user gives, and
of other tables `id`, `order_id` of `orders`, or a column with a test for uniqueness.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage.frozen import frozen
from lineage.governance.erasure.compared_columns import compared
from lineage.governance.exposure import Exposure
from lineage.governance.propagation import ValueGraph, spread
from lineage.governance.sql_proofs import Proof, proof_of
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import dataset_of, short_name, split_column_key
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset, StoredEdge

__all__ = ["Tie", "copies_of", "joined_columns", "named_like", "row_keys", "source_of"]

_TESTED = ("unique", "primary_key")


@frozen(order=True)
class Tie:
    """That a column holds the values of the key of another table's rows; `how` says why it is believed.

    `is_sure` is false if only its name says so, or if the value is computed on its way.
    """

    column: str
    key: str
    how: str
    proof: Proof | None = None
    is_sure: bool = True


def joined_columns(store: GraphStore, key: str) -> list[Tie]:
    """Return the columns that any SQL compares for equality with a column, in a join, a filter or a MERGE.

    Raises:
        StoreError: the store could not be read.
    """
    hops = store.expand([key], Direction.DOWNSTREAM, kinds=[EdgeKind.REFERENCES])
    mine = [hop.edge for hop in hops if hop.edge.source == key and _joins(hop.edge)]
    into = store.edges_into({dataset_of(edge.target) for edge in mine})
    jobs = {job.key: job for job in store.jobs({edge.job for edge in mine})}
    by_place: defaultdict[tuple[str, str], list[StoredEdge]] = defaultdict(list)
    for edge in into:
        if _joins(edge) and "#" in edge.source and dataset_of(edge.source) != dataset_of(key):
            by_place[edge.job, edge.target].append(edge)
    found: dict[str, Tie] = {}
    for edge in mine:
        job = jobs.get(edge.job)
        if job is None or job.sql is None:
            continue
        for other in by_place[edge.job, edge.target]:
            place = compared(job.sql, edge.spans, other.spans)
            known = found.get(other.source)
            if place is None or (known is not None and known.is_sure >= (not place.is_computed)):
                continue
            how = "compared with what is computed from it" if place.is_computed else "joined"
            proof = proof_of(job, edge.job, [(place.start, place.end)])
            found[other.source] = Tie(other.source, key, how, proof, not place.is_computed)
    return [found[column] for column in sorted(found)]


def copies_of(graph: ValueGraph, column: str) -> Iterator[Tie]:
    """Yield the columns to which the value of a column flows as it is; one that is computed on its way is not sure."""
    for key, reach in spread(graph, column).reached.items():
        if reach.exposure is Exposure.UNMASKED and dataset_of(key) != dataset_of(column):
            same = all(Subtype.IDENTITY in step.subtypes for step in reach.path)
            last = reach.path[-1]
            proof = proof_of(graph.jobs.get(last.job), last.job, last.spans)
            yield Tie(key, column, "copied" if same else "computed from it", proof, same)


def source_of(store: GraphStore, column: str) -> str | None:
    """Return the one column that a column is made from, if the value is taken as it is; None if there are several.

    Raises:
        StoreError: the store could not be read.
    """
    edges = [hop.edge for hop in store.expand([column], Direction.UPSTREAM, kinds=[EdgeKind.CONTRIBUTES])]
    sources = {edge.source for edge in edges}
    return sources.pop() if len(sources) == 1 and all(edge.subtypes == (Subtype.IDENTITY,) for edge in edges) else None


def row_keys(dataset: StoredDataset, columns: Iterable[StoredColumn]) -> list[str]:
    """Return the columns that identify the rows of a table, by a test or by their names; the likeliest first."""
    singular = _singular(short_name(dataset.name).lower())
    names = ("id", f"{singular}_id", f"{singular}id", f"{singular}_key")
    stated = dataset.stated_facts
    unique = [(one.kind, one.columns) for facts in stated for one in facts.checks]
    unique += [(one.kind, one.columns) for facts in stated for one in facts.constraints]
    tested = {paths[0] for kind, paths in unique if kind in _TESTED and len(paths) == 1}
    listed = [one for one in columns if one.path in tested or one.path.lower() in names]
    return [
        one.key for one in sorted(listed, key=lambda one: (one.path not in tested, _place(one.path, names), one.key))
    ]


def named_like(
    key: str, datasets: Mapping[str, StoredDataset], by_name: Mapping[str, Collection[StoredColumn]]
) -> list[Tie]:
    """Return the columns whose names say that they hold a key: `customer_id` for `id` of `customers`."""
    dataset, path = split_column_key(key)
    singular = _singular(short_name(datasets[dataset].name).lower())
    name = path.lower() if path.lower().startswith(singular) else f"{singular}_{path.lower()}"
    return [
        Tie(one.key, key, "by its name only", None, is_sure=False)
        for one in by_name.get(name, ())
        if one.dataset != dataset and datasets[one.dataset].namespace == datasets[dataset].namespace
    ]


def _joins(edge: StoredEdge) -> bool:
    return (
        edge.kind is EdgeKind.REFERENCES
        and bool({Subtype.JOIN, Subtype.FILTER, Subtype.MERGE_MATCH} & {*edge.subtypes})
        and not edge.masking
    )


def _place(path: str, names: tuple[str, ...]) -> int:
    return names.index(path.lower()) if path.lower() in names else len(names)


def _singular(name: str) -> str:
    """Return the singular of a table's name, by the rules of English.

    >>> [_singular(name) for name in ("customers", "categories", "addresses", "address", "person")]
    ['customer', 'category', 'address', 'address', 'person']
    """
    if name.endswith("ies"):
        return name[:-3] + "y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name

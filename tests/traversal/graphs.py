"""Random small graphs with all that lineage knows: fields, several jobs, masks, influence on rows, ended edges."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st

from lineage.model.influence.transformations import EdgeKind
from lineage.store.values import StoredEdge
from lineage.traversal import TraversalOptions
from tests.traversal.fake_store import NOW, edge

TABLES = {"a": ["1", "s", "s.f", "s.g", "s.g.h"], "b": ["1", "2", "3"], "c": ["1"], "d": ["1", "2"], "e": ["1", "2"]}
COLUMNS = [f"{table}#{column}" for table, columns in TABLES.items() for column in columns]
LATER = NOW + timedelta(days=10)


def _edge(pair: tuple[str, str, str], job: str, masking: bool, ended: bool) -> StoredEdge:
    until = LATER if ended else None
    return edge(" ".join(pair), job=f"{job}>{pair[2].partition('#')[0]}", masking=masking, until=until)


_PAIRS = st.one_of(
    st.tuples(st.sampled_from(COLUMNS), st.just("->"), st.sampled_from(COLUMNS)),
    st.tuples(st.sampled_from(COLUMNS), st.just("~>"), st.sampled_from([*COLUMNS, *TABLES])),
    st.tuples(st.sampled_from([*TABLES]), st.just("~>"), st.sampled_from([*COLUMNS, *TABLES])).filter(
        lambda pair: pair[2].partition("#")[0] != pair[0]
    ),
)
_EDGES = st.builds(_edge, _PAIRS, st.sampled_from(["one", "two"]), st.booleans(), st.just(False))
_ENDED = st.builds(_edge, _PAIRS, st.sampled_from(["one", "two"]), st.booleans(), st.booleans())


def graphs(size: int = 24, *, ended: bool = False) -> st.SearchStrategy[list[StoredEdge]]:
    """Return graphs of at most so many edges."""
    edges = _ENDED if ended else _EDGES
    return st.lists(edges, max_size=size, unique_by=lambda each: (each.source, each.target, each.kind, each.job))


def options() -> st.SearchStrategy[TraversalOptions]:
    """Return bounds of all kinds."""
    kinds = [frozenset(EdgeKind), *(frozenset({kind}) for kind in EdgeKind)]
    return st.builds(
        TraversalOptions,
        max_hops=st.sampled_from([1, 2, 3, 5, 20]),
        kinds=st.sampled_from([kinds[0], *kinds]),
        max_references=st.sampled_from([None, None, 0, 1, 2]),
        limit_per_hop=st.sampled_from([None, None, 1, 2, 3]),
        limit_total=st.sampled_from([10_000, 10_000, 1, 3, 6]),
        as_of=st.sampled_from([None, NOW + timedelta(days=1), LATER]),
        through_masking=st.sampled_from([True, True, False]),
    )

"""Compare what a product states with the graph, edge by edge, over the tables that both know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import dataset_of, is_column_key, split_column_key, split_dataset_key
from lineage.model.text.name_lists import name_list
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredEdge
from lineage.traversal.lookup import names_of
from lineage_ingest.compare.explanations import Explanations, shown_name
from lineage_ingest.compare.graph_names import GraphNames, is_related, root_of
from lineage_ingest.compare.opinions import Opinion, OpinionLineage
from lineage_ingest.compare.our_lineage import OurLineage
from lineage_ingest.compare.unknown_tables import compose_unknown_tables
from lineage_ingest.compare.verdicts import ComparedEdge, Comparison, EdgeVerdict, Reason

__all__ = ["compare_stated"]

Progress = Callable[[str, int, int | None], None]
_Pair = tuple[str, str]
_MAX_STEPS = 12
"""Maximum length of a path through their edges."""
_VALUE = "ours says that the value flows; they say that it only influences"


def compare_stated(
    stated: OpinionLineage,
    store: GraphStore,
    into: Comparison,
    *,
    as_of: datetime | None,
    states_influence: bool,
    any_namespace: bool,
    progress: Progress,
    every: bool = False,
) -> Comparison:
    """Fill in the verdicts on all edges that an export states, and on ours into the tables of which it states some.

    Args:
        stated: the export.
        store: the graph.
        into: the comparison, without verdicts.
        as_of: compare with the graph as of this time.
        states_influence: whether the product states influence too, so that a reference of ours may be missing.
        any_namespace: whether a table may be found under another namespace, if its name is unique.
        progress: called with each stage, the amount done, and the total.
        every: load the statements of edges that agree, too.

    Raises:
        StoreError: the store could not be read.
    """
    names = GraphNames.of(store, stated.datasets(), any_namespace=any_namespace)
    theirs = _Theirs.of(stated, names, into)
    ours = OurLineage.of(store, theirs.tables, as_of, progress)
    work = _Comparing(theirs, ours, into, states_influence, names)
    unmatched = work.compare_theirs()
    ours.explore_upstream(store, {edge.target for edge in unmatched}, as_of, progress)
    ours.load_views(store)
    work.settle_paths(unmatched)
    work.compare_ours()
    explanations = Explanations(stated, theirs.columns, names, ours)
    explanations.load(store, into.edges, as_of, progress)
    for edge in into.edges:
        if edge.verdict.is_difference and edge.reason is None:
            edge.reason, edge.because = explanations.of(edge)
    into.edges.sort(key=lambda one: (one.target, one.source, str(one.verdict)))
    into.tables = len(theirs.tables)
    _load_proofs(store, into, ours, every)
    _add_notices(into, names)
    return into


@dataclass(slots=True)
class _Theirs:
    """Their edges by the graph's keys: those between known tables, and the tables and columns that they describe."""

    edges: dict[_Pair, Opinion] = field(default_factory=dict)
    steps: dict[str, list[tuple[str, str, bool]]] = field(default_factory=lambda: defaultdict(list))
    """All of their steps, through unknown tables as well, by the top-level column of the source: source, target, and
    whether they say that it only influences."""
    by_roots: dict[_Pair, list[_Pair]] = field(default_factory=lambda: defaultdict(list))
    """Their edges by the top-level columns of both ends."""
    of_columns: set[_Pair] = field(default_factory=set)
    """The pairs of tables between which they state edges of columns."""
    tables: set[str] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    """Columns of which they state a source, or that they have none."""

    @classmethod
    def of(cls, stated: OpinionLineage, names: GraphNames, into: Comparison) -> _Theirs:
        theirs = cls()
        own = set(names.datasets.values())

        def is_known(key: str) -> bool:
            return dataset_of(key) in own

        translated: dict[_Pair, Opinion] = {}
        for (source, target), statement in stated.edges.items():
            pair = names.key_of(source), names.key_of(target)
            if pair in translated:
                translated[pair].merge(statement)
            else:
                translated[pair] = statement
        for (source, target), statement in translated.items():
            theirs.steps[root_of(source)].append((source, target, statement.influence is True))
            if is_known(source) and is_known(target):
                theirs._add(source, target, statement)
                continue
            unknown = {dataset_of(source), dataset_of(target)} - own
            into.not_compared_edges += bool(unknown)
            into.not_compared.update(unknown)
        composed, is_cut = compose_unknown_tables(translated, is_known)
        if is_cut:
            into.notices.append("too many edges through tables that the graph does not have: some are not compared")
        for (source, target), statement in composed.items():
            if (source, target) in theirs.edges:
                theirs.edges[source, target].merge(statement)
            else:
                theirs._add(source, target, statement)
        for key in stated.written_without_source:
            column = names.key_of(key)
            if is_known(column):
                theirs.columns.add(root_of(column))
                theirs.tables.add(dataset_of(column))
        return theirs

    def _add(self, source: str, target: str, statement: Opinion) -> None:
        self.edges[source, target] = statement
        self.by_roots[root_of(source), root_of(target)].append((source, target))
        self.tables.add(dataset_of(target))
        if is_column_key(target):
            self.columns.add(root_of(target))
            self.of_columns.add((dataset_of(source), dataset_of(target)))

    def path_between(self, source: str, target: str) -> tuple[tuple[str, ...], bool] | None:
        """Return the keys between two columns on a path of two or more of their steps; None without one.

        With them comes whether they say that the source only influences the target, on each such path.
        """
        for only_values in (True, False):
            found = self._shortest(source, target, only_values=only_values)
            if found is not None:
                return found, not only_values
        return None

    def _shortest(self, source: str, target: str, *, only_values: bool) -> tuple[str, ...] | None:
        layer: dict[str, tuple[str, ...]] = {source: ()}
        seen = {source}
        for _ in range(_MAX_STEPS):
            following: dict[str, tuple[str, ...]] = {}
            for key in sorted(layer):
                for read, after, influences in sorted(self.steps.get(root_of(key), ())):
                    if (influences and only_values) or not is_related(read, key):
                        continue
                    if layer[key] and is_related(after, target):
                        return layer[key]
                    if after not in seen:
                        seen.add(after)
                        following[after] = (*layer[key], after)
            layer = following
        return None


@dataclass(slots=True)
class _Comparing:
    theirs: _Theirs
    ours: OurLineage
    into: Comparison
    states_influence: bool
    names: GraphNames
    _tables: dict[_Pair, list[StoredEdge]] = field(default_factory=lambda: defaultdict(list))
    _targets: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def compare_theirs(self) -> list[ComparedEdge]:
        """Add a verdict on each of their edges; return those on which our paths decide.

        These are those of which we have no direct edge, and values of which our direct edges are influence.
        """
        unmatched: list[ComparedEdge] = []
        for (source, target), statement in self.theirs.edges.items():
            edge = ComparedEdge(EdgeVerdict.ONLY_THEIRS, source, target, theirs=statement, through=statement.through)
            self.into.edges.append(edge)
            if not is_column_key(source) or not is_column_key(target):
                if (source, target) in self.theirs.of_columns:
                    self.into.edges.pop()  # the same again, of which they state the columns too
                elif not is_column_key(source):
                    self._judge_tables(edge)
                elif influences := self.ours.influences(source, target):
                    self._judge_direct(edge, influences)
                else:
                    unmatched.append(edge)
                continue
            direct_edges = self.ours.between(source, target)
            if self.names.unknown_columns((target,)):
                continue  # what decides the rows of the table is no edge of a column that it does not have
            is_other_kind = statement.influence is False and all(
                one.kind is EdgeKind.REFERENCES for one in direct_edges
            )
            if is_other_kind or not direct_edges:
                unmatched.append(edge)
            else:
                self._judge_direct(edge, direct_edges)
        return unmatched

    def _judge_direct(self, edge: ComparedEdge, found: list[StoredEdge]) -> None:
        """Decide on an edge of theirs by our direct edges."""
        assert edge.theirs is not None
        edge.ours = tuple(found)
        edge.verdict = EdgeVerdict.THROUGH if edge.theirs.through else EdgeVerdict.AGREE
        self._judge_kind(edge, {one.kind for one in found})

    def _judge_tables(self, edge: ComparedEdge) -> None:
        """Decide on an edge of theirs that is of tables only."""
        tables = edge.source, dataset_of(edge.target)
        edge.ours = tuple(self._by_tables().get(tables, ()))
        if edge.ours or tables in self.ours.feeds:
            edge.verdict = EdgeVerdict.TABLES
            count = len({(one.source, one.target) for one in edge.ours})
            own = f"ours has {count:,} edges of columns" if count else "ours is at table level, too"
            edge.because = f"they state the tables only; {own}"

    def _by_tables(self) -> dict[_Pair, list[StoredEdge]]:
        if not self._tables:
            for (source, target), edges in self.ours.edges.items():
                self._tables[dataset_of(source), dataset_of(target)].extend(edges)
        return self._tables

    @staticmethod
    def _judge_kind(edge: ComparedEdge, kinds: set[EdgeKind]) -> None:
        """Turn agreement on an edge into a difference of kinds, if its kind is stated and is another."""
        assert edge.theirs is not None
        if edge.theirs.influence is False and EdgeKind.CONTRIBUTES not in kinds:
            clauses = sorted({str(subtype) for one in edge.ours for subtype in one.subtypes})
            edge.verdict, edge.reason = EdgeVerdict.KIND, Reason.INFLUENCE
            edge.because = f"ours is influence ({', '.join(clauses) or 'REFERENCES'}); they list it as lineage"
        elif edge.theirs.influence is True and EdgeKind.REFERENCES not in kinds:
            edge.verdict, edge.reason, edge.because = EdgeVerdict.KIND, Reason.VALUE, _VALUE

    def settle_paths(self, unmatched: Iterable[ComparedEdge]) -> None:
        """Decide on edges of theirs of which we have no direct edge, or none of their kind, but a path."""
        for edge in unmatched:
            path = self.ours.path_between(edge.source, edge.target)
            if (path is None or path[1]) and (direct := self.ours.between(edge.source, edge.target)):
                self._judge_direct(edge, direct)
                continue
            if path is None or (not path[0] and self.ours.has_between_fields(edge.source, edge.target)):
                continue  # none, or a copy of a struct, whose fields are others
            edge.through, is_influence = path
            # Without a column between, it is one hop by a field or by rows, which `between` does not show.
            edge.verdict = EdgeVerdict.THROUGH if edge.through else EdgeVerdict.AGREE
            edge.ours = tuple(self.ours.between(edge.through[-1], edge.target)) if edge.through else ()
            if is_influence and edge.theirs is not None and edge.theirs.influence is False:
                edge.verdict, edge.reason = EdgeVerdict.KIND, Reason.INFLUENCE
                edge.because = "ours is a path of influence (a filter, a join, a condition); they list it as lineage"
            elif (
                not is_influence
                and edge.theirs is not None
                and edge.theirs.influence is True
                and not self.ours.is_influenced(edge.source, edge.target)
            ):
                edge.verdict, edge.reason, edge.because = EdgeVerdict.KIND, Reason.VALUE, _VALUE

    def compare_ours(self) -> None:
        """Add a verdict on each edge of ours that they do not state."""
        for (source, target), edges in self.ours.edges.items():
            if not is_column_key(source):
                continue
            values = tuple(one for one in edges if one.kind is EdgeKind.CONTRIBUTES)
            if not values and not self.states_influence:
                continue
            if self._is_stated(source, target):
                continue
            edge = ComparedEdge(EdgeVerdict.ONLY_OURS, source, target, ours=values or tuple(edges))
            tables = dataset_of(source), dataset_of(target)
            if is_column_key(target) and (path := self.theirs.path_between(source, target)) is not None:
                edge.verdict, (edge.through, is_influence) = EdgeVerdict.THROUGH, path
                if values and is_influence:
                    edge.verdict, edge.reason, edge.because = EdgeVerdict.KIND, Reason.VALUE, _VALUE
            elif tables in self.theirs.edges and tables not in self.theirs.of_columns:
                continue  # they state the tables only, which has a verdict of its own
            elif not values:
                clauses = sorted({str(subtype) for one in edges for subtype in one.subtypes})
                edge.reason = Reason.INFLUENCE_UNSTATED
                edge.because = f"ours is influence ({', '.join(clauses)}), which they do not state"
            else:
                self._judge_behind(edge)
            self.into.edges.append(edge)

    def _judge_behind(self, edge: ComparedEdge) -> None:
        """Decide on an edge of ours from a view that they do not name, by what they state in the view's place.

        An edge that ours has directly, too, does not tell whether theirs is of the view, and a product that names the
        view as a source of the table does not resolve it.
        """
        if (dataset_of(edge.source), dataset_of(edge.target)) in self.theirs.of_columns:
            return
        waiting, seen, stated = [edge.source], {edge.source}, False
        missing: set[str] = set()
        is_known = True
        while waiting:
            key = waiting.pop()
            if dataset_of(key) not in self.ours.views:
                missing.add(key)
                continue
            before = self.ours.values_into(key)
            is_known = is_known and bool(before)
            for source in before - seen:
                seen.add(source)
                if self._is_stated(source, edge.target) and (source, edge.target) not in self.ours.edges:
                    stated = True
                else:
                    waiting.append(source)
        if stated and missing:
            edge.reason = Reason.UNEXPLAINED
            edge.because = (
                f"they state other sources of the view, and not {name_list([*map(shown_name, sorted(missing))], 3)}"
            )
        elif stated and is_known:
            edge.verdict, edge.because = EdgeVerdict.THROUGH, "they state the sources of the view in its place"

    def _is_stated(self, source: str, target: str) -> bool:
        if is_column_key(target):
            stated = self.theirs.by_roots.get((root_of(source), root_of(target)), ())
            return any(is_related(one, source) and is_related(other, target) for one, other in stated)
        return any(dataset_of(one) == target for one in self._stated_targets().get(root_of(source), ()))

    def _stated_targets(self) -> dict[str, set[str]]:
        if not self._targets:
            for source, target in self.theirs.by_roots:
                self._targets[source].add(target)
        return self._targets


def _load_proofs(store: GraphStore, into: Comparison, ours: OurLineage, every: bool) -> None:
    """Load the display names of all edges, and the jobs that prove those of ours; `every`: of those that agree, too."""
    shown = [edge for edge in into.edges if every or edge.verdict is not EdgeVerdict.AGREE]
    keys = {key for edge in into.edges for key in (edge.source, edge.target, *edge.through)}
    into.names = names_of(store, keys | into.not_compared.keys())
    ours.load_jobs(store, {one.job for edge in shown for one in edge.ours})
    into.jobs = ours.jobs


def _add_notices(into: Comparison, names: GraphNames) -> None:
    if not into.tables and into.not_compared:
        into.notices.append(
            "no table of the export is in the graph: ingest its statements first, and give the --namespace, "
            "--default-database and --default-schema of the ingest"
        )
    if names.elsewhere:
        listed = sorted({key.rpartition("/")[0] for key in names.elsewhere.values()})
        into.notices.append(
            f"{len(names.elsewhere):,} tables were found by name in another namespace ({name_list(listed, 3)}); "
            "give it with --namespace"
        )
    if names.respelled:
        listed = list(
            dict.fromkeys(f"{_last(key)} as {_last(found)}" for key, found in sorted(names.respelled.items()))
        )
        into.notices.append(
            f"found by a name that differs in case: {name_list(listed, 3)}; where case matters, they are not the same"
        )


def _last(key: str) -> str:
    dataset, path = split_column_key(key)
    return path if is_column_key(key) else split_dataset_key(dataset)[1]

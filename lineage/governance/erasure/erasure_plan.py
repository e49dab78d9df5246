"""The plan to erase a person: which rows of which tables, in which order, as SQL text that is never run here.

A table whose rows are tied to the person by a key gets a DELETE, or, if its rows are kept, an UPDATE. What the person's
values reach without a key (sums, hashes, exports) cannot be erased by a key, and is named with what can be done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage.frozen import frozen
from lineage.governance.erasure.row_ties import Tie, copies_of, joined_columns, named_like, row_keys, source_of
from lineage.governance.exposure import Exposure, ValueEffects
from lineage.governance.propagation import Reach, ValueGraph, load_value_graph, spread
from lineage.governance.sql_names import quoted_name, quoted_table
from lineage.governance.sql_proofs import Proof
from lineage.governance.tags.tagging import Classification
from lineage.model.names import dataset_of, split_column_key
from lineage.model.statement import DatasetKind
from lineage.store.protocol import GraphStore
from lineage.store.values import Direction, StoredColumn, StoredDataset

__all__ = ["ErasurePlan", "ErasureStep", "OutOfReach", "plan_erasure"]

_ALWAYS = (
    "backups, snapshots, replicas and time travel of these tables",
    "files, dashboards, caches and mails that hold what was read before",
    "systems that are not in this graph",
)
_NO_ROWS = {DatasetKind.FILE: "a file", DatasetKind.TOPIC: "a topic", DatasetKind.EXPOSURE: "a dashboard"}


@frozen
class ErasureStep:
    """What to do in one table, and how its rows are tied to the person."""

    table: str
    count: str
    statement: str
    how: str
    is_sure: bool
    proof: Proof | None
    rebuilt_by: tuple[str, ...]


@frozen
class OutOfReach:
    """A table in which something of the person stays, why, and what can be done."""

    table: str
    columns: tuple[str, ...]
    exposure: Exposure
    why: str
    remedy: str


@frozen
class ErasurePlan:
    """The steps in order, the views that follow their tables, and what the steps do not reach."""

    column: str
    key: str
    value_query: str
    steps: tuple[ErasureStep, ...]
    views: tuple[str, ...]
    out_of_reach: tuple[OutOfReach, ...]
    unknown: tuple[str, ...]


def plan_erasure(
    store: GraphStore,
    classification: Classification,
    functions: ValueEffects,
    column: str,
    key: str,
    keep: Collection[str] = (),
) -> ErasurePlan:
    """Return the plan for the person whose row has the value `:key` in a column (`key`) of the table of `column`.

    Rows of the tables `keep` (keys) stay: their columns with personal data, and those that tie them, are set to NULL.

    Raises:
        StoreError: the store could not be read.
    """
    return _Planner(store, classification, functions, column, key, keep).plan()


class _Planner:
    def __init__(
        self,
        store: GraphStore,
        classification: Classification,
        functions: ValueEffects,
        column: str,
        key: str,
        keep: Collection[str],
    ) -> None:
        self._store, self._classification, self._functions = store, classification, functions
        self._column, self._key, self._keep = column, key, keep
        self._datasets: dict[str, StoredDataset] = {one.key: one for one in store.datasets() if one.dropped_at is None}
        self._columns: dict[str, list[StoredColumn]] = defaultdict(list)
        by_name: dict[str, list[StoredColumn]] = defaultdict(list)
        for stored_column in store.columns(list(self._datasets)):
            if stored_column.parent is None:
                self._columns[stored_column.dataset].append(stored_column)
                by_name[stored_column.path.lower()].append(stored_column)
        self._by_name: Mapping[str, Collection[StoredColumn]] = by_name
        self._ties: dict[str, Tie] = {}
        """The tie of each table whose rows are the person's, by the key of the table."""
        self._stored: set[str] = set()
        """Views that hold rows of their own."""
        self._after: defaultdict[str, set[str]] = defaultdict(set)
        """Tables whose rows go before those of a table."""

    def plan(self) -> ErasurePlan:
        home = dataset_of(self._key)
        self._ties[home] = Tie(self._key, self._key, "the person's own row")
        self._follow()
        starts = [one.key for table in self._ties for one in self._columns[table]] or [self._column]
        graph = load_value_graph(self._store, starts, self._functions)
        reached = self._reached(graph, starts)
        tied = [key for key in self._in_order() if self._kind(key) in (DatasetKind.TABLE, DatasetKind.TEMPORARY)]
        views = {key for key in (*reached, *self._ties) if self._kind(key) is DatasetKind.VIEW}
        self._stored = self._materialized(views)
        views -= self._stored
        outside = [key for key in reached if key not in tied and key not in views]
        outside += [key for key in self._ties if self._kind(key) in _NO_ROWS and key not in reached]
        return ErasurePlan(
            self._name(self._column),
            self._name(self._key),
            f"SELECT {self._path(self._column)} FROM {self._table(home)} WHERE {self._path(self._key)} = :key;",
            tuple(self._step(key) for key in tied),
            tuple(sorted(self._table(key) for key in views)),
            tuple(sorted((self._outside(key, reached) for key in outside), key=lambda one: one.table)),
            (*_ALWAYS, *self._unresolved([*tied, *views, *outside]), *self._untied({*tied, *views, *outside})),
        )

    def _follow(self) -> None:
        """Find the tables whose rows are tied to those of a table, from the key of each table on."""
        keys = [self._key]
        while keys:
            key = keys.pop(0)
            for table in self._tie_by(key):
                keys += row_keys(self._datasets[table], self._columns[table])[:1]

    def _tie_by(self, key: str) -> list[str]:
        """Tie the tables that hold a key, over copies and joins; return those that were not tied before.

        What a copy or a join partner is joined with holds the key, too. Views only lead on.
        """
        ties = [Tie(key, key, "")]
        seen, found = {key}, []
        for by_name in (False, True):
            if by_name:
                ties = [one for one in named_like(key, self._datasets, self._by_name) if one.column not in seen]
                seen |= {one.column for one in ties}
            while ties:
                tie = ties.pop(0)
                if tie.column != key and self._add(tie):
                    found.append(dataset_of(tie.column))
                graph = load_value_graph(self._store, [tie.column], self._functions)
                following = [*copies_of(graph, tie.column), *joined_columns(self._store, tie.column)]
                if self._is_view(tie.column) and (source := source_of(self._store, tie.column)) is not None:
                    following.append(Tie(source, key, tie.how, tie.proof))
                for next_tie in sorted(following, key=lambda one: (not one.is_sure, one.column)):
                    if next_tie.column not in seen:
                        seen.add(next_tie.column)
                        sure = next_tie.is_sure and tie.is_sure
                        ties.append(Tie(next_tie.column, key, next_tie.how, next_tie.proof, sure))
        return found

    def _add(self, tie: Tie) -> bool:
        """Add the tie of a table; return whether the table was not tied before."""
        child, parent = dataset_of(tie.column), dataset_of(tie.key)
        if child == parent or child not in self._datasets or self._kind(child) is DatasetKind.VIEW:
            return False
        if child in self._ties:
            if not self._ancestor(child, parent):
                self._after[parent].add(child)
            return False
        self._ties[child] = tie
        self._after[parent].add(child)
        return True

    def _ancestor(self, table: str, of: str) -> bool:
        """Return whether the rows of a table are tied by those of another, over any number of ties."""
        seen = set()
        while of not in seen:
            if of == table:
                return True
            seen.add(of)
            tie = self._ties.get(of)
            of = dataset_of(tie.key) if tie else of
        return False

    def _in_order(self) -> list[str]:
        """Return the tied tables so that each comes after those whose rows are found by it, or refer to it."""
        left = {key: set(self._after[key]) & self._ties.keys() for key in self._ties}
        ordered: list[str] = []
        while left:
            free = sorted((key for key, before in left.items() if not before & left.keys()), key=self._table)
            if not free:  # tables that refer to each other
                depths = {key: self._depth(key) for key in left}
                free = sorted(left, key=lambda key: (-depths[key], self._table(key)))[:1]
            ordered += free
            for key in free:
                del left[key]
        return ordered

    def _depth(self, key: str) -> int:
        tie = self._ties[key]
        parent = dataset_of(tie.key)
        return 0 if parent == key else 1 + self._depth(parent)

    def _condition(self, table: str) -> str:
        tie = self._ties[table]
        path, parent = self._path(tie.column), dataset_of(tie.key)
        if tie.key == self._key:
            return f"{path} = :key"
        return f"{path} IN (SELECT {self._path(tie.key)} FROM {self._table(parent)} WHERE {self._condition(parent)})"

    def _step(self, table: str) -> ErasureStep:
        tie, name, condition = self._ties[table], self._table(table), self._condition(table)
        kept = table in self._keep
        statement = f"DELETE FROM {name} WHERE {condition};"
        if kept:
            tagged = [one.key for one in self._columns[table] if one.key in self._classification.tags]
            goes = tie.column != self._key and dataset_of(tie.key) not in self._keep
            cleared = dict.fromkeys((*tagged, *([tie.column] if goes else [])))
            cells = ", ".join(f"{self._path(key)} = NULL" for key in cleared)
            statement = f"UPDATE {name} SET {cells} WHERE {condition};" if cells else f"-- nothing to clear in {name}"
        how = tie.how if tie.key == tie.column else f"{self._path(tie.column)} is {self._name(tie.key)}, {tie.how}"
        count = f"SELECT count(*) FROM {name} WHERE {condition};"
        sure = all(self._ties[one].is_sure for one in self._line(table))
        return ErasureStep(name, count, statement, how, sure, tie.proof, tuple(self._writers(table)))

    def _line(self, table: str) -> Iterator[str]:
        """Yield a table and those by whose rows it is tied, up to the person's own."""
        yield table
        parent = dataset_of(self._ties[table].key)
        if parent != table:
            yield from self._line(parent)

    def _reached(self, graph: ValueGraph, starts: Iterable[str]) -> dict[str, dict[str, Reach]]:
        """Return the columns that values of the person's rows reach, by table; of several ways, what shows most."""
        columns_by_table: defaultdict[str, dict[str, Reach]] = defaultdict(dict)
        for start in starts:
            for key, reach in spread(graph, start).reached.items():
                table = dataset_of(key)
                known = columns_by_table[table].get(key)
                if table in self._datasets and (known is None or reach.exposure.rank < known.exposure.rank):
                    columns_by_table[table][key] = reach
        return {table: columns for table, columns in columns_by_table.items() if columns}

    def _outside(self, table: str, reached: Mapping[str, Mapping[str, Reach]]) -> OutOfReach:
        columns = reached.get(table, {})
        most = min((one.exposure for one in columns.values()), key=lambda one: one.rank, default=Exposure.UNMASKED)
        kind = "a materialized view" if table in self._stored else _NO_ROWS.get(self._kind(table))
        why = {
            Exposure.UNMASKED: "it has no column that ties its rows to the person",
            Exposure.PARTIAL: "it holds parts of values, and no column that ties its rows to the person",
            Exposure.AGGREGATED: "it holds sums over many people",
            Exposure.MASKED: "it holds hashes or counts, and no column that ties its rows to the person",
        }[most]
        why = f"it is {kind}" if kind else why
        writers = self._writers(table)
        remedy = f"run again: {', '.join(writers)}" if writers and not kind else "by hand"
        if table in self._stored:
            why, remedy = f"{why}, which keeps its rows", f"REFRESH MATERIALIZED VIEW {self._table(table)};"
        shown = tuple(sorted(self._path(key) for key in columns))
        return OutOfReach(self._table(table), shown, most, why, remedy)

    def _materialized(self, views: Collection[str]) -> set[str]:
        """Return the views that hold rows of their own until they are refreshed."""
        keys = {key: view for view, keys in self._store.job_keys_of(sorted(views)).items() for key in keys}
        jobs = self._store.jobs(keys)
        return {
            keys[one.key] for one in jobs if "MATERIALIZED" in (one.operation or "") and keys[one.key] in one.writes
        }

    def _writers(self, table: str) -> list[str]:
        """Return the jobs that make a table from others, by file and line: they may bring rows back."""
        keys = self._store.job_keys_of([table]).get(table, [])
        jobs = [one for one in self._store.jobs(keys) if table in one.writes and one.reads]
        return sorted(
            {f"{one.source}:{one.source_line}" if one.source and one.source_line else one.key for one in jobs}
        )

    def _unresolved(self, tables: Collection[str]) -> Iterator[str]:
        """Yield the tables that are written from these by SQL whose columns are not known."""
        feeds = set(self._store.feed_keys(sorted(tables), Direction.DOWNSTREAM))
        unknown = feeds - self._store.feeds_by_columns(feeds)
        for target in sorted({feed.target for feed in unknown} - set(tables)):
            if target in self._datasets:
                yield f"{self._table(target)}: the columns of the SQL that writes it are not known"

    def _untied(self, tables: Collection[str]) -> Iterator[str]:
        """Yield the columns that may hold the value, in tables that nothing ties to the person."""
        named: set[str] = set()
        classes = {one.name for one in self._classification.tags.get(self._column, ())}
        for key in self._classification.columns_of(classes) if classes else ():
            if dataset_of(key) not in tables and dataset_of(key) in self._datasets:
                yield f"{self._name(key)}: of the same class, and nothing ties its rows to the person"
                named.add(key)
        for tie in joined_columns(self._store, self._column):
            if dataset_of(tie.column) not in tables and tie.column not in named:
                yield f"{self._name(tie.column)}: SQL compares it with {self._name(self._column)}, and nothing ties it"

    def _is_view(self, column: str) -> bool:
        table = dataset_of(column)
        return table in self._datasets and self._kind(table) is DatasetKind.VIEW

    def _kind(self, table: str) -> DatasetKind:
        return self._datasets[table].kind

    def _table(self, table: str) -> str:
        """Return the name of a table as SQL takes it: a part that is no plain name is quoted; a file has its path."""
        stored = self._datasets[table]
        if stored.kind in _NO_ROWS:
            return stored.display_name
        return quoted_table(stored.display_name, stored.dialect)

    def _path(self, column: str) -> str:
        table = dataset_of(column)
        known = next((one for one in self._columns[table] if one.key == column), None)
        name = known.spelled_name if known else split_column_key(column)[1]
        return quoted_name(name, self._datasets[table].dialect)

    def _name(self, column: str) -> str:
        return f"{self._table(dataset_of(column))}.{self._path(column)}"

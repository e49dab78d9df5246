"""Read the graph around columns from ladybug: a neighbourhood of the start at once, deeper as needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC
from typing import Any

from lineage.model.names import dataset_of
from lineage.store.cypher.statements import own_query
from lineage.store.embedded.statements import INTERRUPTED, Statements
from lineage.store.errors import StoreTimeoutError
from lineage.store.exploring import Explorer, Leads, View

__all__ = ["EmbeddedExplorer"]

SINGLY = 16
"""Up to this many nodes are read one by one, which is then faster."""
AT_ONCE = 30_000
"""Maximum expected number of nodes in one read."""
MAX_DEPTH = 30
"""ladybug's maximum length of a variable-length path; nodes beyond are read one by one."""
SLOWING = 0.75
"""Expected factor by which the growth per hop changes: the frontier grows ever more slowly."""

_COLUMN, _TABLE = "`Column`", "`Table`"


class EmbeddedExplorer(Explorer):
    """An explorer within a transaction on a connection."""

    def __init__(self, statements: Statements, view: View) -> None:
        super().__init__(view)
        self._statements = statements
        self._numbers: dict[str, int] = {}
        self._roots: list[tuple[str, str]] = []
        self._begun: set[int] = set()
        self._nearest: dict[str, list[int]] = {}
        self._depth = 0
        self._sizes: list[tuple[int, int]] = []
        """Pairs of a depth and the number of nodes known within it."""
        self._has_fields: bool | None = None
        self._relatives_read: set[int] = set()
        self._names = {
            "types": "|".join(f"`{name}`" for name in (*view.types, "HAS_FIELD", "HAS_COLUMN")),
            "held": own_query("embedded", "held_now" if view.as_of is None else "held_then"),
            "present": own_query("embedded", "present_now" if view.as_of is None else "present_then"),
            **{name: own_query("embedded", name) for name in ("source", "end", "way")},
        }
        self._at = view.as_of.astimezone(UTC).replace(tzinfo=None) if view.as_of else None

    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Begin the exploration at these nodes; return the numbers of those that are in the graph."""
        found = self.numbers(columns, datasets)
        self._begun = set(found.values())
        # Downstream, all columns of a dataset are one relationship away from it.
        tables = [key for key in datasets if key in found] if self.view.down else []
        alone = (key for key in columns if key in found and dataset_of(key) not in tables)
        self._roots = [*((_TABLE, key) for key in tables), *((_COLUMN, key) for key in alone)]
        return found

    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        for name, keys in (("number_column", columns), ("number_dataset", datasets)):
            for key in keys:
                if key not in self._numbers:
                    for node in self._ask(own_query("embedded", name), key=key)["node"]:
                        self._name(node, key)
        return {key: self._numbers[key] for keys in (columns, datasets) for key in keys if key in self._numbers}

    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first `count` of these columns, ordered by key."""
        return sorted(nodes, key=self.keys.__getitem__)[:count]

    def load_keys(self, nodes: Iterable[int]) -> None:
        """Do nothing: keys are read with the nodes."""

    def _read_around(self, nodes: list[int]) -> None:
        for node in self._begun.intersection(nodes):
            self._nearest[self.keys[node]] = self._read_one(node)
        left = [node for node in nodes if node not in self._read]
        if self._depth == 0:
            self._sizes = [(0, len(self._begun)), (1, len(self.keys))]
        while len(left) > SINGLY and self._depth < min(2 * self.view.hops + 2, MAX_DEPTH):
            self._deepen()
            left = [node for node in left if node not in self._read]
        for node in left:
            self._read_one(node)

    def _read_one(self, node: int) -> list[int]:
        """Read the relationships of a node; return its end nodes."""
        names = {**self._names, "label": _TABLE if node & 1 else _COLUMN}
        statement = own_query("embedded", f"{self.view.direction}_of_one", **names)
        answer = self._ask(statement, key=self.keys[node], at=self._at)
        self._take_all(answer, set())
        self._read.add(node)
        return answer["far"]

    def _deepen(self) -> None:
        """Read the neighbourhood of the start to a greater depth."""
        self._depth = self._next_depth()
        before = set(self._read)
        for label, key in self._roots:
            names = {**self._names, "label": label, "depth": str(self._depth)}
            statement = own_query("embedded", f"{self.view.direction}_within", **names)
            answer = self._ask(statement, key=key, at=self._at)
            self._take_all(answer, before)
            near = zip(answer["far"], answer["near"], strict=True)
            read = {end for end, distance in near if distance < self._depth} | set(answer["source"])
            if label == _COLUMN:
                # The result omits end nodes of the root that have no relationships.
                read.update(self._nearest.get(key, ()))
            self._read |= read
            before |= read
            self._columns |= {node: [] for node in read if node & 1 and node not in self._columns}
            if not self.view.down and self._any_field():
                self._take_family(self._ask(own_query("embedded", "fields_within", **names), key=key))
                self._relatives_read |= read
        self._sizes.append((self._depth + 1, len(self.keys)))

    def _next_depth(self) -> int:
        """Return the next depth: the greatest one expected to read at most `AT_ONCE` nodes, if growth keeps slowing."""
        enough = min(self.view.hops + 1, MAX_DEPTH)
        if self._depth >= enough:
            return min(self._depth + 2, MAX_DEPTH)
        (shallow, few), (deep, many) = self._sizes[-2:]
        growth, expected = (many / max(few, 1)) ** (1 / (deep - shallow)), float(many)
        depth = deep
        while depth < enough and expected * growth <= AT_ONCE:
            depth, expected, growth = depth + 1, expected * growth, max(growth * SLOWING, 1)
        return depth

    def _take_all(self, answer: dict[str, list[Any]], known: set[int]) -> None:
        take, columns = self._take, self._columns
        listed = set(columns)
        rows = zip(answer["source"], answer["far"], answer["way"], answer["present"], strict=True)
        for source, end, way, present in rows:
            if source in known:
                continue
            if way != Leads.COLUMN:
                take(source, end, way)
            elif self.view.down and source not in listed and present:
                columns.setdefault(source, []).append(end)
        self.keys.update(zip(answer["far"], answer["key"], strict=True))
        self._numbers.update(zip(answer["key"], answer["far"], strict=True))

    def _read_columns(self, datasets: list[int]) -> None:
        if len(datasets) > SINGLY:
            self._read_columns_within(datasets)
            datasets = [dataset for dataset in datasets if dataset not in self._columns]
        for dataset in datasets:
            statement = own_query("embedded", "columns_of_one", **self._names)
            answer = self._ask(statement, key=self.keys[dataset], at=self._at)
            rows = zip(answer["far"], answer["present"], strict=True)
            self._columns[dataset] = [end for end, present in rows if present]
            for end, key in zip(answer["far"], answer["key"], strict=True):
                self._name(end, key)

    def _read_columns_within(self, datasets: Collection[int]) -> None:
        """Read the columns of those datasets that are adjacent to nodes already read."""
        found: dict[int, dict[int, None]] = defaultdict(dict)
        for label, key in self._roots:
            names = {**self._names, "label": label, "depth": str(min(self._depth + 1, MAX_DEPTH))}
            answer = self._ask(own_query("embedded", "columns_within", **names), key=key, at=self._at)
            self.keys.update(zip(answer["far"], answer["key"], strict=True))
            self._numbers.update(zip(answer["key"], answer["far"], strict=True))
            for dataset, column, present in zip(answer["source"], answer["far"], answer["present"], strict=True):
                if present:
                    found[dataset][column] = None
        self._columns |= {dataset: list(found[dataset]) for dataset in datasets if dataset in found}

    def _read_family(self, nodes: list[int]) -> None:
        if not self._any_field():
            return
        for node in nodes:
            if node & 1 or node in self._relatives_read:
                continue
            if self.view.down and not self._is_nested(node):
                continue
            self._relatives_read.add(node)
            name = "holders_of_one" if self.view.down else "fields_of_one"
            self._take_family(self._ask(own_query("embedded", name, **self._names), key=self.keys[node]))

    def _take_family(self, answer: dict[str, list[Any]]) -> None:
        for node, other, key in zip(answer["source"], answer["far"], answer["key"], strict=True):
            holder, field = (other, node) if self.view.down else (node, other)
            self._nested[holder].add(field)
            self._holders[field].add(holder)
            self._name(other, key)

    def _any_field(self) -> bool:
        if self._has_fields is None:
            self._has_fields = bool(self._ask(own_query("embedded", "any_field"))["one"])
        return self._has_fields

    def _name(self, node: int, key: str) -> None:
        self._numbers[key] = node
        self.keys[node] = key

    def _ask(self, statement: str, **parameters: Any) -> dict[str, list[Any]]:
        used = {name: value for name, value in parameters.items() if f"${name}" in statement}
        self._statements.limit(self.view.seconds_left)
        try:
            result = self._statements.run(statement, used)
            answer = result.get_as_arrow()
            result.close()
        except RuntimeError as error:
            if INTERRUPTED in str(error):
                raise StoreTimeoutError from error
            raise
        return {name: answer.column(name).to_pylist() for name in answer.column_names}

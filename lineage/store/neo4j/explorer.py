"""Read the graph around columns from Neo4j: one statement per hop, for all nodes of the hop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from neo4j import ManagedTransaction, Result, Transaction

from lineage.store.exploring import Explorer, Leads, View
from lineage.store.graph.statements import own_query

__all__ = ["Neo4jExplorer"]


MANY = 120
"""From this many nodes on, two concurrent transactions read one half each: beginning the second takes a millisecond.

A statement uses only one of the server's cores.
"""


class Neo4jExplorer(Explorer):
    """An explorer in a transaction, with a second one for large reads (`beside` begins it).

    Neo4j's isolation level is read committed, per statement: two transactions are no less consistent than one, and
    neither is without `commit_counters`.
    """

    def __init__(self, managed: ManagedTransaction, beside: Callable[[], Transaction], view: View) -> None:
        super().__init__(view)
        self._managed = managed
        self._begin_beside = beside
        self._beside: Transaction | None = None
        when = "now" if view.as_of is None else "then"
        self._present = own_query("neo4j", f"present_{when}")
        self._statement = own_query(
            "neo4j",
            str(view.direction),
            types="|".join(f"`{name}`" for name in view.types),
            held=own_query("neo4j", f"held_{when}"),
            way=own_query("neo4j", "way"),
            present=self._present,
        )

    def begin(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        return self.numbers(columns, datasets)

    def numbers(self, columns: Collection[str], datasets: Collection[str] = ()) -> dict[str, int]:
        """Return the numbers of the nodes that are in the graph, by key."""
        found: dict[str, int] = {}
        for name, keys in (("number_columns", columns), ("number_datasets", datasets)):
            if keys:
                answer = self._ask(own_query("neo4j", name), keys=list(keys))
                found |= dict(zip(answer["keys"], answer["nodes"], strict=True))
        return found

    def first(self, nodes: Collection[int], count: int) -> list[int]:
        """Return the first `count` of these columns, ordered by key."""
        answer = self._ask(own_query("neo4j", "first"), nodes=list(nodes), count=count)
        self._keep_keys(answer)
        numbers: list[int] = answer["nodes"]
        return numbers

    def load_keys(self, nodes: Iterable[int]) -> None:
        """Read the keys of these columns."""
        missing = [node for node in nodes if node not in self.keys]
        if missing:
            self._keep_keys(self._ask(own_query("neo4j", "keys"), nodes=missing))

    def _read_around(self, nodes: list[int]) -> None:
        known = list(self._columns)
        if len(nodes) < MANY:
            self._keep(self._ask(self._statement, nodes=nodes, known=known))
            return
        self._beside = self._beside or self._begin_beside()
        # `run` returns when the statement has started, so both run on the server at the same time.
        results = [
            self._run(transaction, self._statement, nodes=half, known=known)
            for transaction, half in ((self._beside, nodes[::2]), (self._managed, nodes[1::2]))
        ]
        for result in reversed(results):
            self._keep(_only_record(result))

    def _keep(self, answer: dict[str, Any]) -> None:
        self._keep_keys(answer)
        leading_on = [ends.setdefault for ends in self.ends]
        for source, end in zip(answer["sources"], answer["ends"], strict=True):
            way = end & 7
            if way < Leads.FIELD:
                leading_on[way](source, []).append(end >> 3)
            else:
                self._take(source, end >> 3, way)
        for holder, field in zip(answer["holders"], answer["fields"], strict=True):
            self._nested[holder].add(field)
            self._holders[field].add(holder)
        self._keep_columns(answer["tables"], answer)

    def _read_columns(self, datasets: list[int]) -> None:
        answer = self._ask(own_query("neo4j", "columns", present=self._present), nodes=datasets)
        self._keep_columns(datasets, answer)

    def _keep_columns(self, datasets: Iterable[int], answer: dict[str, Any]) -> None:
        found: dict[int, list[int]] = {dataset: [] for dataset in datasets}
        for dataset, column in zip(answer["datasets"], answer["columns"], strict=True):
            found[dataset].append(column)
        self._columns |= found

    def _read_family(self, nodes: list[int]) -> None:
        """Do nothing: fields and parents are read with the relationships."""

    def _keep_keys(self, answer: dict[str, Any]) -> None:
        self.keys.update(zip(answer["nodes"], answer["keys"], strict=True))

    def _ask(self, statement: str, **parameters: Any) -> dict[str, Any]:
        return _only_record(self._run(self._managed, statement, **parameters))

    def _run(self, transaction: ManagedTransaction | Transaction, statement: str, **parameters: Any) -> Result:
        return transaction.run(statement, {**parameters, "at": self.view.as_of})


def _only_record(result: Result) -> dict[str, Any]:
    record = result.single(strict=True)
    return {name: record[name] for name in record.keys()}  # noqa: SIM118

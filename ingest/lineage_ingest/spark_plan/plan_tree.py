"""A logical plan as the listener writes it: nodes, each after the nodes that it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["PlanNode", "nodes_in", "read_plan"]


class PlanNode:
    """A node of a plan or of an expression in it.

    `properties` are its names, numbers and tables; `nodes` are the nodes that it has, by the name of the field, in
    lists as Spark's class has them. Equal attributes are one node.
    """

    __slots__ = ("name", "nodes", "properties")

    def __init__(self, name: str, properties: dict[str, Any], nodes: dict[str, Any]) -> None:
        self.name = name
        self.properties = properties
        self.nodes = nodes

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(self.nodes)})"

    def node(self, *fields: str) -> PlanNode | None:
        """Return the node in the first of these fields that has one."""
        for field in fields:
            if isinstance(found := self.nodes.get(field), PlanNode):
                return found
        return None

    def list(self, field: str) -> list[PlanNode]:
        """Return the nodes in a field that is a list."""
        return list(nodes_in(self.nodes.get(field)))

    @property
    def all_nodes(self) -> Iterator[PlanNode]:
        """The nodes that it has, in the order of its fields."""
        for value in self.nodes.values():
            yield from nodes_in(value)

    @property
    def expr_id(self) -> int:
        """The id of an attribute or of what an expression is named; -1 if it has none."""
        found = self.properties.get("exprId", -1)
        return found if isinstance(found, int) else -1


def nodes_in(value: Any) -> Iterator[PlanNode]:
    """Yield the nodes in the value of a field, in order.

    >>> list(nodes_in([PlanNode("Literal", {}, {}), [None, PlanNode("Rand", {}, {})]]))
    [Literal(), Rand()]
    """
    if isinstance(value, PlanNode):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from nodes_in(item)


def read_plan(written: Sequence[Sequence[Any]]) -> list[PlanNode]:
    """Return the nodes of a plan in the order in which they were written; the last one is the plan.

    Raises:
        ValueError: a node refers to one that does not precede it, or is not written as one.
    """
    nodes: list[PlanNode] = []

    def refer(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, list):
            return [refer(item) for item in value]
        if not isinstance(value, int) or not 0 <= value < len(nodes):
            raise ValueError(f"node {len(nodes)} of the plan refers to {value!r}")
        return nodes[value]

    for one in written:
        if not (isinstance(one, list) and len(one) == 3 and isinstance(one[1], dict) and isinstance(one[2], dict)):
            raise ValueError(f"node {len(nodes)} of the plan is not [class, properties, nodes]")
        nodes.append(PlanNode(str(one[0]), one[1], {field: refer(value) for field, value in one[2].items()}))
    if not nodes:
        raise ValueError("the plan has no nodes")
    return nodes

"""Extension point: lineage of plan nodes and expressions that this package does not know.

A package offers a function in the entry-point group `lineage.spark_plan`; it is given the `Extensions`:

    # pyproject.toml
    [project.entry-points."lineage.spark_plan"]
    vault = "vault_spark.lineage:register"

    # vault_spark/lineage.py
    def register(extensions):
        extensions.plan("com.vault.spark.VaultScan", inputs=lambda node: [("vault://prod", node.properties["table"])])
        extensions.plan("com.vault.spark.Decrypt", dependencies=lambda node: {out: [column] for out, column in …})
        extensions.write("com.vault.spark.VaultWrite", outputs=lambda node: [("vault://prod", node.properties["table"])])
        extensions.masking("vault_tokenize")

Classes outside `org.apache.spark` go by their full name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeAlias

from lineage.sql.resolve.transformation_codes import TRANSFORMATION
from lineage_ingest.spark_plan.datasets import Dataset, schema_of
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.values import Relation, RowSources, Sources, Value

if TYPE_CHECKING:
    from lineage_ingest.spark_plan.relations import PlanReader

__all__ = ["GROUP", "Extensions", "PlanExtension", "extended_relation", "installed_extensions"]

GROUP = "lineage.spark_plan"

Names: TypeAlias = Iterable[tuple[str, str]]
"""Datasets: pairs of OpenLineage's namespace and name."""


@dataclass(frozen=True, slots=True)
class PlanExtension:
    """What a node of one class reads, and what its columns depend on."""

    inputs: Callable[[PlanNode], Names] | None = None
    dependencies: Callable[[PlanNode], Mapping[int, Iterable[PlanNode]]] | None = None


class Extensions:
    """Rules of installed packages."""

    def __init__(self) -> None:
        self.plans: dict[str, PlanExtension] = {}
        self.writes: dict[str, Callable[[PlanNode], Names]] = {}

    def plan(
        self,
        name: str,
        *,
        inputs: Callable[[PlanNode], Names] | None = None,
        dependencies: Callable[[PlanNode], Mapping[int, Iterable[PlanNode]]] | None = None,
    ) -> None:
        """Register a class of plan nodes.

        `inputs` returns the datasets that a node without children reads; its columns are theirs. `dependencies` returns
        for each output attribute (by id) the expressions that it is computed from. Without it, the columns of the
        child are passed on.
        """
        self.plans[name] = PlanExtension(inputs, dependencies)

    def write(self, name: str, *, outputs: Callable[[PlanNode], Names]) -> None:
        """Register a class of commands that write their `query`: `outputs` returns the datasets that it writes."""
        self.writes[name] = outputs


@cache
def installed_extensions() -> Extensions:
    """Return the rules of all installed packages, registered once."""
    found = Extensions()
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        register: Callable[[Extensions], None] = point.load()
        register(found)
    return found


def extended_relation(reader: PlanReader, rule: PlanExtension, node: PlanNode, children: list[Relation]) -> Relation:
    """Return the relation of a node by the rule of a package."""
    from lineage_ingest.spark_plan.sources import stored_relation  # noqa: PLC0415  it reads plans, and so needs this module

    columns = node.properties.get("columns") or []
    if rule.inputs is not None:
        listed = [Dataset(*name, columns=schema_of(columns)) for name in rule.inputs(node)]
        return stored_relation(reader.reads, listed, columns)
    if rule.dependencies is None:
        first = children[0]
        return Relation(first.output, first.values, first.own_rows, first.order)
    scope = reader.scope(*children)
    values: dict[int, Value] = {}
    for child in children:
        values.update(child.values)
    made: dict[int, Value] = {}
    for key, expressions in rule.dependencies(node).items():
        sources: Sources = {}
        for one in expressions:
            scope.add(one, TRANSFORMATION, sources)
        made[key] = Value(sources)
    output = [int(one[0]) for one in columns] or [*(key for child in children for key in child.output), *made]
    return Relation(output, {**values, **made}, RowSources(None, [child.rows for child in children]))

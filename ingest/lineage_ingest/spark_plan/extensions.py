"""Extension point: lineage of plan nodes and expressions that this package does not know.

A package offers a function in the entry-point group `lineage.spark_plan`; it is given the `Extensions`:

    # pyproject.toml
    [project.entry-points."lineage.spark_plan"]
    vault = "vault_spark.lineage:register"

    # vault_spark/lineage.py
    def register(extensions):
        extensions.plan("com.vault.Scan", inputs=lambda node: [("vault://prod", node.properties["table"])])
        extensions.plan("com.vault.Decrypt", dependencies=decrypted)  # {output id: [expressions]}
        extensions.write("com.vault.Save", outputs=lambda node: [("vault://prod", node.properties["table"])])

Classes outside `org.apache.spark` go by their full name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TypeAlias

from lineage.frozen import frozen
from lineage_ingest.spark_plan.plan_tree import PlanNode

__all__ = ["GROUP", "Extensions", "PlanExtension", "installed_extensions"]

GROUP = "lineage.spark_plan"

Names: TypeAlias = Iterable[tuple[str, str]]
"""Datasets: pairs of OpenLineage's namespace and name."""


@frozen
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

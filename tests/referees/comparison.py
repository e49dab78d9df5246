"""Asks an engine about a case: what it says is compared with our lineage, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import Protocol

from lineage.model.statement import StatementLineage
from tests.referees.case_tables import ReadCase
from tests.referees.reading import Reading, combined, differences
from tests.referees.spark_plan import UnreadPlanError
from tests.soundness.experiment import RejectedError

__all__ = ["CaseEngine", "Differences", "compare_case", "composed_tables"]

_DEFINES = re.compile(r"CREATE|ALTER|DROP|CACHE|USE|RENAME|DECLARE|SET")


class CaseEngine(Protocol):
    """An engine that is asked about cases. Each method but `end` raises RejectedError."""

    default_types: tuple[str, ...]
    """Of columns whose type a case does not give: the first with which the engine accepts the case."""

    def begin(self, read: ReadCase, default_type: str) -> None:
        """Create the tables of a case, empty."""

    def read(self, text: str, statements: list[StatementLineage]) -> list[Reading]:
        """Return what the engine says of a text, of each of its statements that reads something."""

    def define(self, text: str) -> None:
        """Run a statement that defines something."""

    def end(self) -> None:
        """Drop all that the case has created."""


Differences = Callable[[str, list[StatementLineage]], list[str]]
"""How our lineage of a text's statements differs from what an engine says of them."""


def compare_case(read: ReadCase, engine: CaseEngine, second: Differences | None = None) -> list[str]:
    """Return how our lineage of a case differs from what an engine says, and then from what a `second` one says.

    That the engine rejects the case is a difference too, unless the case expects a diagnostic.
    """
    said: list[str] = []
    for default in engine.default_types:
        try:
            return _compare(read, engine, default, second)
        except RejectedError as error:
            said.append(f"rejected: {error}")
            if "syntax" in said[-1].lower():  # the types are not the reason
                break
        except UnreadPlanError as error:
            return [f"not read: {error}"]
    return [] if read.case.diagnostics else said[:1]


def composed_tables(read: ReadCase) -> frozenset[str]:
    """Return the tables of a script that no edge comes from: its temporary ones."""
    lineages = [statement for _, statement in read.statements]
    made = {statement.target for statement in lineages if statement.target} - {table.name for table in read.tables}
    made -= {edge.source.table for statement in lineages for edge in statement.edges}
    return frozenset(name.split(".")[-1].replace('"', "").lower() for name in made)


def _compare(read: ReadCase, engine: CaseEngine, default: str, second: Differences | None) -> list[str]:
    found: list[str] = []
    try:
        engine.begin(read, default)
        for text, group in groupby(read.statements, key=lambda pair: pair[0]):
            statements = [statement for _, statement in group]
            if any(one.edges or one.operation == "SELECT" for one in statements):
                readings = engine.read(text, statements)
                if len(statements) == 1 < len(readings):
                    readings = [combined(readings)]
                for statement, reading in zip(statements, readings, strict=False):
                    found += differences(statement, reading, composed_tables(read))
                found += second(text, statements) if second is not None else []
            if any(_DEFINES.match(one.operation) for one in statements):
                engine.define(text)
    finally:
        engine.end()
    return found

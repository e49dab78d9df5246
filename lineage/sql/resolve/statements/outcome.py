"""The result of a statement rule: what is written, column by column, and what influences the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from lineage.model.names import ColumnPath
from lineage.model.statement import ColumnRef, ColumnSchema, DatasetKind, TableChange
from lineage.sql.resolve.relations import FieldPath, Relation, RowSources, Sources
from lineage.sql.resolve.resolver import Resolver

__all__ = ["STATEMENT_RULES", "Outcome", "statement_rule", "write"]


@dataclass(slots=True)
class Outcome:
    """A statement's target and, for each column that it writes, the sources; `rows` influences the whole target.

    `relation` is what later statements of a script read, if the target is a temporary table that this one creates.
    `assigned` has the variables that expressions of the statement assign. `others` is what the statement writes besides
    (INSERT ALL, a data-modifying CTE). `opens` are the relations of a `*` among the columns. `spells`: the statement
    sets the spelling of an existing target. `swapped` has the schema and relation of the table that changes places with
    the target. `returned` are the columns that RETURNING shows the client.
    """

    operation: str
    target: str | None = None
    names: list[str] = field(default_factory=list)
    columns: list[Sources] = field(default_factory=list)
    rows: Sources = field(default_factory=dict)
    target_kind: DatasetKind = DatasetKind.TABLE
    defines: bool = False
    schema: tuple[ColumnSchema, ...] = ()
    changes: tuple[TableChange, ...] = ()
    altered: tuple[ColumnSchema, ...] = ()
    added: tuple[str, ...] = ()
    relation: Relation | None = None
    assigned: Relation | None = None
    others: list[Outcome] = field(default_factory=list)
    opens: list[Relation] = field(default_factory=list)
    spells: bool = False
    swapped: Outcome | None = None
    returned: tuple[ColumnRef, ...] = ()

    @property
    def adds_to_temporary(self) -> bool:
        """Whether it changes the rows of an existing temporary table."""
        return self.target_kind is DatasetKind.TEMPORARY and not self.defines and not self.changes

    @property
    def output_columns(self) -> list[str]:
        """The names of the written columns; for a nested field, the name of its column."""
        if FieldPath not in map(type, self.names):
            return list(self.names)
        return list(dict.fromkeys(ColumnPath.parse(n).parts[0] if type(n) is FieldPath else n for n in self.names))

    def addition(self) -> Relation:
        """Return the relation that is added to the target: the sources of its columns and of its rows."""
        rows = RowSources()
        rows.own = self.rows
        return Relation(list(self.names), list(self.columns), rows, self.opens)


StatementRule: TypeAlias = "Callable[[Resolver, exp.Expr], Outcome]"

STATEMENT_RULES: dict[type[exp.Expr], StatementRule] = {}


def statement_rule(*types: type[exp.Expr]) -> Callable[[StatementRule], StatementRule]:
    """Register a rule for statements of these types: `rule(resolver, tree)`."""

    def register(rule: StatementRule) -> StatementRule:
        STATEMENT_RULES.update(dict.fromkeys(types, rule))
        return rule

    return register


def write(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what a nested statement (a data-modifying CTE) writes."""
    return STATEMENT_RULES[type(tree)](resolver, tree)

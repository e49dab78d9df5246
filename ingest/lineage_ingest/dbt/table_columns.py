"""Columns that a table has from earlier builds, though its model's SQL no longer returns them, and the reverse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import column_text
from lineage.model.statement import ColumnRef, ColumnSchema, StatementLineage
from lineage.model.text.name_lists import name_list

__all__ = ["TableColumns", "in_contract_order", "with_lacking_sources", "with_table_columns"]


@frozen
class TableColumns:
    """The columns of a table before its next build, in order. `is_kept`: the build drops none of them."""

    columns: tuple[ColumnSchema, ...]
    is_kept: bool

    def are_all_in(self, names: Collection[str] | None) -> bool:
        """Return whether the columns of these names are all that the table had, and more."""
        return {column_text(one.name) for one in self.columns} <= set(map(column_text, names or ()))

    def kept_beside(self, names: Collection[str]) -> list[ColumnSchema]:
        """Return the columns that the table keeps beside those that its SQL returns."""
        known = set(map(column_text, names))
        return [one for one in self.columns if column_text(one.name) not in known] if self.is_kept else []

    def lacking(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the columns (paths) that its SQL returns and that the table has only after it is built anew."""
        known = {column_text(one.name) for one in self.columns}
        return () if self.is_kept else tuple(path for path in map(column_text, names) if path not in known)


def in_contract_order(statement: StatementLineage, contract: Sequence[str]) -> StatementLineage:
    """Return the lineage of a model whose table has its columns in the order of a contract; as it is without one."""
    order = {column_text(name): number for number, name in enumerate(contract)}
    if not order or order.keys() != {column_text(one.name) for one in statement.schema}:
        return statement
    schema = sorted(statement.schema, key=lambda one: order[column_text(one.name)])
    return replace(statement, schema=tuple(schema))


def with_table_columns(statement: StatementLineage, table: TableColumns | None) -> StatementLineage:
    """Return the lineage of a model with the columns that its table keeps; report those that it lacks."""
    if table is None or not statement.schema:
        return statement
    names = {column_text(one.name): one for one in statement.schema}
    kept = table.kept_beside([one.name for one in statement.schema])
    if table.is_kept:
        earlier = [names.pop(column_text(one.name), one) for one in table.columns]
        statement = replace(statement, schema=(*earlier, *names.values()))
        return statement.in_doubt(_kept(kept)) if kept else statement
    lacking = table.lacking([one.name for one in statement.schema])
    return statement.in_doubt(_lacking(lacking)) if lacking else statement


def with_lacking_sources(
    statement: StatementLineage, lacking_of: Callable[[str], Collection[str]]
) -> tuple[StatementLineage, tuple[str, ...]]:
    """Report what a model reads that its sources lack; return its lineage, and the columns that it then lacks, too.

    `lacking_of` returns the columns (paths) that a table lacks.
    """
    lacking = {name: frozenset(found) for name in statement.sources if (found := lacking_of(name))}
    if not lacking:
        return statement, ()
    sources = {edge.source for edge in statement.edges}
    read = sorted((one.table, one.column) for one in sources if one.table and one.column in lacking.get(one.table, ()))
    own = {
        edge.target.column
        for edge in statement.edges
        if edge.kind is EdgeKind.CONTRIBUTES
        and isinstance(edge.target, ColumnRef)
        and edge.source.column in lacking.get(edge.source.table or "", ())
    }
    for table in dict.fromkeys(table for table, _ in read):
        statement = statement.in_doubt(_lacking_source(table, [column for name, column in read if name == table]))
    columns = map(column_text, (one.name for one in statement.schema))
    return statement, tuple(path for path in columns if path in own)


def _lacking_source(table: str, names: Collection[str]) -> Diagnostic:
    listed = name_list([f"`{one}`" for one in names], 5)
    message = f"the model reads {listed} of {table}, which that table lacks: later builds add no column to it"
    return Diagnostic(DiagnosticCode.BUILT_OTHERWISE, Severity.WARNING, message, hint=_HINT)


def _kept(columns: Collection[ColumnSchema]) -> Diagnostic:
    names = name_list([f"`{column_text(one.name)}`" for one in columns], 5)
    message = (
        f"the table keeps {names}, which the model's SQL no longer returns: later builds drop no column; their lineage "
        "is that of earlier builds"
    )
    return Diagnostic(DiagnosticCode.BUILT_OTHERWISE, Severity.WARNING, message, hint=_HINT)


def _lacking(names: Collection[str]) -> Diagnostic:
    listed = name_list([f"`{one}`" for one in names], 5)
    message = f"the model's SQL returns {listed}, which its table lacks: later builds add no column"
    return Diagnostic(DiagnosticCode.BUILT_OTHERWISE, Severity.WARNING, message, hint=_HINT)


_HINT = "if a full refresh has made the table anew, run `dbt docs generate`, and ingest again"

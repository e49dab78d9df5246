"""Identifiers of the syntax tree as the dialect compares them."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.dialects import Dialect, Folding

__all__ = ["Identifiers"]


class Identifiers:
    """Folds identifiers of one dialect. Kept apart from `Dialect` because it is asked for every name there is."""

    __slots__ = ("_dialect", "_lower_columns")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._lower_columns = dialect.column is Folding.LOWER

    def column(self, node: exp.Expr) -> str:
        """Return a column's or an alias's name, folded."""
        text: str = node.this
        if node.args.get("quoted"):
            return self._dialect.quoted_column.apply(text)
        return text.lower() if self._lower_columns else self._dialect.column.apply(text)

    def table(self, node: exp.Expr) -> str:
        """Return one part of a table's name, folded."""
        return self._dialect.fold_table(node.this, quoted=bool(node.args.get("quoted")))

    def alias(self, node: exp.Expr) -> str:
        """Return a table alias or CTE name, folded as columns are: even where tables keep their case, these do not.

        MySQL, BigQuery: https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#case_sensitivity
        """
        return self.column(node)

    def table_parts(self, table: exp.Table) -> list[str]:
        """Return the parts of a table's name, outermost first; empty for a table function."""
        nodes = [table.args.get("catalog"), table.args.get("db"), table.this]
        parts: list[str] = []
        for outer in nodes:
            node = outer
            while isinstance(node, exp.Dot):  # more than three parts: the tail hangs below the last
                parts.append(self.table(node.this))
                node = node.expression
            if isinstance(node, exp.Identifier):
                parts.append(self.table(node))
        return parts

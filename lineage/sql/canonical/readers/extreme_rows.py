"""Bare columns: beside `max(x)` or `min(x)` in a query that groups, SQLite reads them from the row that has it.

https://sqlite.org/lang_select.html#bare_columns_in_an_aggregate_query
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import Stability
from lineage.sql.canonical.readers.value_forms import Expressions

__all__ = ["follow_extremes"]


def follow_extremes(tree: exp.Expr, block: BlockForm, expressions: Expressions) -> None:
    """Make the rows of a block depend on its `max` and `min`, if a column is read that is neither a key nor aggregated.

    Which of several rows has the extreme, is not certain.
    """
    clauses = [*tree.expressions, *(tree.args[key] for key in ("having", "order") if tree.args.get(key))]
    read = [node for clause in clauses for node in _outside_windows(clause)]
    extremes = [
        node.parent if isinstance(node.parent, exp.Filter) else node
        for node in read
        if isinstance(node, (exp.Max, exp.Min)) and not node.expressions
    ]
    if not extremes:
        return
    bare = [node for node in read if isinstance(node, exp.Column) and not _is_aggregated(node)]
    if any(node.is_star or expressions.value(node, block).digest not in (block.keys or ()) for node in bare):
        found = sorted({expressions.value(node, block).digest for node in extremes})
        block.rows = digest("rows of extremes", block.rows, found)
        block.stability = max(block.stability, Stability.TIES)


def _outside_windows(clause: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of a clause that are of its own block, and in no window."""
    return clause.walk(prune=lambda node: isinstance(node, (exp.Window, exp.Query)))


def _is_aggregated(node: exp.Expr) -> bool:
    parent = node.parent
    while parent is not None and not isinstance(parent, exp.Query):
        if isinstance(parent, exp.AggFunc):
            return True
        parent = parent.parent
    return False

"""Joins that look something up: LEFT JOIN with a relation of which at most one row fulfils the condition.

Such a join neither adds nor removes rows, so that only the columns which it looks up depend on what it reads:

    SELECT c.id, o.total FROM customers AS c LEFT JOIN
      (SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id) AS o ON o.customer_id = c.id

That the two sides of the condition are of one type is taken for granted: as numbers, the texts '1' and '01' are equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm
from lineage.sql.canonical.readers.function_kinds import FunctionKind
from lineage.sql.canonical.readers.value_forms import Expressions, conditions

__all__ = ["finds_one_row"]

_STEADY = FunctionKind.DETERMINISTIC


def finds_one_row(join: exp.Expr, number: int, block: BlockForm, expressions: Expressions) -> bool:
    """Return whether a join certainly finds at most one row of its relation, and keeps all rows that there were."""
    item = block.items[number]
    kind = str(join.args.get("kind") or "").upper()
    if str(join.args.get("side") or "").upper() != "LEFT" or kind not in ("", "OUTER") or item.relation.is_open:
        return False
    names = {str(expressions.identifiers.column(one)) for one in join.args.get("using") or ()}
    on = join.args.get("on")
    if on is not None:
        names |= set(_equated(on, number, block, expressions))
    values = (item.relation.find(name) for name in names)
    found = {value.digest for value in values if value is not None}
    return any(key <= found for key in item.relation.keys)


def _equated(on: exp.Expr, number: int, block: BlockForm, expressions: Expressions) -> Iterator[str]:
    """Yield the columns of the relation that must be equal to a value of the other ones."""
    identifiers = expressions.identifiers

    def place(column: exp.Column) -> int | None:
        """Return the number of the only item that has a column; None if it is not certain."""
        table = column.args.get("table")
        if column.args.get("db") is not None or not isinstance(column.this, exp.Identifier):
            return None
        name = str(identifiers.column(column.this))
        alias = str(identifiers.column(table)) if table is not None else None
        found = [at for at, item in enumerate(block.items)
                 if (item.alias == alias if alias is not None else item.relation.may_have(name))]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def is_of_others(node: exp.Expr) -> bool:
        """Return whether a value is one and the same for all rows of the relation."""
        if isinstance(node, exp.Column):
            return place(node) not in (None, number)
        if isinstance(node, exp.Func) and expressions.functions.kind(node, expressions.text) is not _STEADY:
            return False
        return not isinstance(node, (exp.Query, exp.Collate)) and all(map(is_of_others, node.iter_expressions()))

    for condition in conditions(on):
        if isinstance(condition, exp.EQ):
            for one, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
                if isinstance(one, exp.Column) and place(one) == number and is_of_others(other):
                    yield str(identifiers.column(one.this))

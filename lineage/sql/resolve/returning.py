"""RETURNING: the query that is equivalent to a data-modifying statement's RETURNING clause."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from sqlglot import exp

__all__ = ["query_of_returning"]


def query_of_returning(node: exp.Expr) -> exp.Select | None:
    """Return the query equivalent to the RETURNING of an INSERT, UPDATE, DELETE or MERGE; None without RETURNING.

    Its rows are the changed rows, selected by its WHERE.
    """
    returning = node.args.get("returning")
    table = node.this.this if isinstance(node.this, exp.Schema) else node.this
    if returning is None or not isinstance(table, exp.Table):
        return None
    joined = []
    if isinstance(node, exp.Merge):  # it returns the source's columns before the target's
        joined, table = [table], node.args["using"]
    else:
        if (origin := node.args.get("from_")) is not None:
            joined.append(origin.this)
        joined += node.args.get("using") or ()
    query = exp.Select(
        expressions=returning.expressions,
        from_=exp.From(this=table),
        joins=[exp.Join(this=item) for item in joined],
    )
    if conditions := list(_conditions(node)):
        query.set("where", exp.Where(this=reduce(lambda one, other: exp.And(this=one, expression=other), conditions)))
    return query


def _conditions(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Update | exp.Delete):
        where = node.args.get("where")
        yield from () if where is None else (where.this,)
    if isinstance(node, exp.Merge):
        on, whens = node.args.get("on"), node.args.get("whens")
        yield from () if on is None else (on,)
        for when in whens.expressions if whens is not None else ():
            condition = when.args.get("condition")
            yield from () if condition is None else (condition,)

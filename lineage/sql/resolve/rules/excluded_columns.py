"""EXCLUDE after a select list (Redshift): columns of the whole list that the result does not have.

https://docs.aws.amazon.com/redshift/latest/dg/r_EXCLUDE_list.html
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage.sql.resolve.identifiers import Identifiers
from lineage.sql.resolve.projection import Projection

__all__ = ["drop_excluded", "split_list"]


def split_list(select: exp.Expr) -> tuple[Sequence[exp.Expr], Sequence[exp.Expr]]:
    """Return the items of a select list, and the columns after EXCLUDE.

    After a star, the parser gives the first of these columns to the star, and reads the others as items of the list.
    """
    items: list[exp.Expr] = select.args["expressions"]
    for number, item in enumerate(items):
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star) and star.args.get("except_"):
            return items[: number + 1], [*star.args["except_"], *items[number + 1 :]]
    return items, select.args.get("exclude") or ()


def drop_excluded(projection: Projection, excluded: Sequence[exp.Expr], identifiers: Identifiers) -> None:
    """Remove the excluded columns, wherever in the list they come from."""
    names = {identifiers.column(each.this if isinstance(each, exp.Column) else each) for each in excluded}
    projection.keep([index for index, name in enumerate(projection.names) if name not in names])

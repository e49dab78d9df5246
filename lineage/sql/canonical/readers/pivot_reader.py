"""PIVOT of a relation with listed values: a group of rows for each combination of the other columns.

A column that it makes is `sum(CASE WHEN k = 'a' THEN v END)`, whatever columns are beside it.
"""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm, FromItem, UnsupportedError
from lineage.sql.canonical.forms.digests import digest, tree_digest
from lineage.sql.canonical.forms.table_form import ClauseForm, TableForm, ValueForm, worst
from lineage.sql.canonical.readers.value_forms import Expressions
from lineage.sql.resolve.rules.pivots import listed_names

__all__ = ["pivoted"]

_READ = frozenset(("expressions", "fields", "alias", "columns"))
_SETTINGS = frozenset(("identify_pivot_strings", "prefixed_pivot_columns", "pivot_column_naming"))


def pivoted(pivot: exp.Expr, item: FromItem, outer: BlockForm, expressions: Expressions, text: str) -> TableForm:
    """Return the form of `item PIVOT (…)`.

    Raises:
        UnsupportedError: it is not one of listed values over a relation of known columns.
    """
    fields = pivot.args.get("fields") or []
    is_plain = not any(value and key not in _READ | _SETTINGS for key, value in pivot.args.items())
    if not is_plain or item.relation.is_open or len(fields) != 1 or not isinstance(fields[0], exp.In):
        raise UnsupportedError
    key, values = fields[0].this, fields[0].expressions
    block = BlockForm(outer.parent, outer.ctes)
    block.items.append(item)
    block.rows = item.relation.rows
    decided = expressions.value(key, block)
    read = {
        str(expressions.identifiers.column(c.this)) for c in (key, *pivot.expressions) for c in c.find_all(exp.Column)
    }
    kept = [(name, value) for name, value in item.relation.columns if name not in read]
    block.keys = frozenset(value.digest for _, value in kept)
    block.rows = digest("pivot", block.rows, sorted(block.keys))
    calls = [one.this if isinstance(one, exp.Alias) else one for one in pivot.expressions]
    aggregates = [expressions.value(one, block) for one in calls]
    names = listed_names(expressions.identifiers, pivot, lambda node: str(node.sql()))
    listed = [one.this if isinstance(one, (exp.PivotAlias, exp.Alias)) else one for one in values]
    if block.wild or block.templates or len(names) != len(aggregates) * len(listed):
        raise UnsupportedError
    if not all(isinstance(one, (exp.Literal, exp.Column, exp.Boolean, exp.Null)) for one in listed):
        raise UnsupportedError
    made = [
        ValueForm(
            digest("pivoted", aggregate.digest, decided.digest, tree_digest(value, text)),
            stability=worst([aggregate, decided]),
        )
        for value in listed
        for aggregate in aggregates
    ]
    clause = ClauseForm("PIVOT", block.rows, tree_digest(key, text))
    return TableForm(
        block.rows,
        (*kept, *zip(names, made, strict=True)),
        digest("stored", block.rows),
        stability=item.relation.stability,
        clauses=(clause, *item.relation.clauses),
        keys=frozenset((block.keys,)),
    )

"""Statements with placeholders of templates: each is an unknown part of its own, known by how it is written.

A macro call in a select list stands for any columns; one in the place of a table or query for any relation, made of all
that the statement is known to read; one behind a clause may leave out rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import ClauseForm, TableForm
from lineage.sql.canonical.readers.from_reader import Lookup
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.placeholders import PlaceholderRole

__all__ = ["are_read", "macro_clause", "mark_placeholders", "with_clauses", "with_templates"]


def are_read(parsed: ParsedStatement) -> bool:
    """Return whether all doubts about a statement are placeholders of it."""
    starts = {one.span.start for one in parsed.doubts if one.span is not None}
    return starts <= parsed.placeholders.keys() and all(one.span is not None for one in parsed.doubts)


def mark_placeholders(tree: exp.Expr, parsed: ParsedStatement) -> None:
    """Let the literals that stand for placeholders say what these are."""
    for literal in tree.find_all(exp.Literal):
        placeholder = parsed.placeholders.get(literal.meta.get("start", -1))
        if placeholder is not None and not literal.is_string:
            literal.set("this", placeholder.text)
            literal.meta["is_call"] = placeholder.role is PlaceholderRole.CALL


def macro_clause(text: str) -> str:
    """Return the name of the clause that a macro call is.

    >>> macro_clause("{{ dbt_utils.star(…) }}"), macro_clause("${columns}")
    ('macro dbt_utils.star', 'placeholder columns')
    """
    name = text.strip("{}$#& -").partition("(")[0].strip()
    return f"macro {name}" if "(" in text else f"placeholder {name}"


def with_templates(lookup: Lookup, whole: Sequence[str]) -> Lookup:
    """Return a look-up that knows the relations that macros make of tables with these contents."""

    def find(name: str) -> TableForm | None:
        if "{{" not in name:
            return lookup(name)
        rows = digest("template", name, whole)
        clause = ClauseForm(macro_clause(name[name.index("{{") :]), rows, name)
        return TableForm(rows, order=rows, rest=rows, is_ordered=False, clauses=(clause,))

    return find


def with_clauses(relation: TableForm, parsed: ParsedStatement, whole: Sequence[str]) -> TableForm:
    """Return what a query returns if macro calls behind its clauses may leave out rows."""
    texts = [one.text for _, one in sorted(parsed.placeholders.items()) if one.role is PlaceholderRole.CLAUSE]
    if not texts:
        return relation
    clauses = (ClauseForm(macro_clause(text), digest(text, whole), text) for text in texts)
    rows = digest("template", relation.rows, texts, whole)
    return replace(relation, rows=rows, clauses=(*relation.clauses, *clauses))

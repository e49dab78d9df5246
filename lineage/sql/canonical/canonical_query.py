"""`canonical_query`: the rows and columns of a query, as digests that equal those of every query proven the same."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage.model.names import Naming
from lineage.sql.canonical.forms.block_form import UnsupportedError
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import TableForm, opaque_table
from lineage.sql.canonical.readers.from_reader import Lookup
from lineage.sql.canonical.readers.query_reader import content_of
from lineage.sql.canonical.readers.template_forms import are_read, mark_placeholders, with_clauses, with_templates
from lineage.sql.canonical.readers.write_reader import WriteReader
from lineage.sql.parse.parsed import ParsedStatement

__all__ = ["canonical_query", "tokens_digest"]


def canonical_query(
    parsed: ParsedStatement,
    naming: Naming,
    lookup: Lookup,
    reads: Sequence[str] = (),
    functions: frozenset[str] = frozenset(),
) -> TableForm:
    """Return what a query returns, or the table that CREATE … AS, INSERT or MERGE makes; never raises for bad SQL.

    What no rule reads is compared by its text, together with everything of the tables that it names; `reads` are
    further tables that it is known to read, `functions` the user's own whose value depends on their arguments alone.
    """
    tree = parsed.tree
    whole = [content_of(lookup, name) for name in sorted(reads)]
    alias: exp.Expr | None = None
    if isinstance(tree, exp.Create):
        alias, tree = tree.this, tree.args.get("expression")
    is_read = isinstance(tree, (exp.Query, exp.Insert, exp.Merge)) and are_read(parsed)
    if tree is None or not is_read or parsed.problem or parsed.step:
        return opaque_table(digest("text", tokens_digest(parsed), whole))
    if parsed.placeholders:
        mark_placeholders(tree, parsed)
        lookup = with_templates(lookup, whole)
    try:
        canonical = WriteReader(parsed.text, naming, lookup, functions)
        if isinstance(tree, exp.Insert):
            return with_clauses(canonical.inserted(tree), parsed, whole)
        if isinstance(tree, exp.Merge):
            return with_clauses(canonical.merged(tree), parsed, whole)
        relation = with_clauses(canonical.query(tree, None), parsed, whole)
        return canonical.with_columns(relation, alias) if isinstance(alias, exp.Schema) else relation
    except (UnsupportedError, RecursionError):
        return opaque_table(digest("text", tokens_digest(parsed), whole))


def tokens_digest(parsed: ParsedStatement) -> str:
    """Return the digest of a statement's tokens: comments, white space and the case of keywords drop out."""
    placeholders = [one.text for _, one in sorted(parsed.placeholders.items())]
    return digest([(token.token_type.name, token.text) for token in parsed.tokens], placeholders)

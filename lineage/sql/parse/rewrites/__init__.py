"""Rewrite statements that sqlglot rejects, or keeps as text, into equivalent ones that it parses.

The rewrites work on tokens, so that every position still refers to the text. Moving all rows of one table into
another (partitions that are attached, switched or exchanged) becomes an INSERT. Importing this package registers the
rules, one subject a file.
"""

from __future__ import annotations

from sqlglot.dialects.dialect import Dialect as Parser

from lineage.model.dialect import Dialect
from lineage.sql.parse.rewrites import alter, analyze, create, files, queries, writes
from lineage.sql.parse.rewrites.statement import RULES, Statement, Tokens

__all__ = ["alter", "analyze", "create", "files", "queries", "rewrite_tokens", "writes"]


def rewrite_tokens(tokens: Tokens, text: str, parser: Parser, dialect: Dialect) -> list[Tokens]:
    """Return the rewritten statements, as tokens; an empty list if no rule applies."""
    statement = Statement(tokens, text, parser, dialect)
    is_changed = False
    for simplify in (
        queries.without_phrases,
        queries.without_json_format,
        queries.without_path_names,
        queries.without_lateral_rows,
        queries.plain_lambdas,
        queries.plain_absolute,
        writes.hints_before_alias,
        writes.plain_assignments,
    ):
        simpler = simplify(statement)
        if simpler is not None:
            statement, is_changed = Statement(simpler, text, parser, dialect), True
    for rule in (*RULES.get(statement.words[0], ()), *RULES["*"]):
        found = list(rule(statement))
        if found:
            return found
    return [statement.tokens] if is_changed else []

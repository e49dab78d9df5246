"""Statements that the parser refuses, or keeps as text, said in words that it reads and that mean the same here.

Everything is done on tokens, so that every position stays one in the text. What moves all rows of one table into
another (partitions that are attached, switched or exchanged) is an INSERT of them. Importing this package registers
the rules, one subject a file.
"""

from __future__ import annotations

from sqlglot.dialects.dialect import Dialect as Parser

from lineage.model.dialects import Dialect
from lineage.sql.parse.rewrites import alter, analyze, create, files, queries, writes
from lineage.sql.parse.rewrites.statement import RULES, Statement, Tokens

__all__ = ["alter", "analyze", "create", "files", "queries", "rewrite_tokens", "writes"]


def rewrite_tokens(tokens: Tokens, text: str, parser: Parser, dialect: Dialect) -> list[Tokens]:
    """Return the statements, as tokens, that say what this one says; none where no rule knows it."""
    statement = Statement(tokens, text, parser, dialect)
    for rule in (*RULES.get(statement.words[0], ()), *RULES["*"]):
        found = list(rule(statement))
        if found:
            return found
    return []

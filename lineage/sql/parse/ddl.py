"""Parse DDL text into syntax trees, for the catalog."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ParseError

from lineage.model.dialects import Dialect
from lineage.sql.budget import Budget
from lineage.sql.parse.guard import PARSER_DEFECTS, NestingError, tools_of
from lineage.sql.parse.statements import parse_statements

__all__ = ["parse_ddl"]


def parse_ddl(text: str, dialect: Dialect) -> list[exp.Expr | None]:
    """Return the statements of DDL text.

    Raises:
        SqlglotError: the text cannot be parsed, or nests too deeply; the message says where or why.
    """
    tokenizer, parser = tools_of(dialect, Budget().nesting)
    tokens = tokenizer.tokenize(text)
    try:
        trees = parser.parse_written(tokens, text) if tokens else []
    except NestingError as error:
        raise ParseError(str(error)) from error
    except (RecursionError, *PARSER_DEFECTS) as error:
        raise ParseError(f"the parser fails on a statement ({type(error).__name__})") from error
    if any(isinstance(tree, exp.Command | exp.Execute) for tree in trees):  # a dialect's own syntax
        return [parsed.tree for parsed in parse_statements(text, dialect)]
    return trees

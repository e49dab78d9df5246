"""What each kind of statement writes, one a file. Importing this package registers them."""

from lineage.sql.statements import create, ddl, delete, insert, merge, query, update
from lineage.sql.statements.outcome import STATEMENT_RULES, Outcome, statement_rule
from lineage.sql.statements.query import define_by_query

__all__ = [
    "STATEMENT_RULES",
    "Outcome",
    "create",
    "ddl",
    "define_by_query",
    "delete",
    "insert",
    "merge",
    "query",
    "statement_rule",
    "update",
]

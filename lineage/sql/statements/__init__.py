"""What each kind of statement writes, one a file. Importing this package registers them."""

from lineage.sql.statements import create, ddl, delete, insert, merge, query, update
from lineage.sql.statements.outcome import STATEMENT_RULES, Outcome, statement_rule

__all__ = [
    "STATEMENT_RULES",
    "Outcome",
    "create",
    "ddl",
    "delete",
    "insert",
    "merge",
    "query",
    "statement_rule",
    "update",
]

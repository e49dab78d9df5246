"""Rules for what each kind of statement writes, one kind a file. Importing this package registers them."""

from lineage.sql.resolve.statements import copy, create, ddl, delete, files, insert, merge, multi_insert, query, update
from lineage.sql.resolve.statements.outcome import STATEMENT_RULES, Outcome, statement_rule, write
from lineage.sql.resolve.statements.query import define_by_query
from lineage.sql.resolve.statements.step import assigned_within, step_outcome, variable_scope

__all__ = [
    "STATEMENT_RULES",
    "Outcome",
    "assigned_within",
    "copy",
    "create",
    "ddl",
    "define_by_query",
    "delete",
    "files",
    "insert",
    "merge",
    "multi_insert",
    "query",
    "statement_rule",
    "step_outcome",
    "update",
    "variable_scope",
    "write",
]

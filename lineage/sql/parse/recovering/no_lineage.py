"""Statements that neither read nor write rows: privileges, sessions, servers, objects that hold no data.

They are recognised by their words, without a syntax tree. There is nothing to resolve, so their lineage is complete.
A statement that contains a query is never one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["is_without_lineage", "moves_no_data"]

_TREES = (
    exp.Use, exp.Set, exp.Transaction, exp.Commit, exp.Rollback, exp.Grant, exp.Comment, exp.Describe, exp.Pragma,
    exp.Kill, exp.Show, exp.Execute, exp.ExecuteSql, exp.Analyze, exp.Refresh, exp.Uncache, exp.Attach, exp.Detach,
    exp.Undrop,
)  # fmt: skip
_COMMANDS = frozenset(
    ("SET", "SHOW", "GRANT", "REVOKE", "EXPLAIN", "VACUUM", "RESET", "LISTEN", "NOTIFY", "LOCK", "CLUSTER", "REINDEX",
     "CHECKPOINT", "DISCARD", "DECLARE", "PRINT", "GO", "BEGIN", "END", "OPTIMIZE", "ANALYZE", "DESCRIBE", "DESC",
     "USE", "COMMENT", "REFRESH", "MSCK REPAIR", "ATTACH", "DETACH", "INSTALL", "CALL", "EXEC", "EXECUTE", "DEALLOCATE",
     "RAISERROR", "SAVE", "COMMIT", "ROLLBACK", "SAVEPOINT")
)  # fmt: skip
"""Words that sqlglot parses as commands and that access no rows, even if a query follows."""
_HEADS = frozenset(
    ("GRANT", "REVOKE", "DENY", "SYSTEM", "MSCK", "FLUSH", "CHECK", "REPAIR", "ADD", "LIST", "LS", "LOCK", "UNLOCK",
     "KILL", "RESET", "SHUTDOWN", "PURGE", "CHANGE", "INSTALL", "UNINSTALL", "HELP", "BINLOG", "CHECKSUM", "XA",
     "REINDEX", "CLUSTER", "VACUUM", "LISTEN", "NOTIFY", "UNLISTEN", "CHECKPOINT", "DISCARD", "COMMENT", "SECURITY",
     "REASSIGN", "DBCC", "BACKUP", "RESTORE", "OPEN", "CLOSE", "SIGNAL", "RESIGNAL", "REMOVE", "RM", "UNDROP", "SHOW",
     "ENABLE", "DISABLE", "ABORT", "USE", "UNSET", "SET", "DESCRIBE", "DESC", "DEALLOCATE", "LEAVE", "ITERATE", "CACHE",
     "REFRESH", "CLEAR", "START", "STOP", "COMMIT", "ROLLBACK", "SAVE", "SAVEPOINT", "RELEASE", "BEGIN", "END",
     "PRINT", "RAISERROR", "THROW", "WAITFOR", "RECONFIGURE", "GOTO", "RETURN", "RAISE", "EXIT", "CALL", "NOAUDIT",
     "AUDIT", "ASSOCIATE", "DISASSOCIATE", "PRAGMA", "DELIMITER", "OPTIMIZE", "ANALYZE", "GET",
     "EXPLAIN", "FETCH", "MOVE", "ATTACH", "DETACH", "DO", "NULL", "BT", "ET",
     "COLLECT", "SUSPEND", "RESUME", "APPLY", "CONNECT", "DISCONNECT", "VALIDATE", "PUT", "DEFINE",
     "GENERATE", "ANALYSE", "EXTERNAL", "FSCK", "CONVERT", "SYNC", "REORG")
)  # fmt: skip
_TWO_WORDS = (["RENAME", "DICTIONARY"], ["RENAME", "DATABASE"], ["PREPARE", "TRANSACTION"])
_DDL = frozenset(("CREATE", "ALTER", "DROP"))
_WRITES = frozenset(("INSERT", "UPDATE", "DELETE"))
_QUERY = frozenset(("SELECT", "FROM", "INTO"))
# Objects that hold rows, or show the rows of other objects.
_WITH_ROWS = frozenset(("TABLE", "VIEW", "STREAM", "SYNONYM", "DICTIONARY", "PIPE", "MODEL"))
_FROM_FILES = frozenset(
    ("LIBRARY", "TYPE", "EXTENSION", "DATABASE", "LOGIN", "STATISTICS", "FULLTEXT", "CERTIFICATE", "ASSEMBLY",
     "FUNCTION", "USER", "SCHEMA", "CATALOG", "SHARE")
)  # fmt: skip
"""Objects without rows whose FROM does not name a table."""
_BEFORE_KIND = frozenset(
    ("OR", "REPLACE", "ALTER", "IF", "NOT", "EXISTS", "TEMP", "TEMPORARY", "PUBLIC", "PRIVATE", "EXTERNAL", "FOREIGN",
     "DYNAMIC", "MATERIALIZED", "SECURE", "HYBRID", "TRANSIENT", "ICEBERG", "LOCAL", "GLOBAL", "UNLOGGED", "LIVE",
     "STREAMING", "EVENT", "INTERACTIVE", "RECURSIVE", "FORCE", "NO", "EDITIONABLE", "SNAPSHOT", "VIRTUAL")
)  # fmt: skip
# ALTER TABLE actions that move rows or the table itself; all others change how the table is stored.
_MOVES = frozenset(
    ("RENAME", "SWAP", "EXCHANGE", "SWITCH", "ATTACH", "MOVE", "REPLACE", "FETCH", "FREEZE", "AS", "APPEND")
)


def is_without_lineage(tree: exp.Expr) -> bool:
    """Return whether a statement reads and writes no rows, judged by its tree."""
    if isinstance(tree, exp.Command):
        return str(tree.this).upper() in _COMMANDS
    return isinstance(tree, _TREES)


def moves_no_data(tokens: Sequence[Token]) -> bool:
    """Return whether a statement reads and writes no rows, judged by its words."""
    words = [token.text.upper() for token in tokens if token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)]
    if not words or not words[0].strip():
        return False
    if words[:2] == ["(", "@"] and words[-1] == ")" and not _QUERY.intersection(words):
        return True  # the types of the parameters before a statement of T-SQL's sp_executesql
    if words[0] == "UPDATE STATISTICS" or words[:2] in _TWO_WORDS:
        return True
    if words[0].split()[0] in _HEADS:
        return words[0] in ("GRANT", "REVOKE", "DENY", "SHOW", "EXPLAIN") or not _QUERY.intersection(words)
    if words[0] == "CREATE" and words[1:2] == ["POLICY"] and words.count("SELECT") == ("FOR" in words):
        return True  # PostgreSQL's `FOR SELECT`; a sub-query is another SELECT
    if words[0] not in _DDL or "SELECT" in words:
        return False
    if "RULE" in words[:4] and "DO" in words:  # PostgreSQL's rules run statements
        return not _WRITES.intersection(words[words.index("DO") :])
    kind = next((word for word in words[1:] if word not in _BEFORE_KIND), "")
    if kind not in _WITH_ROWS:
        return words[0] != "CREATE" or "FROM" not in words or kind in _FROM_FILES
    return words[0] == "ALTER" and not _MOVES.intersection(words) and not _changes_rows(words)


def _changes_rows(words: Sequence[str]) -> bool:
    """Return whether an ALTER TABLE of ClickHouse updates or deletes rows; `ON DELETE` is a foreign key's."""
    return any(word in ("UPDATE", "DELETE") and before != "ON" for before, word in pairwise(words))

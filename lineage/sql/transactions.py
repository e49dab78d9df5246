"""Transactions that are rolled back: what stands in them wrote nothing that lasts.

Read is what stands in one line: from BEGIN or START TRANSACTION to ROLLBACK, or from SAVEPOINT to ROLLBACK TO it. A
ROLLBACK in a branch, in a loop or in an exception handler may not happen, and undoes nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import StatementLineage
from lineage.sql.parsing import ParsedStatement
from lineage.sql.procedural import BlockKind

__all__ = ["may_not_run", "rolled_back", "without_effect"]

_OPENS_BY_ITSELF = frozenset(("oracle", "exasol"))
"""Dialects where a transaction begins with the first statement that writes, not with a BEGIN."""
_DDL_COMMITS = frozenset(("oracle", "mysql", "snowflake", "exasol", "doris", "starrocks"))
"""Dialects where DDL commits what was open. MySQL 15.3.3, Oracle SQL Language Reference (COMMIT), Snowflake (DDL)."""
_DDL = frozenset(("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME"))
_FILLERS = frozenset(("WORK", "TRAN", "TRANSACTION", "TO", "SAVEPOINT"))
_BEGINS = frozenset(("", ";", "TRAN", "TRANSACTION", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"))


def rolled_back(statements: Sequence[ParsedStatement], dialect: str) -> frozenset[int]:
    """Return which statements of a text are undone by a ROLLBACK behind them."""
    if not any(s.tokens and s.tokens[0].text.upper() == "ROLLBACK" for s in statements):
        return frozenset()
    undone: set[int] = set()
    opened = 0 if dialect in _OPENS_BY_ITSELF else None
    savepoints: dict[str, int] = {}
    for number, statement in enumerate(statements):
        if not statement.tokens or may_not_run(statement):
            continue
        words = [token.text.upper() for token in statement.tokens[:5]]
        first, second = words[0], words[1] if len(words) > 1 else ""
        if (first == "BEGIN" and second in _BEGINS) or (first == "START" and second == "TRANSACTION"):
            opened = number
            savepoints.clear()
        elif first in ("COMMIT", "END") or (first in _DDL and dialect in _DDL_COMMITS):
            opened = number if dialect in _OPENS_BY_ITSELF else None
            savepoints.clear()
        elif first == "SAVEPOINT" or (first == "SAVE" and second in _FILLERS):
            savepoints[words[-1]] = number
        elif first == "ROLLBACK":
            name = next((word for word in words[1:] if word not in _FILLERS), "")
            since = savepoints.get(name, opened) if name else opened
            if since is not None:
                undone.update(range(since, number))
            if name not in savepoints:
                opened = number if dialect in _OPENS_BY_ITSELF else None
    return frozenset(undone)


def may_not_run(statement: ParsedStatement) -> bool:
    """Return whether a statement stands in a branch, a loop or an exception handler."""
    return statement.step is not None and any(b.kind is not BlockKind.ROUTINE for b in statement.step.blocks)


def without_effect(statement: StatementLineage) -> StatementLineage:
    """Return a statement that was undone: it has read its tables, and written nothing."""
    if statement.target is None and not statement.changes:
        return statement
    problem = Diagnostic(
        DiagnosticCode.ROLLED_BACK,
        Severity.INFO,
        f"{statement.operation} of {statement.target} is rolled back: it writes nothing that lasts",
        statement.span,
    )
    return replace(
        statement,
        target=None,
        other_targets=(),
        edges=[],
        schema=(),
        inferred=(),
        changes=(),
        defines=False,
        diagnostics=[*statement.diagnostics, problem],
    )

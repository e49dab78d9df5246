"""Transactions that are rolled back: their statements have no lasting effect.

Only straight-line code counts: from BEGIN or START TRANSACTION to ROLLBACK, or from SAVEPOINT to ROLLBACK TO it. A
ROLLBACK in a branch, a loop or an exception handler may not run, and is ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from sqlglot.tokenizer_core import Token

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.dialect import Dialect
from lineage.model.statement import StatementLineage
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.procedural import BlockKind

__all__ = [
    "DDL",
    "RolledBack",
    "TransactionStep",
    "left_open",
    "may_not_run",
    "of_another_session",
    "settled",
    "statements_rolled_back",
    "step_of",
    "transaction_step",
    "without_commit",
    "without_effect",
]

DDL = frozenset(("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME"))
_OFF = frozenset(("0", "OFF", "FALSE"))
_MODES = {"AUTOCOMMIT": _OFF, "IMPLICIT_TRANSACTIONS": frozenset(("ON",))}
"""The settings of when a session commits, with the values that turn autocommit off."""
_ASSIGNS = frozenset(("=", ":=", "TO"))
_MAX_SET_WORDS = 40
_UNDO = frozenset(("ROLLBACK", "ABORT"))
_FIRST_OF_BEGIN = frozenset(("BEGIN", "START", "XA", "BT"))
_WRITES = DDL | frozenset(("INSERT", "UPDATE", "DELETE", "MERGE", "COPY", "REPLACE", "LOAD"))
_QUERIES = frozenset(("SELECT", "WITH", "("))
_MAX_ABORT_WORDS = 5  # ABORT TRANSACTION AND NO CHAIN
_FILLERS = frozenset(("WORK", "TRAN", "TRANSACTION", "TO", "SAVEPOINT"))
_BEGINS = frozenset(
    ("", ";", "TRAN", "TRANSACTION", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "DEFERRABLE")
)
_BEGINS_TWICE = (("NOT", "DEFERRABLE"), ("CONCURRENT", "TRANSACTION"))


Verb: TypeAlias = Literal[
    "begin", "commit", "rollback", "rollback to", "savepoint", "manual", "automatic",
    "prepare", "commit prepared", "rollback prepared", "xa commit", "xa rollback",
]  # fmt: skip
_OF_PREPARED: dict[str, Verb] = {"COMMIT": "commit prepared", "ROLLBACK": "rollback prepared"}
_OF_XA: dict[str, Verb] = {
    "START": "begin", "BEGIN": "begin", "PREPARE": "prepare", "COMMIT": "xa commit", "ROLLBACK": "xa rollback",
}  # fmt: skip
_ENDS = ("commit", "manual", "automatic", "prepare")
_OF_TERADATA: dict[str, Verb] = {"BT": "begin", "ET": "commit"}


class TransactionStep(NamedTuple):
    """The effect of a statement on its session's transaction."""

    verb: Verb
    """prepare: the transaction waits for COMMIT PREPARED or ROLLBACK PREPARED, which XA COMMIT and XA ROLLBACK may be,
    too (`settled`). manual: autocommit is off from here on; automatic: it is on again."""
    savepoint: str = ""
    chain: bool = False
    """Another transaction begins immediately (AND CHAIN)."""


def settled(verb: str, *, begun: bool) -> str:
    """Return what an XA verb ends: the transaction that the session has `begun`, else one that is prepared.

    >>> settled("xa rollback", begun=True), settled("xa rollback", begun=False), settled("commit", begun=False)
    ('rollback', 'rollback prepared', 'commit')
    """
    return verb if not verb.startswith("xa ") else verb[3:] if begun else f"{verb[3:]} prepared"


def transaction_step(tokens: Sequence[Token]) -> TransactionStep | None:
    """Return the effect of a statement on its session's transaction, by its tokens; None if it has none."""
    words = [token.text.upper() for token in tokens[:7]]
    words[:1] = words[0].split() if words else []  # BigQuery's BEGIN TRANSACTION is one token
    first, second = (*words, "", "")[:2]
    chain = "CHAIN" in words and "NO" not in words
    verb = _mode(tokens) if first in ("SET", "ALTER") else _plain_verb(words, first, second)
    if verb is not None:
        return TransactionStep(verb)
    if first in ("COMMIT", "END") and second != "PREPARED":
        return TransactionStep("commit", chain=chain)
    if first == "ABORT" and len(words) <= _MAX_ABORT_WORDS:
        return TransactionStep("rollback", chain=chain)
    if first == "SAVEPOINT" or (first == "SAVE" and second in _FILLERS):
        return TransactionStep("savepoint", words[-1])
    if first == "ROLLBACK" and second != "PREPARED":
        name = "" if "CHAIN" in words else next((word for word in words[1:] if word not in _FILLERS), "")
        return TransactionStep("rollback to", name) if name else TransactionStep("rollback", chain=chain)
    return None


def _plain_verb(words: Sequence[str], first: str, second: str) -> Verb | None:
    """Return what a statement does that has no savepoint and begins no other transaction."""
    if (first, second) == ("START", "TRANSACTION"):
        return "begin"
    if first == "BEGIN" and (second in _BEGINS or tuple(words[1:3]) in _BEGINS_TWICE):
        return "begin"
    if (first, second) == ("PREPARE", "TRANSACTION"):
        return "prepare"
    if second == "PREPARED":
        return _OF_PREPARED.get(first)
    if first == "XA":  # MySQL: distributed transactions
        return _OF_XA.get(second)
    return _OF_TERADATA.get(first) if second in ("", ";") else None


def _mode(tokens: Sequence[Token]) -> Verb | None:
    """Return whether a SET turns autocommit of its session off or on; None if it does neither."""
    words = [token.text.upper().lstrip("@") for token in tokens[:_MAX_SET_WORDS]]
    own = next((one for one in _MODES if one in words), None)
    if own is None or "GLOBAL" in words[: words.index(own)]:
        return None
    value = next((word for word in words[words.index(own) + 1 :] if word not in _ASSIGNS), "")
    return "manual" if value in _MODES[own] else "automatic"


def step_of(statement: ParsedStatement) -> TransactionStep | None:
    """Return the effect of a parsed statement on its session's transaction; None if it has none."""
    return transaction_step(statement.tokens)


class RolledBack(NamedTuple):
    """The indexes of statements that a later ROLLBACK undoes, and of those that roll back what is not known.

    `left_open` is the index of the BEGIN of a transaction that a text writes in and does not end.
    """

    undone: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()
    left_open: int | None = None


def statements_rolled_back(statements: Sequence[ParsedStatement], dialect: Dialect) -> RolledBack:
    """Return the statements that a later ROLLBACK undoes, and each ROLLBACK of a transaction that is not here."""
    if not any(s.tokens and _UNDO.intersection(token.text.upper() for token in s.tokens[:2]) for s in statements):
        return RolledBack()
    walk = _Transactions(statements, dialect)
    for number, statement in enumerate(statements):
        if statement.tokens and not may_not_run(statement):
            walk.take(number)
    return RolledBack(frozenset(walk.undone), frozenset(walk.unknown))


class _Transactions:
    """The transaction of a session as its statements are read in order, and what of them is undone."""

    def __init__(self, statements: Sequence[ParsedStatement], dialect: Dialect) -> None:
        self.undone: set[int] = set()
        self.unknown: set[int] = set()
        self._statements = statements
        self._dialect = dialect
        self._by_itself = dialect.implicit_transactions
        """Whether a statement begins a transaction by itself."""
        self._opened = 0 if self._by_itself else None
        self._depth = 0
        """The number of BEGINs within the open transaction, where these nest."""
        self._savepoints: dict[str, int] = {}
        self._prepared: list[range] = []

    def take(self, number: int) -> None:
        """Take the next statement that runs."""
        step = step_of(self._statements[number])
        if step is None:
            if _commits(self._statements[number], self._dialect):
                self._end(number + 1 if self._by_itself else None)
            return
        if step.verb in ("manual", "automatic"):
            self._by_itself = step.verb == "manual"
        after = number if self._by_itself or step.chain else None
        verb = settled(step.verb, begun=_is_begin(self._statements, self._opened))
        if step.verb == "begin" and not self._dialect.begin_commits and _is_begin(self._statements, self._opened):
            self._depth += self._dialect.begins_nest
        elif step.verb == "begin":
            self._end(number)
        elif step.verb == "commit" and self._depth:
            self._depth -= 1
        elif verb in _ENDS:
            if step.verb == "prepare" and self._opened is not None:
                self._prepared.append(range(self._opened, number))
            self._end(after)
        elif verb in _OF_PREPARED.values():
            self._settle(number, verb)
        elif step.verb == "savepoint":
            self._savepoints[step.savepoint] = number
        else:
            since = self._savepoints.get(step.savepoint, self._opened) if step.savepoint else self._opened
            if since is not None:
                self._undo(range(since, number))
            if step.savepoint not in self._savepoints:
                self._end(after)

    def _end(self, opened: int | None) -> None:
        self._opened, self._depth = opened, 0
        self._savepoints.clear()

    def _settle(self, number: int, verb: str) -> None:
        """End what is prepared; which of several is not known, since their names are literals, which a log masks."""
        if verb == "rollback prepared":
            if len(self._prepared) == 1:
                self._undo(self._prepared[0])
            else:
                self.unknown.add(number)
        self._prepared.clear()

    def _undo(self, numbers: range) -> None:
        self.undone.update(n for n in numbers if not _stays(self._statements[n], self._dialect))


def left_open(statements: Sequence[ParsedStatement], dialect: Dialect) -> int | None:
    """Return the index of the BEGIN of a transaction that is written in and not ended, not even in a branch."""
    if not any(s.tokens and s.tokens[0].text[:5].upper() in _FIRST_OF_BEGIN for s in statements):
        return None
    opened: int | None = None
    writes = False
    for number, statement in enumerate(statements):
        step = transaction_step(statement.tokens) if statement.tokens else None
        if step is None:
            writes |= _may_write(statement)
            opened = None if statement.tokens and _commits(statement, dialect) else opened
        elif step.verb == "begin":
            opened, writes = (None if may_not_run(statement) else number), False
        elif step.verb not in ("savepoint", "rollback to", "manual", "automatic"):
            opened, writes = (number if step.chain else None), False
    return opened if writes else None


def _may_write(statement: ParsedStatement) -> bool:
    """Return whether a statement writes, by its words: SELECT may have INTO, WITH may have an INSERT."""
    word = statement.tokens[0].text.upper() if statement.tokens else ""
    return word in _WRITES or (
        word in _QUERIES and any(token.text.upper() in (*_WRITES, "INTO") for token in statement.tokens)
    )


def _is_begin(statements: Sequence[ParsedStatement], opened: int | None) -> bool:
    """Return whether a statement opened the transaction, and not the end of the one before."""
    if opened is None or opened >= len(statements):
        return False
    step = step_of(statements[opened]) if statements[opened].tokens else None
    return step is not None and step.verb == "begin"


def _commits(statement: ParsedStatement, dialect: Dialect) -> bool:
    """Return whether a statement commits its transaction."""
    word = statement.tokens[0].text.upper()
    if word == "TRUNCATE" and dialect.truncate_commits:
        return True
    return word in DDL and dialect.ddl_commits and not _is_temporary(statement)


def _stays(statement: ParsedStatement, dialect: Dialect) -> bool:
    """Return whether a statement's effect survives a ROLLBACK."""
    is_ddl = bool(statement.tokens) and statement.tokens[0].text.upper() in DDL
    return is_ddl and dialect.temp_ddl_stays and _is_temporary(statement)


def _is_temporary(statement: ParsedStatement) -> bool:
    """Return whether DDL is on a temporary table, which does not commit."""
    return len(statement.tokens) > 1 and statement.tokens[1].text.upper() == "TEMPORARY"


def may_not_run(statement: ParsedStatement) -> bool:
    """Return whether a statement is in a branch, a loop or an exception handler."""
    return statement.step is not None and any(b.kind is not BlockKind.ROUTINE for b in statement.step.blocks)


def of_another_session(statement: StatementLineage) -> StatementLineage:
    """Return a ROLLBACK of a prepared transaction that is not known: what it wrote keeps its lineage."""
    problem = Diagnostic(
        DiagnosticCode.NOT_FOLLOWED,
        Severity.WARNING,
        "it rolls back a transaction that another session prepared, or one of several: which one is not followed",
        statement.span,
        "the lineage of what that transaction wrote is kept",
    )
    return statement.in_doubt(problem)


def without_commit(statement: StatementLineage) -> StatementLineage:
    """Return the BEGIN of a transaction that its text does not end: what it writes keeps its lineage."""
    problem = Diagnostic(
        DiagnosticCode.NOT_FOLLOWED,
        Severity.WARNING,
        "the text ends inside this transaction, without COMMIT or ROLLBACK",
        statement.span,
        "what the transaction writes may have no lasting effect; its lineage is kept",
    )
    return statement.in_doubt(problem)


def without_effect(statement: StatementLineage) -> StatementLineage:
    """Return a rolled-back statement: it keeps its reads and loses its writes."""
    if statement.target is None and not statement.changes:
        return statement
    problem = Diagnostic(
        DiagnosticCode.ROLLED_BACK,
        Severity.INFO,
        f"{statement.operation} of {statement.target} is rolled back and has no lasting effect",
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

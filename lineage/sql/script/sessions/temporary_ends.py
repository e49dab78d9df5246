"""Where temporary tables end before their session: DISCARD, ON COMMIT DROP, and ON COMMIT DELETE ROWS.

https://www.postgresql.org/docs/current/sql-discard.html and .../sql-createtable.html; connection poolers send DISCARD
between the users of one connection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lineage.model.dialect import Dialect
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.procedural import Block
from lineage.sql.scan.leading import LEADING
from lineage.sql.script.sessions.transactions import may_not_run, step_of

__all__ = ["ALL", "TemporaryEnds", "discards_temporary", "drops_on_commit", "empties_on_commit", "temporary_ends"]

ALL: frozenset[int] = frozenset((-1,))
"""Represents all temporary tables of the session."""
_DISCARDED = frozenset(("ALL", "TEMP", "TEMPORARY"))
_DISCARDS = re.compile(rf"{LEADING}discard\s+(?:all|temp|temporary)\b", re.IGNORECASE)
_ON_COMMIT_DROP = re.compile(r"\bon\s+commit\s+drop\b", re.IGNORECASE)

_ON_COMMIT_DELETE = re.compile(r"\bon\s+commit\s+delete\b", re.IGNORECASE)


def discards_temporary(text: str) -> bool:
    """Return whether a statement drops all temporary tables of its session."""
    return _DISCARDS.match(text) is not None


def drops_on_commit(text: str) -> bool:
    """Return whether the temporary table that a statement creates is dropped at the end of its transaction."""
    return _ON_COMMIT_DROP.search(text) is not None


def empties_on_commit(text: str) -> bool:
    """Return whether the temporary table that a statement creates says that each transaction begins without rows."""
    return _ON_COMMIT_DELETE.search(text) is not None


class TemporaryEnds(NamedTuple):
    """The temporary tables that end with a transaction: by statement, the creators of those that end just before it."""

    dropped: dict[int, frozenset[int]]
    """`ALL` stands for every temporary table."""
    emptied: dict[int, frozenset[int]]


def temporary_ends(statements: Sequence[ParsedStatement], dialect: Dialect) -> TemporaryEnds:
    """Return where the temporary tables of a text are dropped, or lose all rows, without being named.

    A transaction may have begun unseen: a text that is sent as a whole is one, and not every log has its BEGIN. A table
    that is to be dropped on COMMIT would be useless without, so it lasts up to the next end of a transaction.
    """
    ends = TemporaryEnds({}, {})
    dropped_on_commit: set[int] = set()
    emptied_on_commit: set[int] = set()
    is_open = False
    for number, statement in enumerate(statements):
        if not is_open and (left := {one for one in dropped_on_commit if _leaves_routine(statements, one, number)}):
            ends.dropped[number] = frozenset(left)  # each call of a routine is a transaction of its own
            dropped_on_commit -= left
        words = [token.text.upper() for token in statement.tokens[:2]]
        if words[:1] == ["DISCARD"] and not _DISCARDED.isdisjoint(words[1:]):
            ends.dropped[number] = ALL
            dropped_on_commit.clear()
            emptied_on_commit.clear()
        elif words[:1] == ["CREATE"] and not _may_end_on_commit(statement, dialect):
            continue
        elif words[:1] == ["CREATE"] and _has_words(statement, ("ON", "COMMIT", "DROP")):
            dropped_on_commit.add(number)
        elif words[:1] == ["CREATE"] and _loses_rows(statement, dialect):
            emptied_on_commit.add(number)
        elif (step := step_of(statement)) is not None and not may_not_run(statement):
            if step.verb in ("commit", "rollback", "prepare"):
                if dropped_on_commit:
                    ends.dropped[number] = frozenset(dropped_on_commit)
                    dropped_on_commit.clear()
                if emptied_on_commit:
                    ends.emptied[number] = frozenset(emptied_on_commit)
                is_open = step.chain
            elif step.verb == "begin":
                is_open = True
    return ends


def _may_end_on_commit(created: ParsedStatement, dialect: Dialect) -> bool:
    """Return whether a statement may create a table that ends with a transaction: most need not be searched."""
    return dialect.implicit_transactions or "commit" in created.text[created.span.start : created.span.end].lower()


def _loses_rows(created: ParsedStatement, dialect: Dialect) -> bool:
    """Return whether a temporary table loses its rows on COMMIT, the default of the SQL standard and Oracle."""
    if _has_words(created, ("ON", "COMMIT", "DELETE")):
        return True
    kept = _has_words(created, ("ON", "COMMIT", "PRESERVE"))
    words = tuple(token.text.upper() for token in created.tokens[1:4])
    return dialect.implicit_transactions and words == ("GLOBAL", "TEMPORARY", "TABLE") and not kept


def _leaves_routine(statements: Sequence[ParsedStatement], creator: int, number: int) -> bool:
    """Return whether a statement is outside of the routine that creates a table; an anonymous block is none."""
    routine = _routine_of(statements[creator])
    if routine is None or _routine_of(statements[number]) == routine:
        return False
    first = next(at for at, statement in enumerate(statements) if _routine_of(statement) == routine)
    header = statements[first - 1].step if first else None
    return header is not None and header.operation.startswith("CREATE_")


def _routine_of(statement: ParsedStatement) -> Block | None:
    """Return the routine or anonymous block that a statement is in."""
    return next(iter(statement.step.blocks), None) if statement.step is not None else None


def _has_words(statement: ParsedStatement, wanted: tuple[str, ...]) -> bool:
    words = [token.text.upper() for token in statement.tokens]
    return any(tuple(words[at : at + len(wanted)]) == wanted for at, word in enumerate(words) if word == wanted[0])

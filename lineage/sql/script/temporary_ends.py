"""Where temporary tables are dropped before their session ends: DISCARD and ON COMMIT DROP.

https://www.postgresql.org/docs/current/sql-discard.html and .../sql-createtable.html; connection poolers send DISCARD
between the users of one connection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.procedural import Block
from lineage.sql.scan.leading import LEADING
from lineage.sql.script.transactions import may_not_run, step_of

__all__ = ["ALL", "discards_temporary", "drops_on_commit", "temporary_ends"]

ALL: frozenset[int] = frozenset((-1,))
"""Represents all temporary tables of the session."""
_DISCARDED = frozenset(("ALL", "TEMP", "TEMPORARY"))
_DISCARDS = re.compile(rf"{LEADING}discard\s+(?:all|temp|temporary)\b", re.IGNORECASE)
_ON_COMMIT_DROP = re.compile(r"\bon\s+commit\s+drop\b", re.IGNORECASE)


def discards_temporary(text: str) -> bool:
    """Return whether a statement drops all temporary tables of its session."""
    return _DISCARDS.match(text) is not None


def drops_on_commit(text: str) -> bool:
    """Return whether the temporary table that a statement creates is dropped at the end of its transaction."""
    return _ON_COMMIT_DROP.search(text) is not None


def temporary_ends(statements: Sequence[ParsedStatement]) -> dict[int, frozenset[int]]:
    """Return, by statement, the creators of the temporary tables that are dropped just before it runs; or `ALL`."""
    found: dict[int, frozenset[int]] = {}
    waiting: set[int] = set()
    is_open = False
    for number, statement in enumerate(statements):
        words = [token.text.upper() for token in statement.tokens[:2]]
        if waiting and not is_open:  # outside a transaction it is dropped at the end of its own statement
            routine = _routine_of(statement)
            ended = {one for one in waiting if routine is None or _routine_of(statements[one]) != routine}
            if ended:
                found[number] = frozenset(ended)
                waiting -= ended
        if words[:1] == ["DISCARD"] and not _DISCARDED.isdisjoint(words[1:]):
            found[number] = ALL
            waiting.clear()
        elif words[:1] == ["CREATE"] and _has_words(statement, ("ON", "COMMIT", "DROP")):
            waiting.add(number)
        elif (step := step_of(statement)) is not None and not may_not_run(statement):
            if step.verb in ("commit", "rollback", "prepare"):
                if waiting:
                    found[number] = frozenset(waiting)
                    waiting.clear()
                is_open = step.chain
            elif step.verb == "begin":
                is_open = True
    return found


def _routine_of(statement: ParsedStatement) -> Block | None:
    """Return the routine that a statement is in, or the anonymous block: for its session, that is one statement."""
    return next(iter(statement.step.blocks), None) if statement.step is not None else None


def _has_words(statement: ParsedStatement, wanted: tuple[str, ...]) -> bool:
    words = [token.text.upper() for token in statement.tokens]
    return any(tuple(words[at : at + len(wanted)]) == wanted for at, word in enumerate(words) if word == wanted[0])

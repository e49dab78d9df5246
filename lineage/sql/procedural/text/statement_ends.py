"""T-SQL: find the end of a statement without a semicolon. Semicolons are optional in a batch.

https://learn.microsoft.com/en-us/sql/t-sql/language-elements/transact-sql-syntax-conventions-transact-sql
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CONDITION_ENDS", "statement_end"]

# Reserved words, so never unquoted names; each begins a statement unless a rule below excludes it.
_STARTERS = frozenset(
    ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "SET", "IF", "WHILE", "PRINT", "EXEC", "EXECUTE",
     "DECLARE", "RETURN", "BEGIN", "END", "ELSE", "TRUNCATE", "DROP", "CREATE", "ALTER", "USE", "GO", "OPEN", "CLOSE",
     "DEALLOCATE", "FETCH", "COMMIT", "ROLLBACK", "SAVE", "RAISERROR", "THROW", "GOTO", "WAITFOR", "BREAK", "CONTINUE",
     "GRANT", "REVOKE", "DENY", "DBCC", "KILL", "CHECKPOINT", "RECONFIGURE", "BULK")
)  # fmt: skip
CONDITION_ENDS = _STARTERS
"""Words that end the condition of IF and WHILE, which has no THEN or DO."""
_QUERY_FOLLOWS = frozenset(("UNION", "ALL", "EXCEPT", "INTERSECT", "AS", "FOR", "RETURN", "IS", "EXPLAIN"))
_WRITES = frozenset(("INSERT", "UPDATE", "DELETE", "MERGE"))
_JOIN_SIDES = frozenset(("INNER", "LEFT", "RIGHT", "FULL", "OUTER"))
_OBJECTS = frozenset(
    ("TABLE", "VIEW", "PROCEDURE", "PROC", "FUNCTION", "COLUMN", "INDEX", "SCHEMA", "TRIGGER", "TYPE", "CONSTRAINT",
     "DATABASE", "USER", "ROLE", "SEQUENCE", "SYNONYM", "LOGIN", "STATISTICS", "PARTITION", "EXTERNAL")
)  # fmt: skip
_DEFINES = frozenset(("CREATE", "ALTER"))
_OPTIONS = frozenset(("SCHEMABINDING", "ENCRYPTION", "VIEW_METADATA", "RECOMPILE", "NATIVE_COMPILATION"))
"""Options after WITH in the header of a view or routine."""
_PERMITS = frozenset(("GRANT", "REVOKE", "DENY"))


def statement_end(words: Sequence[str], start: int) -> int:
    """Return the index after the statement that begins at `start`: of its semicolon or of the next statement.

    >>> statement_end("INSERT INTO t SELECT a FROM u SELECT b FROM v".split(), 0)
    7
    """
    return _Statement(words, start).end()


class _Statement:
    def __init__(self, words: Sequence[str], start: int) -> None:
        self._words = words
        self._start = start
        self._head = words[start]
        self._expects_query = self._head in ("INSERT", "WITH")
        """Whether the next query or DML keyword at this level belongs to the same statement."""
        self._expects_set = self._head == "UPDATE"

    def end(self) -> int:
        words = self._words
        depth, cases = int(self._head == "("), 0
        for position in range(self._start + 1, len(words)):
            word = words[position]
            if word == ";":
                return position
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
            elif word == "CASE":
                cases += 1
            elif word == "END" and cases:
                cases -= 1
            elif word == "VALUES" and not depth:
                self._expects_query = False
            elif depth <= 0 and not cases and word in _STARTERS and self._begins_another(position, word):
                return position
        return len(words)

    def _begins_another(self, position: int, word: str) -> bool:
        """Return whether a word begins another statement; if not, update the state with it.

        One case for each word, a list as the grammar has it.
        """
        before = self._words[position - 1]
        if before == ".":
            return False
        if self._head in _PERMITS:  # its words are privileges: GRANT SELECT, EXECUTE ON x TO y
            return word in ("GO", "PRINT", "USE") or (word in _PERMITS and before not in ("REVOKE", "DENY"))
        after = self._words[position + 1] if position + 1 < len(self._words) else ""
        if before == "AS" and word not in ("SELECT", "WITH", "BEGIN"):
            return False
        if word == "SELECT":
            return self._next_query(before)
        if word in _WRITES:
            return self._next_write(before, word, after)
        if word == "WITH":
            behind = self._words[position + 2] if position + 2 < len(self._words) else ""
            if self._head in _DEFINES and after in _OPTIONS:  # CREATE VIEW v WITH SCHEMABINDING AS …
                return False
            if before == "AS":  # CREATE VIEW v AS WITH c AS (…): the query follows
                self._expects_query = True
                return False
            return after not in ("(", "") and behind in ("AS", "(")
        if word == "SET":
            return self._next_set(before)
        if word == "IF":
            return not (before in _OBJECTS and after in ("EXISTS", "NOT"))
        if word in ("EXEC", "EXECUTE"):
            belongs = after == "AS" or self._expects_query
            self._expects_query = False
            return not belongs
        if word in ("DROP", "CREATE", "ALTER"):
            if before == "OR":  # CREATE OR ALTER
                return False
            return self._head not in _DEFINES or (after in _OBJECTS and after not in ("COLUMN", "CONSTRAINT", "INDEX"))
        return not (word == "FETCH" and before in ("ROWS", "ROW")) and not (word == "BULK" and after != "INSERT")

    def _next_query(self, before: str) -> bool:
        if before in _QUERY_FOLLOWS:
            self._expects_query = False
            return False
        expected, self._expects_query = self._expects_query, False
        return not expected

    def _next_write(self, before: str, word: str, after: str) -> bool:
        if word == "MERGE" and (before in _JOIN_SIDES or after == "JOIN"):
            return False
        if before == "ON" and after in ("CASCADE", "NO", "SET", "RESTRICT"):
            return False
        if before in ("THEN", "BULK", "FOR", "AFTER", "OF", ",") or self._head == "OPEN":
            return False
        if self._expects_query and self._head == "WITH":
            self._expects_query = word == "INSERT"
            self._expects_set = word == "UPDATE"
            self._head = word if word != "MERGE" else self._head
            return False
        return True

    def _next_set(self, before: str) -> bool:
        if self._expects_set:
            self._expects_set = False
            return False
        return not (before in _WRITES or self._head in ("ALTER", "CREATE"))

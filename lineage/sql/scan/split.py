"""Split a script's text into statements by its lexical pieces, before parsing.

A semicolon ends a statement, except in a block that is kept whole:

- a routine (CREATE … PROCEDURE, FUNCTION, TRIGGER, PACKAGE, …) with a body of BEGIN … END;
- where the dialect has them, a statement that starts with BEGIN (of a block, not of a transaction), DECLARE before
  such a BEGIN (Oracle, Snowflake), or IF, LOOP, WHILE, FOR, REPEAT closed by END.

Openers are counted against END. A block that is not closed was misread: its semicolons end statements again. Routines
with declarations before BEGIN (Oracle) and packages end where they are closed; a T-SQL routine without a block ends
with its batch.
T-SQL's GO lines, Oracle's `/` lines and MySQL's DELIMITER are interpreted as by their clients.
"""

from __future__ import annotations

import re

from lineage.sql.scan.facts import dialect_features, word_roles
from lineage.sql.scan.pieces import Piece, PieceKind, ascii_lower, pieces

__all__ = ["split_statements"]

_GO_LINE = re.compile(r"[ \t\r\f\v]*(?:[0-9]+[ \t\r\f\v]*)?(?:--[^\n]*)?(?=\n|\Z)")
_SLASH_LINE = re.compile(r"[ \t\r]*(?=\n|\Z)")
_DELIMITER_LINE = re.compile(r"[ \t\r]+([^ \t\r\n]+)[^\n]*")
_BLANK = " \t\r"
_MAX_INDENT = 80
_ROUTINES = frozenset(("procedure", "proc", "function", "trigger", "package", "event", "task"))
_TRANSACTION = frozenset(
    ("transaction", "tran", "work", "read", "isolation", "deferred", "immediate", "exclusive", "concurrent", "name",
     "distributed", "dialog", "conversation")
)  # fmt: skip
_BEFORE_A_STATEMENT = frozenset((";", ":", ">>", "then", "else", "do", "loop", "begin", "repeat"))
_HEAD_WORDS = 12
"""Number of words in which CREATE's kind is searched (OR REPLACE, DEFINER, TEMP and the like precede it)."""


def split_statements(sql: str, dialect: str) -> list[tuple[int, int]]:
    """Return the start and end of each statement, from its first piece to its last, without comments around it."""
    return _Splitter(sql, dialect).run()


class _Splitter:
    def __init__(self, sql: str, dialect: str) -> None:
        features = dialect_features(dialect)
        self._sql = sql
        self._dialect = dialect
        self._go_lines = "go_lines" in features
        self._slash_lines = "slash_lines" in features
        self._delimiters = "delimiters" in features
        self._blocks = "blocks" in features
        self._control_flow = "control_flow" in features
        self._batch_bodies = "batch_bodies" in features
        self._declarations = "declarations" in features
        self._roles = word_roles()
        self._absent: set[str] = set()
        self._delimiter = ""
        self._found: list[tuple[int, int]] = []
        self._reset()

    def _reset(self) -> None:
        self._start = self._end = self._segment = -1
        self._segments: list[tuple[int, int]] = []
        self._words = self._depth = 0
        self._defines = self._routine = self._package = self._declares = self._closed = self._begin = False
        self._previous = ";"

    def run(self) -> list[tuple[int, int]]:
        """Return the start and end of each statement of the text."""
        position = 0
        while position >= 0:
            position = self._take_from(position)
        self._finish()
        return self._found

    def _take_from(self, position: int) -> int:
        """Read pieces up to a client command; return the position after it, or -1 at the end of the text."""
        reads_lines = self._go_lines or self._slash_lines or self._delimiters
        for piece in pieces(self._sql, self._dialect, position, self._absent):
            if piece.kind is PieceKind.COMMENT:
                continue
            after = self._client_line(piece) if reads_lines else -1
            if after >= 0:
                return after
            if piece.kind is PieceKind.SEMICOLON and not self._delimiter:
                self._semicolon()
            else:
                self._take(piece)
        return -1

    def _client_line(self, piece: Piece) -> int:
        """Return the position after a GO, `/` or DELIMITER line, or a custom delimiter, that begins here; or -1."""
        sql, (kind, start, end) = self._sql, piece
        if self._delimiter and kind not in (PieceKind.STRING, PieceKind.NAME, PieceKind.UNCLOSED):
            at = sql.find(self._delimiter, start, max(end, start + len(self._delimiter)))
            if at >= 0:
                if at > start:
                    self._take(Piece(kind, start, at))
                self._finish()
                return at + len(self._delimiter)
        line = None
        word = ascii_lower(sql[start:end]) if kind is PieceKind.WORD else ""
        if self._go_lines and word == "go":
            line = _GO_LINE.match(sql, end)
        elif self._slash_lines and kind is PieceKind.OPERATOR and sql[start:end] == "/":
            line = _SLASH_LINE.match(sql, end)
        elif self._delimiters and word == "delimiter" and self._start < 0:
            line = _DELIMITER_LINE.match(sql, end)
        # MySQL's client accepts DELIMITER anywhere outside a statement, also after a comment.
        if line is None or not (word == "delimiter" or self._begins_line(start)):
            return -1
        if self._delimiters:
            self._delimiter = "" if line.group(1) == ";" else line.group(1)
        self._finish()
        return line.end()

    def _begins_line(self, start: int) -> bool:
        before = self._sql[max(0, start - _MAX_INDENT - 1) : start].rstrip(_BLANK)
        return before.endswith("\n") or (not before and start <= _MAX_INDENT)

    def _take(self, piece: Piece) -> None:
        kind, start, end = piece
        if self._start < 0:
            self._start = start
        if self._segment < 0:
            self._segment = start
        self._end = end
        word = ascii_lower(self._sql[start:end]) if kind is PieceKind.WORD else ""
        if self._begin:
            self._begin = False
            self._depth += word not in _TRANSACTION
        if word:
            self._words += 1
            self._head(word)
            if self._previous != ".":
                self._count(self._roles.get(word))
        self._previous = self._sql[start:end] if kind is PieceKind.OPERATOR else word

    def _head(self, word: str) -> None:
        """Update the expected kind of body from a statement's first words."""
        if self._words == 1:
            self._defines = word in ("create", "alter")
            self._declares = self._declarations and word == "declare"
        elif self._defines and not self._routine and self._words <= _HEAD_WORDS and word in _ROUTINES:
            self._routine = True
            self._package = word == "package"
            self._declares = self._slash_lines
        elif self._routine and word == "declare":
            self._declares = self._declarations

    def _count(self, role: str | None) -> None:
        """Count the openers and closers of blocks; whether BEGIN opens one is decided at the next piece."""
        if role == "begin":
            starts = self._words == 1 or self._batch_bodies or self._declares
            self._begin = self._depth > 0 or self._routine or (self._blocks and starts)
        elif role == "end":
            if self._depth and self._previous != "as":
                self._depth -= 1
                self._closed = not self._depth
        elif role == "case":
            self._depth += self._depth > 0 and self._previous != "end"
        elif role in ("loop", "for") and self._control_flow:
            inside = self._depth > 0 and self._previous in _BEFORE_A_STATEMENT
            self._depth += inside or (self._blocks and self._words == 1)

    def _semicolon(self) -> None:
        self._begin = False
        if self._start < 0:
            return
        if not self._depth and not self._goes_on():
            self._finish()
            return
        if self._segment >= 0:
            self._segments.append((self._segment, self._end))
            self._segment = -1
        self._previous = ";"

    def _goes_on(self) -> bool:
        """Return whether the statement continues after a semicolon outside blocks."""
        return self._package or (not self._closed and (self._declares or (self._routine and self._batch_bodies)))

    def _finish(self) -> None:
        """End the statement; if its block was not closed, split it at each of its semicolons."""
        if self._start >= 0:
            if self._segments and (self._depth or (self._declares and not self._closed and not self._package)):
                self._found += self._segments
                if self._segment >= 0:
                    self._found.append((self._segment, self._end))
            else:
                self._found.append((self._start, self._end))
        self._reset()

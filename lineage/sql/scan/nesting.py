"""Measure the nesting depth of a text before it is parsed, to protect recursive parsers from a stack overflow.

Everything for which a recursive parser recurses is counted: brackets, CASE … END, the angle brackets of types, runs of
prefix operators, words like NOT whose operand is a whole comparison, subscripts of subscripts, the nesting of a quoted
name read as a type (as parsers do), pipes (`|>`: each is a query around the previous ones, which sqlglot copies), and
joins without their ON so far. An opened level ends only at its own closer, and never at a word that could be a name, so
the count is never below the parser's depth. A join without ON counts more, because sqlglot tries each of them both
ways, which doubles the time with every one.
"""

from __future__ import annotations

from lineage.sql.scan.facts import word_flags, word_roles
from lineage.sql.scan.pieces import PieceKind, ascii_lower, pieces

__all__ = ["nesting_depth"]

_CLOSERS = {")": "(", "]": "[", "}": "{"}
_JOINS = frozenset(("join", "straight_join"))
_UNCONDITIONAL = frozenset(("cross", "natural"))
_JOIN_SIDES = frozenset(("left", "right", "full", "inner", "outer"))
_CLAUSES = frozenset(("select", "where", "having"))
_BRANCHES = frozenset(("when", "then"))
_HELD_OPERATORS = frozenset(("!", ":=", "->"))
_LONG_NAME = 64
_IN_TYPES = "([{< "
_OPEN_JOIN_WEIGHT = 16
"""Twelve joins without ON take sqlglot 0.02 s, twenty 6 s: with this weight thirteen of them are beyond 200."""


def nesting_depth(sql: str, dialect: str) -> int:
    """Return the nesting depth of the deepest statement of a text; 0 for plain words."""
    measure = _Measure()
    for kind, start, end in pieces(sql, dialect):
        if kind is PieceKind.WORD:
            measure.word(ascii_lower(sql[start:end]))
        elif kind is PieceKind.OPERATOR:
            measure.operator(sql[start:end])
        elif kind is PieceKind.SEMICOLON:
            measure.end()
        elif kind is PieceKind.NAME:
            measure.name(sql[start:end])
        elif kind is not PieceKind.COMMENT:
            measure.operand()
    measure.end()
    return measure.deepest


class _Measure:
    def __init__(self) -> None:
        self.deepest = 0
        self._roles = word_roles()
        self._chain = word_flags("chain")
        self._nested = word_flags("nested")
        self._reset()

    def _reset(self) -> None:
        self._stack: list[tuple[str, int, int, int, int]] = []
        """The open levels, each with the depth, prefix words, open joins and subscripts outside it."""
        self._brackets: list[int] = []
        """The indexes of the brackets in the stack."""
        self._depth = self._run = self._held = self._joins = self._subscripts = 0
        self._unconditional = False
        self._previous = ""

    def end(self) -> None:
        """End a statement."""
        self._settle_joins()
        self._reset()

    def operand(self) -> None:
        """Count a literal or a name."""
        self._run = 0
        self._previous = ""

    def name(self, text: str) -> None:
        """Count a quoted name, and its nesting when read as a type."""
        self.operand()
        within = sum(map(text.count, _IN_TYPES)) if len(text) > _LONG_NAME else 0
        self.deepest = max(self.deepest, self._depth + self._held + self._joins + within)

    def word(self, word: str) -> None:
        """Count a word."""
        before, self._previous = self._previous, word
        role = self._roles.get(word, "") if before != "." else ""
        if role == "case":
            self._open(word)
        elif word in self._chain:
            self._held += 1
            self._note()
        elif word[0] == "_" or word == before == "from":
            # MySQL's _utf8mb4 and the like precede a literal; DuckDB begins a query with FROM.
            self._run += 1
            self._note()
        else:
            self._run = 0
            self._clause(word, role, begins=before not in self._chain)
        self._unconditional = (word in _UNCONDITIONAL and before not in _JOINS) or (
            self._unconditional and word in _JOIN_SIDES
        )

    def _clause(self, word: str, role: str, *, begins: bool) -> None:
        if role == "end":
            if self._stack and self._stack[-1][0] == "case":
                self._close(len(self._stack) - 1)
        elif word in _JOINS:
            self._joins += not self._unconditional
            self._note()
        elif role == "on" or word == "using":
            self._joins -= self._joins > 0
            self._held = 0
        elif role in ("and", "open"):
            self._held = 0
            while self._stack and self._stack[-1][0] == "<":
                self._close(len(self._stack) - 1)
        elif role in _BRANCHES and self._stack and self._stack[-1][0] == "case":
            self._held = 0
        elif word in _CLAUSES and begins:
            self._held = 0
            self._settle_joins()

    def operator(self, text: str) -> None:
        """Count a bracket or an operator."""
        before, self._previous = self._previous, text
        if text in ("(", "[", "{"):
            self._brackets.append(len(self._stack))
            self._subscripts = self._subscripts + 1 if text == "[" and before == "]" else 0
            self._open(text)
        elif text in _CLOSERS:
            if self._brackets and self._stack[self._brackets[-1]][0] == _CLOSERS[text]:
                self._close(self._brackets.pop())
            self._run = 0
        elif text == ",":
            self._run = self._held = 0
        elif text == "<" and before in self._nested:
            self._open(text)
        elif text in (">", ">>") and self._stack and self._stack[-1][0] == "<":
            self._close(len(self._stack) - 1)
            if text == ">>" and self._stack and self._stack[-1][0] == "<":
                self._close(len(self._stack) - 1)
        elif text in _HELD_OPERATORS:
            self._held += 1
            self._note()
        elif text != ".":
            self._depth += text == "|>"
            self._run += len(text)
            self._note()

    def _open(self, opener: str) -> None:
        self._stack.append((opener, self._depth, self._held, self._joins, self._subscripts))
        self._depth += 1 + self._run + self._held + self._joins + self._subscripts
        self._run = self._held = self._joins = self._subscripts = 0
        self._note()

    def _close(self, place: int) -> None:
        self._settle_joins()
        _, self._depth, self._held, self._joins, self._subscripts = self._stack[place]
        del self._stack[place:]

    def _settle_joins(self) -> None:
        """Count the joins whose ON can no longer come."""
        self.deepest = max(self.deepest, self._depth + _OPEN_JOIN_WEIGHT * self._joins)
        self._joins = 0

    def _note(self) -> None:
        self.deepest = max(self.deepest, self._depth + self._run + self._held + self._joins)

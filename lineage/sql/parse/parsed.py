"""A statement of a text, as far as it could be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.diagnostics import Diagnostic, Span
from lineage.sql.parse.placeholders import Placeholder
from lineage.sql.procedural import ProgramStep

__all__ = ["ParsedStatement", "ReadFrom", "span_between"]


class ReadFrom(Enum):
    """What a statement's lineage is read from."""

    TREE = auto()
    """Its syntax tree; the tree of a part of it where there is a problem too."""
    STEP = auto()
    """It is a part of a program without SQL of its own."""
    INSTALLED_RULE = auto()
    """An installed package knows statements that begin so."""
    NO_LINEAGE = auto()
    """It reads and writes no rows."""
    KEYWORDS = auto()
    """Its tokens; the problem says why there is no tree."""
    NOT_SQL = auto()
    """It is an expression, not a statement."""


@dataclass(slots=True, eq=False)
class ParsedStatement:
    """A statement's syntax tree, or why there is none; its tokens and its span of the whole text.

    `step` is what it is besides its SQL, where it is a part of a program.
    """

    tree: exp.Expr | None
    tokens: list[Token]
    span: Span
    problem: Diagnostic | None = None
    text: str = ""
    step: ProgramStep | None = None
    read_as: str | None = None
    """The dialect that the text was read as, where none was given and its quotes are not those of the standard."""
    read_from: ReadFrom = ReadFrom.TREE
    doubts: tuple[Diagnostic, ...] = ()
    """What is not known because of placeholders in the text, or of functions that are called."""
    also_reads: tuple[tuple[str, ...], ...] = ()
    """Tables that functions read which it calls and which are not followed, by the parts of their names."""

    placeholders: Mapping[int, Placeholder] = field(default_factory=dict)
    """The placeholders that it is made of, by their positions."""

    def variable_spans(self) -> dict[str, Span]:
        """Return where each `@name` occurs first: the parser keeps no positions of variables."""
        spans: dict[str, Span] = {}
        for mark, name in pairwise(self.tokens):
            if mark.token_type is TokenType.PARAMETER:
                span = Span(mark.start, name.end + 1, mark.line, max(1, mark.col - (mark.end - mark.start)))
                spans.setdefault(name.text.lower(), span)
        return spans


def span_between(first: Token, last: Token) -> Span:
    """Return the span from the first character of one token to the last of another."""
    return Span(first.start, last.end + 1, first.line, max(1, first.col - (first.end - first.start)))

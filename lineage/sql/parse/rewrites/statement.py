"""A statement's tokens as the rewrite rules see them, and the registry of these rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from sqlglot.dialects.dialect import Dialect as Parser
from sqlglot.tokenizer_core import Token, TokenType

from lineage.model.dialect import Dialect
from lineage.sql.procedural.text.tokens import Fragment, fragment_of, make_token, start_token, tokenizer_of, tokens_of
from lineage.sql.scan.pieces import PieceKind, pieces

__all__ = [
    "NO_COLUMN",
    "QUERY",
    "RULES",
    "Rule",
    "Statement",
    "Tokens",
    "items",
    "outside",
    "plain_column",
    "rewrite",
]


Tokens: TypeAlias = "list[Token]"
Rule: TypeAlias = "Callable[[Statement], Iterator[Tokens]]"

QUERY = frozenset(("SELECT", "WITH", "FROM", "TABLE", "VALUES"))
"""Words that a query begins with."""

RULES: dict[str, list[Rule]] = {}
"""Rules by the first word of a statement; those under `*` apply to every statement."""

# First words of the definitions in CREATE TABLE that are not columns.
NO_COLUMN = frozenset(
    ("CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "KEY", "INDEX", "PERIOD", "EXCLUDE", "LIKE", "PROJECTION",
     "FULLTEXT", "SPATIAL", "SUPPLEMENTAL", "PARTITION", "WATERMARK")
)  # fmt: skip


class Statement:
    """A statement's tokens, and their words in upper case; the word of a literal is empty."""

    def __init__(self, tokens: Tokens, text: str, parser: Parser, dialect: Dialect) -> None:
        self.dialect = dialect
        self._parser = parser
        behind = text[tokens[0].end + 1 : tokens[-1].end + 1].strip()
        if len(tokens) == 2 and tokens[1].token_type is TokenType.STRING and tokens[1].text == behind:
            # After some keywords the tokenizer returns the rest of the statement as one token.
            tokens = [tokens[0], *self._tokenize(text, tokens[0].end + 1, tokens[-1].end + 1, tokens[0])]
        self.text = text
        self.tokens = tokens
        self.words = ["" if t.token_type is TokenType.STRING else t.text.upper() for t in tokens]

    def _tokenize(self, text: str, start: int, end: int, before: Token) -> Tokens:
        """Return the tokens of a part of the text, with positions in the whole text."""
        moved = []
        for token in tokenizer_of(self.dialect).tokenize(text[start:end]):
            column = token.col + (before.col if token.line == 1 else 0)
            line = token.line + before.line - 1
            moved.append(Token(token.token_type, token.text, line, column, token.start + start, token.end + start))
        return moved

    def inside(self, literal: Token) -> Tokens:
        """Return the tokens of the SQL that a string literal holds.

        If a string or name in it is not closed, its opening is the last token, which no grammar accepts.
        """
        inner = fragment_of(literal, self.text, self.dialect)
        tokens = tokens_of(inner, self.text, self.dialect)
        found = () if tokens else pieces(inner.text, self.dialect.name)
        opened = next((piece.start for piece in found if piece.kind is PieceKind.UNCLOSED), None)
        if opened is None:
            return tokens
        before, mark = (
            Fragment(inner.text[start:end], inner.origins[start:end])
            for start, end in ((0, opened), (opened, opened + 1))
        )
        place = start_token(mark, self.text) or literal
        return [*tokens_of(before, self.text, self.dialect), make_token(TokenType.QUOTE, mark.text, place)]

    def matches(self, *words: str, at: int = 0) -> bool:
        """Return whether these words are at a position."""
        return tuple(self.words[at : at + len(words)]) == words

    def find(self, *words: str, after: int = 0) -> int | None:
        """Return the first position, from `after` on, of the words outside brackets; None if there is none."""
        depth = 0
        for position in range(after, len(self.words)):
            word = self.words[position]
            depth += (word == "(") - (word == ")")
            if depth == 0 and self.matches(*words, at=position):
                return position
        return None

    def name(self, at: int) -> int:
        """Return the position after the dotted name at a position; `@v` and `#t` are two tokens."""
        at += 2 if self.words[at] in ("@", "#") else 1
        while at + 1 < len(self.words) and self.words[at] == ".":
            at += 2
        return at

    def closing(self, at: int) -> int:
        """Return the position after the bracket that matches the one at a position."""
        depth = 0
        for position in range(at, len(self.words)):
            depth += (self.words[position] == "(") - (self.words[position] == ")")
            if depth == 0:
                return position + 1
        return len(self.words)

    def build(self, *parts: str | Sequence[Token]) -> Tokens:
        """Return the parts as one statement; inserted words get the position of the token that follows them."""
        total: Tokens = []
        after = self.tokens[-1]
        for part in reversed(parts):
            if isinstance(part, str):
                made = [
                    Token(t.token_type, t.text, after.line, after.col, after.start, after.end)
                    for t in self._parser.tokenize("SELECT " + part)[1:]
                ]
                total[:0] = made
            elif part:
                total[:0] = part
                after = part[0]
        return total


def rewrite(*first: str) -> Callable[[Rule], Rule]:
    """Register a rule for statements that begin with one of these words."""

    def register(rule: Rule) -> Rule:
        for word in first:
            RULES.setdefault(word, []).append(rule)
        return rule

    return register


def items(tokens: Tokens) -> Iterator[Tokens]:
    """Yield the tokens between commas."""
    item: Tokens = []
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text == ",":
            if item:
                yield item
            item = []
        else:
            item.append(token)
    if item:
        yield item


def outside(s: Statement, start: int) -> Iterator[int]:
    """Yield the positions outside brackets."""
    depth = 0
    for position in range(start, len(s.words)):
        depth += (s.words[position] == "(") - (s.words[position] == ")")
        if depth == 0:
            yield position


def plain_column(item: Tokens, *, with_type: bool) -> Tokens:
    """Return a column's name (and its type, if that is plain); all tokens of a computed column."""
    texts = [token.text.upper() for token in item]
    if any(text == "AS" and texts[at + 1 : at + 2] == ["("] for at, text in enumerate(texts)):
        return item
    if not with_type or len(item) == 1 or not item[1].text.isidentifier():
        return item[:1]
    end = 2
    if texts[2:3] == ["("]:
        end = next((at + 1 for at, text in enumerate(texts) if text == ")"), 2)
    return item[:end]

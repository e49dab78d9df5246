"""Read the tokens of an expression into terms that keep what an engine's own text of it shows.

The parser's syntax tree cannot serve: it has one node for `substr` and `substring`, and none for the type's name as
written. What is not read here has no certain name.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from sqlglot.tokenizer_core import Token, TokenType

from lineage.frozen import frozen
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["Term", "TermKind", "UncertainTextError", "read_term"]


class UncertainTextError(Exception):
    """The engine's text of an expression is not certain."""


class TermKind(StrEnum):
    """The kind of a term; in brackets, what `text` and `terms` are."""

    STRING = "string"
    """(the text with its quotes)"""
    NUMBER = "number"
    CONSTANT = "constant"
    """NULL, TRUE, FALSE, and functions without brackets (in upper case)."""
    COLUMN = "column"
    """(`names` are its parts)"""
    STAR = "star"
    OPERATION = "operation"
    """(operator; both operands)"""
    SIGN = "sign"
    """`-` or `+` (sign; operand)"""
    NOT = "not"
    IS_NULL = "is null"
    DISTINCT_FROM = "is distinct from"
    IN = "in"
    """(the value, then the list)"""
    BETWEEN = "between"
    LIKE = "like"
    """(LIKE, ILIKE, RLIKE, …)"""
    CASE = "case"
    """(`text`: the parts of `terms` by letter: o operand, w condition, t result, e ELSE)"""
    CAST = "cast"
    """(the type as written; the value; `name` is CAST or TRY_CAST)"""
    TYPED = "typed literal"
    """`DATE '2020-01-01'` (the type)"""
    CALL = "call"
    """(the function's name as written)"""
    EXTRACT = "extract"
    """(the part as written)"""
    ROW = "row"
    LIST = "list"
    ITEM = "item"
    """`a[1]`"""
    FIELD = "field"
    """`a[1].b`: a field of what is no plain name (the field; the struct)"""
    FILTER = "filter"
    """(a call, its condition)"""
    OVER = "over"
    """(a call, then the keys: `text` has p for PARTITION BY and an o for ORDER BY, each; `name` is the frame)"""
    ORDERED = "ordered"
    """A key of ORDER BY (`ASC` or `DESC` or nothing, and `NULLS FIRST` or `NULLS LAST`)."""
    BRACKETS = "brackets"


@frozen
class Term:
    """A part of an expression; `TermKind` says what its fields are."""

    kind: TermKind
    text: str = ""
    terms: tuple[Term, ...] = ()
    name: str = ""
    names: tuple[str, ...] = ()
    negated: bool = False


_MAX_DEPTH = 60
_STRINGS = frozenset((TokenType.STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING))
_COMPARISONS = frozenset(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"))
_OTHERS = frozenset(("||", "&", "|", "<<", ">>", "->", "->>", "#"))
_LEVELS = {
    "OR": 1, "AND": 2, **dict.fromkeys(_COMPARISONS, 5), **dict.fromkeys(_OTHERS, 6),
    "+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "//": 8, "DIV": 8, "^": 9, "**": 9,
}  # fmt: skip
"""How strongly an operator binds. NOT is 3, IS 4, and IN, BETWEEN and LIKE are 5 as comparisons."""
_NOT, _IS, _COMPARED, _SIGN, _BEHIND = 3, 4, 5, 10, 11
_BEFORE_OPERANDS = frozenset(("-", "+", "NOT", "(", "[", "*"))
_BEHIND_EXPRESSIONS = frozenset(("", ")", ",", "]"))
_NOTHING_BEHIND = ("",) * 4
"""The words behind the last one: more than are looked ahead."""
_LIKES = frozenset(("LIKE", "ILIKE", "RLIKE", "REGEXP", "GLOB"))
_CONSTANTS = frozenset(("NULL", "TRUE", "FALSE"))
_WITHOUT_BRACKETS = frozenset(("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER"))
_UNREAD = frozenset(
    ("SELECT", "WITH", "INTERVAL", "ARRAY", "STRUCT", "ROW", "EXISTS", "TRIM", "POSITION", "OVERLAY", "CONVERT",
     "LAMBDA", "MAP", "ANY", "SOME", "PRIOR", "COLLATE", "FROM", "AS", "WHEN", "THEN", "ELSE", "END", "OVER", "ON")
)  # fmt: skip
"""Words that do not begin a column, or calls whose arguments have words between them."""
_CALLS_OF_UNREAD = frozenset(("ARRAY", "STRUCT", "MAP", "ROW", "TRIM", "ANY", "SOME", "POSITION"))
"""Those of them that may be plain calls, with commas."""


def read_term(tokens: Sequence[Token], text: str) -> Term:
    """Return the term of an expression, given its tokens and the whole text.

    Raises:
        UncertainTextError: something in it is not read.
    """
    reader = _TermReader(tokens, text)
    found = reader.expression(0)
    if reader.index != len(tokens):
        raise UncertainTextError
    return found


class _TermReader:
    """Reads tokens by the precedence of operators."""

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self._tokens = tokens
        self._text = text
        self._words = [
            "" if t.token_type in _STRINGS or t.token_type is TokenType.IDENTIFIER else t.text.upper() for t in tokens
        ]
        self._words += _NOTHING_BEHIND
        self._depth = 0
        self.index = 0

    def expression(self, level: int) -> Term:
        """Read an expression whose operators bind more strongly than `level`."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise UncertainTextError
        left = self._operand()
        while (found := self._continued(left, level)) is not None:
            left = found
        self._depth -= 1
        return left

    # The tokens

    def _word(self, ahead: int = 0) -> str:
        return self._words[self.index + ahead]

    def _accept(self, *words: str) -> bool:
        at, count = self.index, len(words)
        if self._words[at] != words[0] or (count > 1 and tuple(self._words[at : at + count]) != words):
            return False
        self.index = at + count
        return True

    def _expect(self, *words: str) -> None:
        if not self._accept(*words):
            raise UncertainTextError

    def _next(self) -> Token:
        if self.index >= len(self._tokens):
            raise UncertainTextError
        self.index += 1
        return self._tokens[self.index - 1]

    def _written(self, token: Token) -> str:
        return self._text[token.start : token.end + 1]

    def _list(self, closer: str) -> tuple[Term, ...]:
        """Read terms with commas between them, and the closing bracket."""
        terms: list[Term] = []
        while not self._accept(closer):
            if terms:
                self._expect(",")
            terms.append(self.expression(0))
        return tuple(terms)

    # What an expression begins with

    def _operand(self) -> Term:
        word = self._word()
        if word in _BEFORE_OPERANDS:
            return self._marked(word)
        token = self._next()
        if token.token_type in _STRINGS:
            if self.index < len(self._tokens) and self._tokens[self.index].token_type in _STRINGS:
                raise UncertainTextError  # 'a' 'b'
            return Term(TermKind.STRING, self._written(token))
        if token.token_type is TokenType.NUMBER:
            return Term(TermKind.NUMBER, self._written(token))
        return self._named(token, word)

    def _marked(self, word: str) -> Term:
        """Read an operand that begins with a sign, NOT or a bracket, or is a star."""
        if word in ("-", "+"):
            self.index += 1
            return Term(TermKind.SIGN, word, (self.expression(_SIGN),))
        if self._accept("NOT"):
            return Term(TermKind.NOT, terms=(self.expression(_NOT - 1),))
        if self._accept("("):
            inside = self._list(")")
            if not inside:
                raise UncertainTextError
            return Term(TermKind.BRACKETS, terms=inside) if len(inside) == 1 else Term(TermKind.ROW, terms=inside)
        if self._accept("["):
            return Term(TermKind.LIST, terms=self._list("]"))
        self.index += 1
        return Term(TermKind.STAR)

    def _named(self, token: Token, word: str) -> Term:
        """Read what begins with a name: a column, a call, CASE, CAST, a typed literal."""
        follows = self._word()
        if word == "CASE":
            return self._case()
        if word in ("CAST", "TRY_CAST") and self._accept("("):
            value = self.expression(0)
            self._expect("AS")
            return Term(TermKind.CAST, self._type(")"), (value,), name=word)
        if word == "EXTRACT" and self._word(2) == "FROM" and self._accept("("):
            part = self._written(self._next())
            self._expect("FROM")
            value = self.expression(0)
            self._expect(")")
            return Term(TermKind.EXTRACT, part, (value,))
        if word in ("DATE", "TIMESTAMP") and self.index < len(self._tokens):
            literal = self._tokens[self.index]
            if literal.token_type is TokenType.STRING:
                self.index += 1
                return Term(TermKind.TYPED, word, (Term(TermKind.STRING, self._written(literal)),))
        if word in _CONSTANTS or (word in _WITHOUT_BRACKETS and follows != "("):
            return Term(TermKind.CONSTANT, word)
        if word in _UNREAD and not (follows == "(" and word in _CALLS_OF_UNREAD):
            raise UncertainTextError
        is_name = token.token_type is TokenType.IDENTIFIER or word.replace("_", "a").replace("$", "a").isalnum()
        if not is_name:
            raise UncertainTextError
        if follows == "(" and token.token_type is not TokenType.IDENTIFIER:
            self.index += 1
            return self._call(self._written(token))
        names = [token.text]
        while self._accept("."):
            following = self._next()
            if following.token_type is not TokenType.IDENTIFIER and not following.text.replace("_", "a").isalnum():
                raise UncertainTextError
            names.append(following.text)
        if self._word() == "(":  # schema.function(…)
            raise UncertainTextError
        return Term(TermKind.COLUMN, names=tuple(names))

    def _call(self, name: str) -> Term:
        """Read a call from its opening bracket on, with FILTER and OVER behind it."""
        distinct = self._accept("DISTINCT")
        if not distinct:
            self._accept("ALL")
        found = Term(TermKind.CALL, name, self._list(")"), negated=distinct)
        if self._accept("FILTER", "(", "WHERE"):
            found = Term(TermKind.FILTER, terms=(found, self.expression(0)))
            self._expect(")")
        if self._word() in ("WITHIN", "IGNORE", "RESPECT"):
            raise UncertainTextError
        return self._over(found) if self._accept("OVER") else found

    def _over(self, call: Term) -> Term:
        self._expect("(")
        keys: list[Term] = []
        letters = ""
        if self._accept("PARTITION BY") or self._accept("PARTITION", "BY"):
            keys.append(self.expression(0))
            while self._accept(","):
                keys.append(self.expression(0))
            letters = "p" * len(keys)
        if self._accept("ORDER BY") or self._accept("ORDER", "BY"):
            keys.append(self._ordered())
            letters += "o"
            while self._accept(","):
                keys.append(self._ordered())
                letters += "o"
        frame = self._frame()
        self._expect(")")
        return Term(TermKind.OVER, letters, (call, *keys), name=frame)

    def _ordered(self) -> Term:
        key = self.expression(0)
        direction = "ASC" if self._accept("ASC") else "DESC" if self._accept("DESC") else ""
        nulls = ""
        if self._accept("NULLS"):
            nulls = "FIRST" if self._accept("FIRST") else "LAST"
            self.index += nulls == "LAST"
        return Term(TermKind.ORDERED, direction, (key,), name=nulls)

    def _frame(self) -> str:
        """Read the frame of a window: its words in upper case, BETWEEN and AND written out."""
        unit = self._word()
        if unit not in ("ROWS", "RANGE"):
            return ""
        self.index += 1
        if not self._accept("BETWEEN"):
            return f"{unit} BETWEEN {self._bound()} AND CURRENT ROW"
        start = self._bound()
        self._expect("AND")
        return f"{unit} BETWEEN {start} AND {self._bound()}"

    def _bound(self) -> str:
        if self._accept("CURRENT", "ROW") or self._accept("CURRENT ROW"):
            return "CURRENT ROW"
        token: Token = self._next()
        is_number = token.token_type is TokenType.NUMBER
        if not is_number and token.text.upper() != "UNBOUNDED":
            raise UncertainTextError
        side = self._next().text.upper()
        if side not in ("PRECEDING", "FOLLOWING"):
            raise UncertainTextError
        return f"{mark_literal(token.text) if is_number else 'UNBOUNDED'} {side}"

    def _case(self) -> Term:
        letters, terms = "", []
        if self._word() != "WHEN":
            letters, terms = "o", [self.expression(0)]
        while self._accept("WHEN"):
            terms.append(self.expression(0))
            self._expect("THEN")
            terms.append(self.expression(0))
            letters += "wt"
        if self._accept("ELSE"):
            terms.append(self.expression(0))
            letters += "e"
        self._expect("END")
        return Term(TermKind.CASE, letters, tuple(terms))

    def _type(self, closer: str) -> str:
        """Read a type up to the closing bracket: one name, with numbers in brackets."""
        name = self._written(self._next())
        if not name.replace("_", "a").isalnum():
            raise UncertainTextError
        numbers = self._type_arguments()
        self._expect(closer)
        return name + numbers

    def _type_arguments(self) -> str:
        if not self._accept("("):
            return ""
        numbers: list[str] = []
        while not self._accept(")"):
            if numbers:
                self._expect(",")
            token = self._next()
            if token.token_type is not TokenType.NUMBER:
                raise UncertainTextError
            numbers.append(token.text)
        return f"({','.join(numbers)})"

    # What an expression goes on with

    def _continued(self, left: Term, level: int) -> Term | None:
        """Read an operator behind `left` that binds more strongly than `level`; None if there is none."""
        word = self._word()
        if word in _BEHIND_EXPRESSIONS:
            return None
        if word == "::" and level < _BEHIND:
            self.index += 1
            name = self._written(self._next())
            if not name.replace("_", "a").isalnum():
                raise UncertainTextError
            return Term(TermKind.CAST, name + self._type_arguments(), (left,), name="CAST")
        if word == "[" and level < _BEHIND:
            self.index += 1
            inside = self._list("]")
            if len(inside) != 1:
                raise UncertainTextError
            return Term(TermKind.ITEM, terms=(left, inside[0]))
        if word == "." and level < _BEHIND:
            self.index += 1
            field = self._next()
            if field.token_type is not TokenType.IDENTIFIER and not field.text.replace("_", "a").isalnum():
                raise UncertainTextError
            return Term(TermKind.FIELD, field.text, (left,))
        bound = _LEVELS.get(word)
        if bound is not None:
            return self._operation(left, word, bound) if bound > level else None
        if word == "IS":
            return self._is(left) if level < _IS else None
        negated = word == "NOT" and self._word(1) in (*_LIKES, "IN", "BETWEEN")
        if (negated or word in _LIKES or word in ("IN", "BETWEEN")) and level < _COMPARED:
            self.index += negated
            return self._compared(left, negated=negated)
        return None

    def _operation(self, left: Term, word: str, bound: int) -> Term:
        self.index += 1
        right = self.expression(bound)
        if bound == _LEVELS["||"] and any(
            side.kind is TermKind.OPERATION and side.text in _OTHERS and side.text != word for side in (left, right)
        ):
            raise UncertainTextError  # engines differ in what binds more strongly
        if bound == _COMPARED and self._word() in _COMPARISONS:
            raise UncertainTextError
        return Term(TermKind.OPERATION, word, (left, right))

    def _is(self, left: Term) -> Term:
        self.index += 1
        negated = self._accept("NOT")
        if self._accept("NULL"):
            return Term(TermKind.IS_NULL, terms=(left,), negated=negated)
        self._expect("DISTINCT", "FROM")
        return Term(TermKind.DISTINCT_FROM, terms=(left, self.expression(_COMPARED)), negated=negated)

    def _compared(self, left: Term, *, negated: bool) -> Term:
        if self._accept("IN"):
            self._expect("(")
            return Term(TermKind.IN, terms=(left, *self._list(")")), negated=negated)
        if self._accept("BETWEEN"):
            low = self.expression(_COMPARED)
            self._expect("AND")
            return Term(TermKind.BETWEEN, terms=(left, low, self.expression(_COMPARED)), negated=negated)
        operator = self._next().text.upper()
        if self._word() in ("ANY", "ALL", "SOME"):
            raise UncertainTextError
        right = self.expression(_COMPARED)
        if self._word() == "ESCAPE":
            raise UncertainTextError
        return Term(TermKind.LIKE, operator, (left, right), negated=negated)

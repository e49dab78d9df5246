"""SQL in strings: EXEC('…'), sp_executesql, EXECUTE IMMEDIATE, PL/pgSQL's EXECUTE, MySQL's PREPARE.

SQL that is built from constants only is resolved like any other SQL, with spans inside the strings. SQL with a part
that is known at run time only is traced at table level, by its constant parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.sql.procedural.text.tokens import STRINGS, Fragment, fragment_of, word_of
from lineage.sql.procedural.variables import Names

__all__ = ["HOLE", "Constants", "Execution", "execution_of", "operands_of", "unknown_sql"]

HOLE = "lineage_unknown_part"
"""Placeholder in dynamic SQL for a part that is known at run time only."""

_MAX_BRACKETS = 20
_MAX_TEXT = 500_000
"""Maximum length of a concatenated string: repeated `x = x + x` doubles it each time."""
_JOINERS = frozenset((TokenType.PLUS, TokenType.DPIPE))
_LEADS = frozenset(("EXEC", "EXECUTE", "IMMEDIATE", "AS"))
_QUOTERS = {"QUOTENAME": ("[", "]"), "QUOTE_IDENT": ('"', '"')}
"""Functions that quote a string as a name, with the quotes that they add."""
_RUNNERS = {"SP_EXECUTESQL": 0, "SP_PREPEXEC": 2}
"""Procedures that run SQL, with the number of the argument that holds it."""


@frozen
class Execution:
    """What an EXECUTE runs: SQL, or None for something other than SQL in a string."""

    statement: Fragment | None


class Constants:
    """Constant propagation: the variables whose string value is known from the text."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect
        self._known: dict[str, Fragment] = {}

    def assign(self, name: str, value: Sequence[Token], names: Names, *, certain: bool) -> None:
        """Record a variable's value from here on; after an assignment that is not `certain` it is unknown."""
        fragment = self.value(value, names) if value else None
        if fragment is not None and fragment.text.strip() and (certain or name not in self._known):
            self._known[name] = fragment
        elif fragment is not None:
            self._known[name] = _hole(value[0] if value else None)
        else:
            self.forget(name)

    def forget(self, name: str) -> None:
        """Record that a variable's value is unknown."""
        self._known.pop(name, None)

    def value(self, tokens: Sequence[Token], names: Names, depth: int = 0) -> Fragment | None:
        """Return the string that an expression builds, with holes; None if no part of it is a string."""
        tokens = _unwrap(tokens)
        total: Fragment | None = None
        is_text = False
        for operand in operands_of(tokens):
            part = self._operand(operand, names, depth)
            is_text = is_text or not part.holes or len(part.text) > len(HOLE)
            if total is not None and len(total.text) + len(part.text) > _MAX_TEXT:
                return _hole(operand[0])
            total = part if total is None else total + part
        return total if is_text else None

    def _operand(self, tokens: Sequence[Token], names: Names, depth: int) -> Fragment:
        first = tokens[0]
        if len(tokens) == 1 and first.token_type in STRINGS:
            return fragment_of(first, self._text, self._dialect)
        if len(tokens) == 1 and first.token_type is TokenType.NUMBER:
            return Fragment(first.text, (first.start,) * len(first.text))
        word = word_of(first)
        is_call = word in ("CONCAT", "FORMAT") and len(tokens) > 3
        if (is_call or (word == "(" and len(_unwrap(tokens)) < len(tokens))) and depth < _MAX_BRACKETS:
            found = self._format(tokens, names) if word == "FORMAT" else self.value(tokens, names, depth + 1)
            if found is not None:
                return found
        if word in _QUOTERS and len(tokens) > 3 and word_of(tokens[1]) == "(":
            inside = self._operand(tokens[2:-1], names, _MAX_BRACKETS)
            return inside if inside.holes else _quote(inside, *_QUOTERS[word])
        name, after = names.read(tokens, [word_of(token) for token in tokens], 0)
        known = self._known.get(name) if name is not None and after == len(tokens) else None
        return known if known is not None else _hole(first)

    def _format(self, tokens: Sequence[Token], names: Names) -> Fragment | None:
        """Return the value of PostgreSQL's `format('… %I …', x)`: an argument is a hole unless it is constant."""
        arguments = operands_of(_unwrap(tokens[1:]), separators=frozenset((TokenType.COMMA,)))
        if not arguments or arguments[0][0].token_type not in STRINGS:
            return None
        pattern = fragment_of(arguments[0][0], self._text, self._dialect)
        total = Fragment("", ())
        rest, position = list(arguments[1:]), 0
        while position < len(pattern.text):
            if len(total.text) > _MAX_TEXT:
                return _hole(arguments[0][0])
            sign = pattern.text.find("%", position)
            stop = sign if sign >= 0 else len(pattern.text)
            total += Fragment(pattern.text[position:stop], pattern.origins[position:stop])
            if sign < 0:
                break
            kind = pattern.text[sign + 1 : sign + 2]
            if kind == "%":
                total += Fragment("%", pattern.origins[sign : sign + 1])
            elif kind == "L":
                total += Fragment("''", pattern.origins[sign : sign + 2])
            else:
                total += self._operand(rest[0], names, _MAX_BRACKETS) if rest else _hole(arguments[0][0])
            if kind in ("s", "I", "L") and rest:
                del rest[0]
            position = sign + 2
        return total


def _quote(name: Fragment, opens: str, closes: str) -> Fragment:
    """Return a constant name in quotes, with inner quotes doubled; the quotes have the name's positions."""
    text, origins = opens, [name.origins[0] if name.origins else 0]
    for character, origin in zip(name.text, name.origins, strict=True):
        text += character * (1 + (character == closes))
        origins += [origin] * (1 + (character == closes))
    return Fragment(text + closes, (*origins, origins[-1]))


def _hole(token: Token | None) -> Fragment:
    start = token.start if token is not None else 0
    return Fragment(HOLE, (start,) * len(HOLE), holes=True)


def _unwrap(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without enclosing brackets or an enclosing CONCAT( … )."""
    while len(tokens) > 2:
        start = 1 if word_of(tokens[0]) == "(" else 2 if word_of(tokens[0]) == "CONCAT" else 0
        if not start or word_of(tokens[start - 1]) != "(" or word_of(tokens[-1]) != ")" or _closes_early(tokens, start):
            return tokens
        tokens = tokens[start:-1]
    return tokens


def _closes_early(tokens: Sequence[Token], start: int) -> bool:
    depth = 1
    for token in tokens[start:-1]:
        word = word_of(token)
        depth += (word == "(") - (word == ")")
        if not depth:
            return True
    return False


def operands_of(
    tokens: Sequence[Token], separators: frozenset[TokenType] = _JOINERS | {TokenType.COMMA}
) -> list[Sequence[Token]]:
    """Return the parts of a concatenation."""
    operands: list[Sequence[Token]] = []
    depth = start = 0
    for position, token in enumerate(tokens):
        word = word_of(token)
        depth += (word == "(") - (word == ")")
        if not depth and token.token_type in separators:
            operands.append(tokens[start:position])
            start = position + 1
    operands.append(tokens[start:])
    return [part for part in operands if part]


def execution_of(tokens: Sequence[Token], constants: Constants, names: Names) -> Execution | None:
    """Return what an EXECUTE statement runs; None if it calls a procedure."""
    at = 0
    while at < len(tokens) and word_of(tokens[at]) in _LEADS:
        at += 1
    if at < len(tokens) and word_of(tokens[at]) in _RUNNERS:
        number = _RUNNERS[word_of(tokens[at])]
        at += 1
        if at + 2 < len(tokens) and word_of(tokens[at]) == "@" and word_of(tokens[at + 2]) == "=":
            at += 3  # @stmt = N'…'
        arguments = operands_of(tokens[at:], frozenset((TokenType.COMMA,)))
        return _build(arguments[number : number + 1], constants, names)
    if at >= len(tokens):
        return None
    if (renaming := _renaming(tokens[at:], constants, names)) is not None:
        return renaming
    stop = next((i for i in range(at, len(tokens)) if word_of(tokens[i]) == "USING"), len(tokens))
    expression = tokens[at:stop]
    if not expression:
        return None
    is_sql = at > 0 and word_of(tokens[at - 1]) == "IMMEDIATE"  # never a procedure
    if not is_sql and not _is_text(expression, constants, names):
        return None
    first = word_of(expression[0])
    if first == "@" and word_of(expression[-1]) != ")" and len(expression) > 2 and "=" in map(word_of, expression):
        return None  # EXEC @result = procedure
    return _build([expression], constants, names)


def _is_text(expression: Sequence[Token], constants: Constants, names: Names) -> bool:
    """Return whether what is executed is a text, not the name of a procedure."""
    if expression[0].token_type in STRINGS or word_of(expression[0]) in ("(", "CONCAT", "FORMAT", "@", ":"):
        return True
    if any(token.token_type in _JOINERS for token in expression):
        return True
    name, after = names.read(expression, [word_of(token) for token in expression], 0)
    return name is not None and after >= len(expression) and constants.value(expression, names) is not None


def _renaming(tokens: Sequence[Token], constants: Constants, names: Names) -> Execution | None:
    """Return the ALTER TABLE that is equivalent to T-SQL's `sp_rename 'table.column', 'new', 'COLUMN'`.

    Renames of other objects (indexes, types) have no lineage.
    """
    heads = [token.text.upper() if token.token_type not in STRINGS else "" for token in tokens[:6]]
    if "SP_RENAME" not in heads:
        return None
    first = heads.index("SP_RENAME")
    found: list[Fragment] = []
    given: dict[str, Fragment] = {}
    for argument in operands_of(tokens[first + 1 :], frozenset((TokenType.COMMA,))):
        named = len(argument) > 3 and word_of(argument[0]) == "@" and word_of(argument[2]) == "="
        value = constants.value(argument[3:] if named else argument, names) or _hole(argument[0])
        if named:
            given[word_of(argument[1])] = value
        else:
            found.append(value)
    listed = dict(zip(("OBJNAME", "NEWNAME", "OBJTYPE"), found, strict=False)) | given
    old, new, kind = listed.get("OBJNAME"), listed.get("NEWNAME"), listed.get("OBJTYPE")
    if old is None or new is None:
        return None
    start = tokens[first].start

    def words(text: str) -> Fragment:
        return Fragment(text, (start,) * len(text))

    what = kind.text.upper() if kind is not None else "OBJECT"
    if what not in ("OBJECT", "COLUMN"):
        return Execution(None)
    if old.holes or new.holes:
        return Execution(words("ALTER TABLE ") + _hole(tokens[first]) + words(" RENAME TO ") + _hole(tokens[first]))
    name = _quote(new, "[", "]")
    if what == "OBJECT":
        return Execution(words("ALTER TABLE ") + old + words(" RENAME TO ") + name)
    cut = _last_dot(old.text)
    if cut < 0:
        return None
    table = Fragment(old.text[:cut], old.origins[:cut])
    column = Fragment(old.text[cut + 1 :], old.origins[cut + 1 :])
    if not column.text.startswith(("[", '"')):
        column = _quote(column, "[", "]")
    return Execution(words("ALTER TABLE ") + table + words(" RENAME COLUMN ") + column + words(" TO ") + name)


def _last_dot(name: str) -> int:
    """Return the index of the last part of a dotted name: after the last dot outside brackets and quotes."""
    closes, found = "", -1
    for position, character in enumerate(name):
        if closes:
            closes = "" if character == closes else closes
        elif character in '["':
            closes = "]" if character == "[" else character
        elif character == ".":
            found = position
    return found


def unknown_sql(token: Token) -> Fragment:
    """Return SQL of which nothing is known, at the position of a token."""
    return _hole(token)


def _build(expressions: list[Sequence[Token]], constants: Constants, names: Names) -> Execution:
    fragment = constants.value(expressions[0], names) if expressions else None
    if fragment is None and expressions:
        fragment = _hole(expressions[0][0])
    return Execution(fragment)

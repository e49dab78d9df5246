"""CREATE PROCEDURE, FUNCTION, TRIGGER, PACKAGE: find where the header ends and the body begins, and its language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot.tokenizer_core import Token

from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.sql.procedural.text.tokens import STRINGS

__all__ = ["Body", "body_of", "holds_statements", "is_routine", "listed_tokens", "overloads"]

_KINDS = frozenset(("PROCEDURE", "PROC", "FUNCTION", "MACRO", "TRIGGER", "PACKAGE", "EVENT", "TASK"))
_BEFORE_KIND = frozenset(
    ("OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY", "SECURE", "AGGREGATE", "EDITIONABLE", "NONEDITIONABLE", "DEFINER",
     "=", "@", "CONSTRAINT", "PRIVATE", "EXTERNAL", "TABLE", "WINDOW", "NOT", "EXISTS", "IF")
)  # fmt: skip
# First words of a body without AS.
_STARTERS = frozenset(
    ("BEGIN", "RETURN", "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "SET", "IF", "CALL", "REPLACE", "DO",
     "DECLARE", "TRUNCATE")
)  # fmt: skip
_OPTIONS = frozenset(
    ("EXECUTE", "EXEC", "SCHEMABINDING", "ENCRYPTION", "RECOMPILE", "NATIVE_COMPILATION", "INLINE", "(")
)
_MODES = frozenset(("IN", "OUT", "INOUT", "VARIADIC", "IN OUT"))


@frozen
class Body:
    """A routine's kind and parameters, and its body: an index in the tokens, or a string in some language."""

    kind: str
    start: int
    parameters: tuple[str, ...] = ()
    string: Token | None = None
    language: str = ""
    has_section: bool = False
    """Whether declarations precede its BEGIN."""
    is_expression: bool = False


def is_routine(words: Sequence[str]) -> bool:
    """Return whether CREATE or ALTER followed by these words is of a routine.

    >>> is_routine("OR REPLACE FUNCTION f ( x int )".split()), is_routine("TABLE function".split())
    (True, False)
    """
    for position, word in enumerate(words):
        if word in _KINDS:
            return position == 0 or words[position - 1] != "TABLE" or words[position + 1 : position + 2] != ["("]
        if word not in _BEFORE_KIND and not (position and words[position - 1] in ("=", "@")):
            return False
    return False


def body_of(tokens: Sequence[Token], words: Sequence[str], position: int, dialect: Dialect) -> Body | None:
    """Return the body of the routine whose CREATE is at a position of the tokens; None if it has none."""
    kind_index = next((at for at in range(position, len(words)) if words[at] in _KINDS), len(words))
    kind = words[kind_index] if kind_index < len(words) else ""
    kind = "PROCEDURE" if kind == "PROC" else "MACRO" if dialect.functions_are_macros and kind == "FUNCTION" else kind
    parameters = _parameters(tokens, words, kind_index + 1, dialect)
    language, string, start = "", None, -1
    for at in _header(words, kind_index + 1, dialect):
        if words[at] == "LANGUAGE" and at + 1 < len(words):
            named = (words[at + 1] or tokens[at + 1].text).upper().split()  # `SQL SECURITY` is one token
            language = named[0] if named else ""
        elif tokens[at].token_type in STRINGS and words[at - 1] == "AS" and string is None:
            string, start = tokens[at], at
        elif string is None and (body := _body_at(tokens, words, at, kind, dialect)) is not None:
            return replace(body, parameters=parameters, language=language)
    return Body(kind, start, parameters, string, language) if string is not None else None


def overloads(words: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    """Return the places of the definitions of a DuckDB macro, each of which begins with its parameters.

    >>> overloads("CREATE MACRO m ( a ) AS a , ( a , b ) AS a + b".split(), 0, 16)
    [(3, 8), (9, 16)]
    """
    starts: list[int] = []
    depth = 0
    for at in range(start, end):
        if words[at] == "(" and not depth:
            # In a query, `, (q) AS r` is a column.
            behind = ["AS", "TABLE"] if starts and _behind(words, starts[-1]) == ["AS", "TABLE"] else ["AS"]
            if not starts or (words[at - 1] == "," and _behind(words, at)[: len(behind)] == behind):
                starts.append(at)
        depth += (words[at] == "(") - (words[at] == ")")
    return [(at, after - 1) for at, after in zip(starts, [*starts[1:], end + 1], strict=True)]


def _behind(words: Sequence[str], opened: int) -> list[str]:
    """Return the two words behind the bracket that is opened at a position."""
    depth = 0
    for at in range(opened, len(words)):
        depth += (words[at] == "(") - (words[at] == ")")
        if not depth:
            return list(words[at + 1 : at + 3])
    return []


def _header(words: Sequence[str], start: int, dialect: Dialect) -> Iterator[int]:
    """Yield the positions outside brackets, from `start` to the end of the statement."""
    depth = 0
    for at in range(start, len(words)):
        depth += (words[at] == "(") - (words[at] == ")")
        if words[at] == ";" and not dialect.needs_no_semicolon:
            return
        if not depth:
            yield at


def _body_at(tokens: Sequence[Token], words: Sequence[str], at: int, kind: str, dialect: Dialect) -> Body | None:
    """Return the body that begins at a word, or after it if that is AS; its parameters are not set."""
    word = words[at]
    if word in ("AS", "IS") and words[at - 1] not in ("EXECUTE", "EXEC"):
        if at + 1 < len(words) and tokens[at + 1].token_type in STRINGS:
            return None
        says_declare = dialect.declares_behind_as and words[at + 1 : at + 2] == ["DECLARE"]
        has_section = dialect.routines_begin_with_declarations or says_declare
        is_query = kind == "FUNCTION" and words[at + 1 : at + 2] in (["("], ["SELECT"], ["WITH"])
        begin = at + 2 if says_declare else at + 1
        return Body(kind, begin, has_section=has_section, is_expression=kind == "MACRO" or is_query)
    if word == "DO" and kind == "EVENT":  # MySQL: CREATE EVENT … DO statement
        return Body(kind, at + 1)
    if word not in _STARTERS or (dialect.routines_begin_with_declarations and kind != "TRIGGER"):
        return None
    if _is_of_header(words, at):
        return None
    if word == "DECLARE" and dialect.routines_begin_with_declarations:
        return Body(kind, at + 1, has_section=True)
    return Body(kind, at, is_expression=word == "RETURN" and kind == "FUNCTION")


def holds_statements(words: Sequence[str]) -> bool:
    """Return whether a body in a string consists of statements, not an expression, a class name or an address."""
    return bool(words) and (
        words[0] in _STARTERS or words[0] in ("<<", "FOR", "WHILE", "LOOP", "PERFORM", "RAISE", "(")
    )


def _is_of_header(words: Sequence[str], at: int) -> bool:
    """Return whether a word is part of the header: `AFTER INSERT OR UPDATE OF a`, `RETURNS NULL ON NULL INPUT`."""
    word, before = words[at], words[at - 1]
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
        return before in ("AFTER", "BEFORE", "OF", "OR", ",", "FOR") or after in ("ON", "OR", "OF", ",")
    if word == "IF":
        return after in ("NOT", "EXISTS")
    if word == "WITH":
        return after in _OPTIONS or (after != "RECURSIVE" and words[at + 2 : at + 3] != ["AS"])
    if word == "SET":
        assigned = at + (4 if words[at + 2 : at + 3] == ["."] else 2)  # SET NEW.a = …
        return after not in ("@",) and words[assigned : assigned + 1] not in (["="], [":="])
    return word in ("DO", "RETURN") and before in ("ON", "PRESERVE", "COMPLETION", "ENABLE")


def _parameters(tokens: Sequence[Token], words: Sequence[str], start: int, dialect: Dialect) -> tuple[str, ...]:
    """Return the names of the parameters: `f(a int, OUT b text)`, T-SQL's `p @a int = 1, @b int`."""
    found: list[str] = []
    if dialect.needs_no_semicolon:
        for at in range(start, len(words) - 1):
            if words[at] == "AS" and words[at - 1] != "@" and words[at + 1] not in ("INT", "VARCHAR", "NVARCHAR"):
                break
            if words[at] == "@" and words[at - 1] in ("(", ",", *words[start : start + 6]):
                found.append("@" + tokens[at + 1].text)
        return tuple(dict.fromkeys(found))
    opened = next((at for at in range(start, min(start + 8, len(words))) if words[at] == "("), None)
    return tuple(token.text for token in listed_tokens(tokens, words, opened)) if opened is not None else ()


def listed_tokens(tokens: Sequence[Token], words: Sequence[str], opened: int) -> tuple[Token, ...]:
    """Return the first name of each item in a bracket: `(a int, OUT b text)`."""
    found: list[Token] = []
    depth = 0
    expects = True
    for at in range(opened, len(words)):
        word = words[at]
        if word in ("(", "<"):
            depth += 1
        elif word in (")", ">"):
            depth -= 1
            if not depth:
                break
        elif word == "," and depth == 1:
            expects = True
        elif expects and depth == 1 and word not in _MODES:
            expects = False
            if tokens[at].text and (tokens[at].text[0].isalpha() or tokens[at].text[0] == "_"):
                found.append(tokens[at])
    return tuple(found)

"""Lexical pieces of a text: comments, strings, names, numbers, words, operators.

One pattern a dialect finds the next piece. Every character other than white space is in exactly one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from lineage.sql.scan.facts import dialect_features

__all__ = ["LITERALS", "Piece", "PieceKind", "ascii_lower", "pieces"]


class PieceKind(Enum):
    """The kind of a piece."""

    COMMENT = "comment"
    STRING = "string"
    ORACLE_STRING = "oracle"
    DOLLAR_STRING = "dollar"
    UNCLOSED = "unclosed"
    """A string, name or comment that is not closed before the end of the text."""
    NUMBER = "number"
    PLACEHOLDER = "placeholder"
    """A placeholder that the client fills in: `?`, `:name`, `$1`, `%s`, `%(name)s`, `${name}`, `##name##`."""
    TEMPLATE = "template"
    """`{{ … }}` and `{% … %}`."""
    NAME = "name"
    WORD = "word"
    SEMICOLON = "semicolon"
    OPERATOR = "operator"
    """An operator, a bracket or any other character."""


class Piece(NamedTuple):
    """A piece: its kind, start and end."""

    kind: PieceKind
    start: int
    end: int


LITERALS = frozenset(
    (PieceKind.STRING, PieceKind.ORACLE_STRING, PieceKind.DOLLAR_STRING, PieceKind.NUMBER, PieceKind.PLACEHOLDER,
     PieceKind.TEMPLATE)
)  # fmt: skip
_WHITE_SPACE = "\x00-\x20\x7f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
"""As the content of a character class. Every other non-ASCII character can be part of a word."""

_BEYOND = (
    "\x80-\x84\x86-\x9f\xa1-\u167f\u1681-\u1fff\u200c-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ufefe"
    "\uff00-\U0010ffff"
)
_LETTER = f"A-Za-z_{_BEYOND}"
_WORD = f"0-9{_LETTER}"
# What directly precedes a colon or percent sign that is an operator, not the start of a placeholder.
_NOT_AFTER_OPERAND = "(?<![0-9A-Za-z_$\x80-\U0010ffff)\\]\"'`:])"
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
_BRACES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_KINDS = {kind.value: kind for kind in PieceKind}


def pieces(sql: str, dialect: str, start: int = 0, absent: set[str] | None = None) -> Iterator[Piece]:
    """Yield the pieces of a text in order, from a position between two pieces on.

    `absent` caches closers that do not occur: a caller that continues at another position of the same text passes it
    again.

    >>> [(p.kind.value, "a='x';"[p.start : p.end]) for p in pieces("a='x';", "postgres")]
    [('word', 'a'), ('operator', '='), ('string', "'x'"), ('semicolon', ';')]
    """
    search = _pattern(dialect).search
    nested = "nested_comments" in dialect_features(dialect)
    absent = set() if absent is None else absent
    position = start
    while match := search(sql, position):
        begin, end = match.span()
        kind = _KINDS.get(match.lastgroup or "", PieceKind.OPERATOR)
        if match.lastgroup == "brace":
            kind, end = _brace(sql, begin, absent)
        elif kind is PieceKind.COMMENT and nested and sql.startswith("/*", begin):
            end = _nested_end(sql, begin)
        elif kind is PieceKind.ORACLE_STRING:
            opener = sql[end - 1]
            end = _after(sql, _CLOSERS.get(opener, opener) + "'", end)
        elif kind is PieceKind.DOLLAR_STRING:
            end = _after(sql, match.group(), end)
        position = end if end >= 0 else len(sql)
        yield Piece(kind if end >= 0 else PieceKind.UNCLOSED, begin, position)


def ascii_lower(text: str) -> str:
    """Return a text with only A to Z changed to lower case: keywords have no other letters."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _brace(sql: str, start: int, absent: set[str]) -> tuple[PieceKind, int]:
    """Return the kind and end of a template; of a single brace if the template is not closed."""
    opener = sql[start : start + 2]
    closer = _BRACES[opener]
    end = -1 if closer in absent else _after(sql, closer, start + 2)
    if end < 0:
        absent.add(closer)
        return PieceKind.OPERATOR, start + 1
    return (PieceKind.COMMENT if opener == "{#" else PieceKind.TEMPLATE), end


@cache
def _pattern(dialect: str) -> re.Pattern[str]:
    """Return the pattern that matches the next piece. Its parts are possessive: no backtracking."""
    has = dialect_features(dialect).__contains__
    comments = ["--[^\n]*+", r"/\*" if has("nested_comments") else r"/\*.*?\*/"]
    comments += ["#[^\n]*+"] if has("hash_comments") else []
    comments += ["(?<!:)//[^\n]*+"] if has("slash_comments") else []
    names = [r"`(?:[^`]|``)*+`", *([] if has("double_strings") else [r'"(?:[^"]|"")*+"'])]
    names += [r"\[(?:[^\]]|\]\])*+\]"] if has("bracket_names") else []
    placeholders = [
        r"\?(?![?|&])",
        r"[$#]\{[^{}\n]*+\}",
        rf"{_NOT_AFTER_OPERAND}:[{_WORD}]++",
        rf"{_NOT_AFTER_OPERAND}%(?:\([{_WORD}]++\))?s(?![{_WORD}$])",
    ]
    placeholders += [] if has("stage_columns") else [r"\$[0-9]++"]
    placeholders += [rf"##[{_WORD}:]++(?:\?[^#\n]*+)?##"] if has("hash_names") else []
    placeholders += [rf"{_NOT_AFTER_OPERAND}&&?[{_LETTER}][{_WORD}]*+"] if has("ampersands") else []
    words = [rf"@{{0,2}}[{_LETTER}][{_WORD}$]*+", rf"@{{1,2}}[{_WORD}][{_WORD}$]*+", rf"\$[{_WORD}]++"]
    words += [rf"#{{1,2}}[{_WORD}][{_WORD}$]*+"] if has("hash_names") else []
    dollar = rf"\$(?:[{_LETTER}][{_WORD}]*+)?\$" if has("dollar_tags") else r"\$\$"
    groups = {
        "comment": "|".join(comments),
        "brace": r"\{[{%#]",
        **({"oracle": r"[nN]?[qQ]'."} if has("q_strings") else {}),
        "string": "|".join(_strings(dialect)),
        **({"dollar": dollar} if has("dollar_quotes") else {}),
        "name": "|".join(names),
        "unclosed": rf"['\"`{'[' if has('bracket_names') else ''}].*+|/\*.*+",
        "placeholder": "|".join(placeholders),
        "number": _number(grouped=has("digit_groups")),
        "word": "|".join(words),
        "semicolon": ";",
        "operator": r"->>|#>>|<=>|->|=>|:=|::|#>|@>|<@|\?[?|&]|<=|>=|<>|!=|==|\|\||~\*|!~|~~|<<|>>|\|>|@@|&&|\^="
        rf"|[^{_WHITE_SPACE}]",
    }
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in groups.items()), re.DOTALL)


def _number(*, grouped: bool) -> str:
    """Return the pattern of numbers; `grouped` as in PostgreSQL 16, 4.1.2.6: underscores, and binary and octal ones."""
    # Not possessive: where what is repeated fails in its middle, Python before 3.11.5 goes on there.
    digits = "[0-9]++(?:_[0-9]++)*" if grouped else "[0-9]++"
    radix = "0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+" if grouped else "0[xX][0-9a-fA-F]++"
    return rf"{radix}|(?:{digits}(?:\.(?:{digits})?)?|\.{digits})(?:[eE][+-]?{digits})?"


def _strings(dialect: str) -> Iterator[str]:
    """Yield the patterns of a dialect's strings, each with its possible prefixes."""
    has = dialect_features(dialect).__contains__
    escape = r"[^{q}\\]|\\.|{q}{q}" if has("backslash") else "[^{q}]|{q}{q}"
    plain = "(?:[nNbBxX]|[uU]&)?"
    if has("triple_strings"):
        prefix = "(?:[rR][bB]?|[bB][rR]?)?"
        for quote in "'\"":
            yield rf"{prefix}{quote * 3}(?:[^\\]|\\.)*?{quote * 3}"
            yield rf"{prefix}{quote}(?!{quote * 2})(?:{escape.format(q=quote)})*+{quote}"
        return
    if has("e_strings"):
        yield r"[eE]'(?:[^'\\]|\\.|'')*+'"
    for quote in "'\"" if has("double_strings") else "'":
        if has("raw_strings"):
            yield rf"[rR]{quote}[^{quote}]*+{quote}"
        yield rf"{plain}{quote}(?:{escape.format(q=quote)})*+{quote}"


def _after(sql: str, closer: str, start: int) -> int:
    """Return the index after the closer, or -1 if there is none."""
    found = sql.find(closer, start)
    return found + len(closer) if found >= 0 else -1


def _nested_end(sql: str, start: int) -> int:
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(sql, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return -1

"""Literals, records and concatenations of M: https://learn.microsoft.com/en-us/powerquery-m/m-spec-lexical-structure"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["FIELD", "TOKEN", "m_text", "record_fields", "split_at", "strings"]

TOKEN = re.compile(
    r'(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<string>"(?:[^"]|"")*")|(?P<name>\#"(?:[^"]|"")*"|[A-Za-z_][\w.]*)'
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<other>.)",
    re.DOTALL,
)
FIELD = re.compile(r"\[\s*(#\"(?:[^\"]|\"\")*\"|[^\[\]\"=,]+?)\s*\]")
"""A field of a row, a record or a table: `[Order Id]`."""
_LITERAL = re.compile(r'#?"(?:[^"]|"")*"', re.DOTALL)
_ESCAPE = re.compile(r"#\(([^()]*)\)")
_CHARACTERS = {"cr": "\r", "lf": "\n", "tab": "\t", "#": "#"}


def m_text(literal: str) -> str | None:
    """Return the text of one literal, or of a quoted name; None for anything else.

    >>> m_text('"a b"'), m_text('#"Order Id"'), m_text("x"), m_text('"a" & "b"'), m_text('"a#(cr,lf)b"')
    ('a b', 'Order Id', None, None, 'a\\r\\nb')
    """
    plain = literal.strip()
    if _LITERAL.fullmatch(plain) is None:
        return None
    return _ESCAPE.sub(_escaped, plain.removeprefix("#")[1:-1].replace('""', '"'))


def _escaped(found: re.Match[str]) -> str:
    parts = [part.strip() for part in found[1].split(",")]
    texts = [_CHARACTERS.get(part) or (chr(int(part, 16)) if re.fullmatch(r"[0-9A-Fa-f]{4}", part) else None)
             for part in parts]  # fmt: skip
    return found[0] if None in texts else "".join(text or "" for text in texts)


def split_at(text: str, separator: str) -> list[str]:
    """Return the parts of an expression between separators that are in no bracket.

    >>> split_at('"a, b" & f(x, y), [c = 1, d]', ",")
    ['"a, b" & f(x, y)', ' [c = 1, d]']
    """
    found, depth, start = [], 0, 0
    for token in TOKEN.finditer(text):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
        elif token[0] == separator and depth == 0:
            found.append(text[start : token.start()])
            start = token.end()
    return [*found, text[start:]]


def record_fields(text: str) -> dict[str, str]:
    """Return the expressions of a record's fields by name; of any other text, nothing.

    >>> record_fields('[Query = "SELECT " & x, #"My Field" = 1]')
    {'Query': '"SELECT " & x', 'My Field': '1'}
    """
    plain = text.strip()
    if not (plain.startswith("[") and plain.endswith("]")):
        return {}
    found = {}
    for part in split_at(plain[1:-1], ","):
        name, *rest = split_at(part, "=")
        if rest:
            found[m_text(name) or name.strip()] = "=".join(rest).strip()
    return found


def strings(text: str) -> Iterator[str]:
    """Yield the texts of the literals in an expression."""
    for token in TOKEN.finditer(text):
        if token.lastgroup == "string":
            yield m_text(token[0]) or ""

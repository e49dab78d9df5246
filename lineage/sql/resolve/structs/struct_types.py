"""The fields of a struct, read from the text of its type in a catalog.

BigQuery: `STRUCT<a INT64, b STRUCT<c STRING>>`. Spark, Hive: `struct<a:int,b:string>`. Trino: `row(a integer)`. DuckDB:
`STRUCT(a INTEGER)[]`. ClickHouse: `Tuple(a Int32)`, `Nested(a Int32)`.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["element_type", "fields_of_type", "has_parts", "is_map"]

_PIECE = re.compile(r"`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|'(?:[^'\\]|\\.)*'|[\w$]+|[<>()\[\],:]|\S")
_STRUCTS = frozenset(("struct", "row", "tuple", "nested", "record", "object"))
_ARRAYS = frozenset(("array", "list"))
_DOCUMENTS = frozenset(("json", "jsonb", "variant", "super", "object"))
_AROUND = frozenset(("nullable", "lowcardinality"))
_CLOSERS = {"<": ">", "(": ")"}


@lru_cache(maxsize=4_096)
def fields_of_type(text: str) -> tuple[tuple[str, str], ...] | None:
    """Return the names and types of a struct's fields; none for another type, None if the type cannot be read.

    >>> fields_of_type("STRUCT<a INT64, b STRUCT<c STRING>>")
    (('a', 'INT64'), ('b', 'STRUCT < c STRING >'))
    >>> fields_of_type("struct<a:int>"), fields_of_type("ARRAY<INT64>"), fields_of_type("row(integer)")
    ((('a', 'int'),), (), None)
    """
    pieces = _inside(_PIECE.findall(text))
    if not pieces or pieces == ["?"]:
        return None
    if pieces[-1] == "]" or pieces[0].lower() not in _STRUCTS:
        return ()
    if len(pieces) < 2 or pieces[1] not in _CLOSERS:  # STRUCT without fields
        return None
    found: list[tuple[str, str]] = []
    for part in _parts(pieces[2:-1]):
        name, kind = part[0], part[1:]
        if kind[:1] == [":"]:
            kind = kind[1:]
        if not kind or kind[0] in _CLOSERS or not (name[0] in '`"' or name.replace("$", "_").isidentifier()):
            return None
        found.append((_unquoted(name), " ".join(kind)))
    return tuple(found) or None


@lru_cache(maxsize=4_096)
def element_type(text: str) -> str | None:
    """Return the type of an array's elements; None for any other type.

    >>> element_type("ARRAY<STRUCT<a INT64>>"), element_type("STRUCT(a INTEGER)[]"), element_type("int")
    ('STRUCT < a INT64 >', 'STRUCT ( a INTEGER )', None)
    """
    pieces = _inside(_PIECE.findall(text))
    if pieces[-1:] == ["]"]:
        depth = len(pieces) - 1 - pieces[::-1].index("[")
        return " ".join(pieces[:depth]) or None
    if len(pieces) > 3 and pieces[0].lower() in _ARRAYS and pieces[1] in _CLOSERS:
        return " ".join(pieces[2:-1])
    # ClickHouse's Nested is an array for each field, and an array of structs as a whole.
    return None


def is_map(text: str) -> bool:
    """Return whether a type is a map."""
    return _PIECE.findall(text)[:1] in (["map"], ["MAP"], ["Map"])


@lru_cache(maxsize=4_096)
def has_parts(text: str) -> bool:
    """Return whether values of a type have parts: fields, elements or keys.

    >>> has_parts("struct<a:int>"), has_parts("INTEGER[]"), has_parts("jsonb"), has_parts("int")
    (True, True, True, False)
    """
    named = fields_of_type(text) != () or element_type(text) is not None or is_map(text)
    return named or text.lower() in _DOCUMENTS


def _inside(pieces: list[str]) -> list[str]:
    """Return a type without Nullable(…) around it."""
    while len(pieces) > 3 and pieces[0].lower() in _AROUND and pieces[1] == "(":
        pieces = pieces[2:-1]
    return pieces


def _parts(pieces: list[str]) -> list[list[str]]:
    """Return the pieces between commas outside brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece in "<([") - (piece in ">)]") if len(piece) == 1 else 0
        if piece == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(piece)
    return [part for part in parts if part]


def _unquoted(name: str) -> str:
    quote = name[0]
    return name[1:-1].replace(quote * 2, quote) if quote in '`"' else name

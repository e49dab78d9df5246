"""Families of SQL types: other products have their own lists of types, and a family is found in each of them."""

from __future__ import annotations

import re

__all__ = ["FAMILIES", "type_family"]

FAMILIES = {
    "boolean": r"bool|bit\b",
    "array": r"array|list\b|.*\[\]$",
    "map": r"map\b",
    "struct": r"struct|record|row\b|tuple|object",
    "json": r"json|variant|super\b",
    "interval": r"interval",
    "integer": r"(?:tiny|small|medium|big|huge|u)*int(?:eger)?\d*\b|byteint|(?:small|big)?serial|long\b|short\b",
    "number": r"num|dec|float|double|real|money|smallmoney|fixed",
    "timestamp": r"timestamp|datetime|smalldatetime",
    "date": r"date",
    "time": r"time",
    "bytes": r"bytea|bytes|binary|varbinary|blob|raw\b|image",
    "enum": r"enum",
    "text": r"n?(?:var)?char|text|.*text$|string|n?clob|uuid|uniqueidentifier|varchar2|nvarchar2|character",
}
"""The beginnings of the types of each family; the first that fits counts."""
_PATTERNS = {family: re.compile(pattern) for family, pattern in FAMILIES.items()}


def type_family(data_type: str | None) -> str | None:
    """Return the family of a type; None if it is not known.

    >>> [type_family(one) for one in ("VARCHAR(20)", "numeric(9,2)", "int8", "text[]", "timestamp with time zone", "x")]
    ['text', 'number', 'integer', 'array', 'timestamp', None]
    """
    text = (data_type or "").strip().lower()
    if _PATTERNS["array"].match(text):
        return "array"
    return next((family for family, pattern in _PATTERNS.items() if pattern.match(text)), None)

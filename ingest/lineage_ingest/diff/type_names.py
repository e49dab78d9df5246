"""Whether two names of types mean the same type: they come from a database's catalog, and from what people write."""

from __future__ import annotations

import re

__all__ = ["is_same_type"]

_SPACE = re.compile(r"\s+|(?<=[(,])\s|\s(?=[(),])")
_SYNONYMS = {
    "int": "integer", "int4": "integer", "int8": "bigint", "int2": "smallint", "bool": "boolean",
    "decimal": "numeric", "character varying": "varchar", "double precision": "double", "float8": "double",
    "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz",
}  # fmt: skip


def is_same_type(one: str, other: str) -> bool:
    """Return whether two names mean the same type for certain.

    >>> is_same_type("INTEGER", "int"), is_same_type("DECIMAL(10, 2)", "numeric(10,2)"), is_same_type("int", "bigint")
    (True, True, False)
    """
    return _normal(one) == _normal(other)


def _normal(name: str) -> tuple[str, str]:
    text = _SPACE.sub(" ", name.strip().casefold())
    word, bracket, rest = text.partition("(")
    return _SYNONYMS.get(word.strip(), word.strip()), (bracket + rest).replace(" ", "")

"""What names of types mean: the same type, or one that holds every value of another.

They come from a database's catalog, and from what people write.
"""

from __future__ import annotations

import re

__all__ = ["cuts_the_same", "holds_every_value", "is_same_type"]

_SPACE = re.compile(r"\s+|(?<=[(,])\s|\s(?=[(),])")
_NUMBER = re.compile(r"\d+")
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


_INTEGERS = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_WIDER = frozenset(
    (("real", "double"), ("float4", "double"), ("float", "double"), ("date", "timestamp"), ("date", "timestampntz"))
)
_TEXTS = frozenset(("text", "string", "varchar", "char", "character", "nvarchar"))


def holds_every_value(before: str | None, after: str | None) -> bool:
    """Return whether a cast to a type certainly loses nothing of a value; None is a type that is not known.

    >>> holds_every_value("int", "bigint"), holds_every_value("bigint", "int"), holds_every_value(None, "text")
    (True, False, True)
    >>> holds_every_value("varchar(10)", "varchar(20)"), holds_every_value("varchar(20)", "varchar(10)")
    (True, False)
    """
    if after is None:
        return False
    to, to_size = _normal(after)
    if to in _TEXTS and not to_size and to not in ("char", "character"):
        return True
    if before is None:
        return False
    of, of_size = _normal(before)
    if of in _INTEGERS and to in _INTEGERS:
        return _INTEGERS.index(of) <= _INTEGERS.index(to)
    if of == to and of_size and to_size:
        sizes = [[int(one) for one in _NUMBER.findall(size)] for size in (of_size, to_size)]
        return len(sizes[0]) == len(sizes[1]) and _fits(*sizes)
    return (of, to) in _WIDER


def cuts_the_same(before: str | None, after: str | None) -> bool:
    """Return whether a cast of any value to one type, where it does not fail, gives what one to the other type does.

    >>> cuts_the_same("int", "bigint"), cuts_the_same("numeric(10, 2)", "numeric(12, 2)")
    (True, True)
    >>> cuts_the_same("date", "timestamp"), cuts_the_same("numeric(10, 2)", "numeric(12, 3)")
    (False, False)
    """
    if not holds_every_value(before, after) or before is None or after is None:
        return False
    (of, of_size), (to, to_size) = _normal(before), _normal(after)
    if of in _INTEGERS and to in _INTEGERS:
        return True
    sizes = [[int(one) for one in _NUMBER.findall(size)] for size in (of_size, to_size)]
    return of == to == "numeric" and sizes[0][1:] == sizes[1][1:]


def _fits(of: list[int], to: list[int]) -> bool:
    """Return whether a size holds another: a length, or the digits before and behind the point."""
    if len(of) == 2:
        return of[0] - of[1] <= to[0] - to[1] and of[1] <= to[1]
    return of <= to


def _normal(name: str) -> tuple[str, str]:
    text = _SPACE.sub(" ", name.strip().casefold())
    word, bracket, rest = text.partition("(")
    return _SYNONYMS.get(word.strip(), word.strip()), (bracket + rest).replace(" ", "")

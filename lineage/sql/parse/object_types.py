"""Types whose attributes are the columns of a table or view: `CREATE TABLE t OF type` (SQL:2016 11.3).

https://docs.oracle.com/en/database/oracle/oracle-database/23/sqlrf/CREATE-TYPE-statement.html
https://www.postgresql.org/docs/current/sql-createtype.html
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token

from lineage.model.dialect import Dialect
from lineage.sql.parse.rewrites.statement import items
from lineage.sql.procedural.text.tokens import STRINGS, tokenize, word_of

__all__ = ["attributes_of", "type_named_by"]

_METHODS = frozenset(
    ("MEMBER", "STATIC", "CONSTRUCTOR", "MAP", "ORDER", "NOT", "FINAL", "INSTANTIABLE", "OVERRIDING", "PRAGMA")
)
_ENDS_NAME = frozenset(("OF", "AS", "("))
_BEFORE_ATTRIBUTES = frozenset(("AS", "IS", "OBJECT", "UNDER", "FORCE", ".", "OID", "ROW"))


def type_named_by(tokens: Sequence[Token]) -> Token | None:
    """Return the last part of the name of the type in `CREATE TABLE t OF type`; None if there is none."""
    at = next((at for at, token in enumerate(tokens) if token.text.upper() in _ENDS_NAME), len(tokens)) + 1
    if at >= len(tokens) or word_of(tokens[at - 1]) != "OF" or word_of(tokens[at - 2]) == "PARTITION":
        return None
    while at + 2 < len(tokens) and tokens[at + 1].text == ".":
        at += 2
    return tokens[at]


def attributes_of(name: Token, text: str, dialect: Dialect) -> list[list[Token]]:
    """Return the tokens of each attribute of a type that the text defines once; an empty list for another type."""
    types, found = _types_in(text, dialect), list[list[Token]]()
    wanted: str | None = _folded(name, dialect)
    for _ in range(len(types)):  # a subtype has the attributes of its supertype first
        definition = types.get(wanted or "")
        if definition is None:
            return []
        wanted, own = definition
        found[:0] = own
        if wanted is None:
            return found
    return []


def _folded(name: Token, dialect: Dialect) -> str:
    return dialect.fold_table(name.text, quoted=not word_of(name))


@lru_cache(maxsize=2)
def _types_in(text: str, dialect: Dialect) -> dict[str, tuple[str | None, list[list[Token]]] | None]:
    """Return the supertype and the attributes of the types that a text defines; None if it defines one twice."""
    try:
        tokens = tokenize(text, dialect)
    except TokenError:
        return {}
    words = [word_of(token) for token in tokens]
    types: dict[str, tuple[str | None, list[list[Token]]] | None] = {}
    for at, word in enumerate(words[:-1]):
        if word != "TYPE" or not {"CREATE", "ALTER"}.intersection(words[max(at - 4, 0) : at]):
            continue
        name = at + 1
        while words[name + 1 : name + 2] == ["."] and name + 2 < len(words):
            name += 2
        opened, supertype = name + 1, None
        while opened < len(words) and (words[opened] in _BEFORE_ATTRIBUTES or _is_name(words, opened, tokens)):
            supertype = _folded(tokens[opened], dialect) if _is_name(words, opened, tokens) else supertype
            opened += 1
        if name < len(words) and (words[opened : opened + 1] == ["("] or "ATTRIBUTE" in words[name : name + 3]):
            key = _folded(tokens[name], dialect)
            types[key] = None if key in types else (supertype, _attributes(tokens, opened))
    return types


def _is_name(words: Sequence[str], at: int, tokens: Sequence[Token]) -> bool:
    """Return whether a part of a supertype's name, or an object identifier, is at a position."""
    return words[at - 1] in ("UNDER", ".") or tokens[at].token_type in STRINGS


def _attributes(tokens: Sequence[Token], opened: int) -> list[list[Token]]:
    """Return the tokens of each attribute of the list that is opened at a position, without methods."""
    depth = 0
    for at in range(opened, len(tokens)):
        depth += (tokens[at].text == "(") - (tokens[at].text == ")")
        if not depth:
            inner = list(tokens[opened + 1 : at])
            return [item for item in items(inner) if word_of(item[0]) not in _METHODS]
    return []

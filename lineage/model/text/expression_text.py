"""The expression around a span of SQL text: the item of a clause that contains a column.

It is found from the tokens of the text, without a syntax tree: the statement was resolved before, its literals are
masked, and showing evidence must not require a parser. If the tokens are ambiguous, the result is the span itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

__all__ = ["calls_around", "expression_around"]

_WORD = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|`[^`]*+`|--[^\n]*+|/\*.*?\*/|[\w$#@]+|\s++|.""", re.DOTALL)
_LISTS = frozenset(("SELECT", "DISTINCT", "ALL", "BY", "SET", "VALUES", "RETURNING", "USING", "WINDOW"))
"""Keywords before items that are separated by commas."""
_CONDITIONS = frozenset(("WHERE", "ON", "HAVING", "QUALIFY", "MATCHED"))
"""Keywords before conditions that are separated by AND and OR."""
_QUERIES = frozenset(("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH"))
_ENDS = frozenset(
    (
        *("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT"),
        *("MINUS", "INTO", "QUALIFY", "WINDOW", "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "FULL", "NATURAL", "ON"),
        *("USING", "SET", "VALUES", "RETURNING", "AS", "LATERAL", "CLUSTER", "DISTRIBUTE", "SORT", "PARTITION"),
    )
)
_NO_CALLS = frozenset(
    (*_LISTS, *_CONDITIONS, *_QUERIES, *(_ENDS - {"LEFT", "RIGHT"}), "IN", "AND", "OR", "NOT", "OVER", "FILTER", "CASE")
) | {"WHEN", "THEN", "ELSE", "EXISTS", "ANY", "ALL", "BETWEEN", "LIKE", "IS", "WITHIN"}
"""Keywords before a parenthesis that is no call."""
_BLOCKS = frozenset((";", "SELECT", "WHERE", "SET"))
"""What begins the part of a query block that an expression stands in."""
_BEFORE_TABLES = frozenset(("FROM", "JOIN", "AS", "INTO", "USING", "LATERAL", "TABLE", "VIEW", "WITH", "ON", "BY"))
"""Words that lead to no call around a sub-query: it is a table, or decides about rows."""
_MAX_LENGTH = 600
"""In a longer expression the column is hard to see."""


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    """The text in upper case."""


def expression_around(sql: str, start: int, end: int) -> tuple[int, int]:
    """Return the start and end of the expression that contains a span: an item of SELECT or SET, a condition, a key.

    >>> sql = "SELECT a, sum(x + 1) OVER (ORDER BY k) AS s FROM t WHERE c > 0 AND d < 1"
    >>> [sql[slice(*expression_around(sql, at, at + 1))] for at in map(sql.index, ("a", "x ", "k)", "d "))]
    ['a', 'sum(x + 1) OVER (ORDER BY k)', 'sum(x + 1) OVER (ORDER BY k)', 'd < 1']
    """
    words = _words(sql)
    first = next((i for i, word in enumerate(words) if word.end > start), None)
    if first is None:
        return start, end
    found = _start(words, first)
    if found is None:
        return start, end
    opening, parted_by_and = found
    closing = _end(words, opening, end, parted_by_and)
    around = words[opening].start, words[closing].end
    if around[0] > start or around[1] < end or around[1] - around[0] > _MAX_LENGTH:
        return start, end
    return around


def calls_around(sql: str, start: int) -> list[str]:
    """Return the names of the function calls that enclose an offset within its query block, innermost first.

    Those around a sub-query that is a value enclose what it reads, too. They are in lower case and without underscores.
    What stands in quotes is no function that is known.

    >>> sql = "SELECT upper(left(t.email, 2)) FROM (SELECT max(a) FROM u WHERE b IN (1))"
    >>> calls_around(sql, sql.index("t.email")), calls_around(sql, sql.index("a)")), calls_around(sql, sql.index("1))"))
    (['left', 'upper'], ['max'], [])
    >>> texts = "SELECT left((SELECT x FROM t), 1)", "INSERT INTO left ((SELECT x))", "SELECT left(a) FROM (SELECT x)"
    >>> [calls_around(sql, sql.index("x")) for sql in texts]
    [['left'], [], []]
    """
    words, levels = _words(sql), _levels(sql)
    found: list[str] = []
    is_outside = False
    at = bisect_right(words, start, key=attrgetter("end")) - 1
    while at >= 0:
        level = levels[at]
        if level.begins_block or (is_outside and level.leads_to_tables):
            break
        is_outside |= level.is_value
        at = level.opening
        if at > 0 and _is_name(words[at - 1].text):
            if is_outside and _names_a_table(words, at - 1):
                break
            found.append(_called(words, at - 1))
        at -= 1
    return found


def _names_a_table(words: tuple[_Word, ...], at: int) -> bool:
    """Return whether the dotted name that ends at a token is that of a table: `INTO name (SELECT …)`."""
    while at >= 2 and words[at - 1].text == ".":
        at -= 2
    return at > 0 and words[at - 1].text in _BEFORE_TABLES


def _is_name(text: str) -> bool:
    return (text[0].isalpha() or text[0] == "_") and text not in _NO_CALLS


def _called(words: tuple[_Word, ...], at: int) -> str:
    """Return the dotted name that ends at a token."""
    name = words[at].text
    while at >= 2 and words[at - 1].text == "." and _is_name(words[at - 2].text):
        at -= 2
        name = f"{words[at].text}.{name}"
    return name.lower().replace("_", "")


@lru_cache(maxsize=32)
def _words(sql: str) -> tuple[_Word, ...]:
    """Return the tokens of a text, without white space and comments."""
    return tuple(
        _Word(found.start(), found.end(), found[0].upper())
        for found in _WORD.finditer(sql)
        if not found[0].isspace() and not found[0].startswith(("--", "/*"))
    )


class _Nesting(NamedTuple):
    """What encloses a place: the open parenthesis (-1: none), and what stands between that and the place."""

    opening: int
    begins_block: bool = False
    is_value: bool = False
    """Whether the parenthesis begins a query that is a value."""
    leads_to_tables: bool = False


@lru_cache(maxsize=32)
def _levels(sql: str) -> tuple[_Nesting, ...]:
    """Return the level of the place behind each token.

    All are found at once: of a statement with thousands of columns each is asked for.
    """
    words = _words(sql)
    found: list[_Nesting] = []
    outer: list[_Nesting] = []
    level = _Nesting(-1)
    for i, (_, _, text) in enumerate(words):
        if text == "(":
            outer.append(level)
            level = _Nesting(i)
        elif text == ")":
            level = outer.pop() if outer else _Nesting(-1)
        elif text == "SELECT" and i > 1 and words[i - 1].text == "(" and not _is_name(words[i - 2].text):
            level = level._replace(is_value=True)
        elif text in _BLOCKS:
            level = level._replace(begins_block=True)
        elif text in _BEFORE_TABLES:
            level = level._replace(leads_to_tables=True)
        found.append(level)
    return tuple(found)


def _start(words: tuple[_Word, ...], at: int) -> tuple[int, bool] | None:
    """Return where the item around a token begins, and whether AND separates the items; None if that is unknown.

    Parentheses that do not enclose a query are part of an expression: the item encloses them. One walk, since each
    case depends on what the ones before have seen.
    """
    depth, item = 0, at
    clause: str | None = None
    comma = conjunction = 0
    for i in range(at - 1, -1, -1):
        text = words[i].text
        if text in (")", "]"):
            depth += 1
        elif text in ("(", "["):
            if depth:
                depth -= 1
                continue
            # A call or parentheses: start again outside them.
            clause, comma, conjunction = None, 0, 0
        elif depth:
            continue
        elif clause is None and text == "," and not comma:
            comma = i + 1
        elif clause is None and text in ("AND", "OR") and not conjunction and not _is_between(words, i):
            conjunction = i + 1
        elif clause is None and (text in _LISTS or text in _CONDITIONS):
            clause = "ON" if text in _CONDITIONS else text
            item = (conjunction if text in _CONDITIONS else comma) or i + 1
            if text in _QUERIES:
                return item, False
        elif clause is None and text in ("FROM", "JOIN", "INTO", "TABLE", "UPDATE", "MERGE"):
            clause, item = text, -1
        elif text == ";":
            break
        if clause is not None and text in _QUERIES:
            break
    if clause is None or item < 0:
        return None
    return item, clause == "ON"


def _is_between(words: tuple[_Word, ...], at: int) -> bool:
    """Return whether an AND belongs to BETWEEN x AND y."""
    depth = 0
    for i in range(at - 1, max(-1, at - 60), -1):
        text = words[i].text
        if text == ")":
            depth += 1
        elif text == "(":
            if not depth:
                return False
            depth -= 1
        elif not depth and text == "BETWEEN":
            return True
        elif not depth and (text in ("AND", "OR", ",") or text in _LISTS or text in _CONDITIONS):
            return False
    return False


def _end(words: tuple[_Word, ...], first: int, until: int, parted_by_and: bool) -> int:
    """Return the last token of an item that begins at `first` and extends at least to the offset `until`."""
    depth = cases = 0
    for i in range(first, len(words)):
        text = words[i].text
        following = words[i + 1].text if i + 1 < len(words) else ""
        if text in ("(", "["):
            depth += 1
        elif text in (")", "]"):
            if not depth:
                return i - 1
            depth -= 1
        elif depth:
            continue
        elif text == "CASE":
            cases += 1
        elif text == "END" and cases:
            cases -= 1
        elif words[i].start < until or cases:
            continue
        elif (
            text in (",", ";")
            or (text in _ENDS and following != "(")
            or (text in ("ON", "USING", "VALUES", "AS", "FROM", "WHERE", "HAVING", "QUALIFY") and following == "(")
            or (text in ("THEN", "WHEN"))
            or (parted_by_and and text in ("AND", "OR") and not _is_between(words, i))
        ):
            return i - 1
    return len(words) - 1

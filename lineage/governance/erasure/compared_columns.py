"""Whether a condition of SQL says that two columns hold the same values: an equality, IN (SELECT …), USING, NATURAL.

It is found in the text, from the places where a statement reads the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lineage.frozen import frozen
from lineage.model.influence.evidence import Chain, spans_of
from lineage.model.text.expression_text import expression_around

__all__ = ["ComparedColumns", "compared"]

_LONGEST = 300
"""Columns that are farther from each other are in different conditions."""
_EQUALS = r"(?:(?<![<>!=:])==?(?![=>])|<=>|\bIS\s+NOT\s+DISTINCT\s+FROM\b)"
_TYPE = r"\w+(?:\s*\([\d?,\s]*\))?"
_PLAIN = re.compile(rf"(?:::\s*{_TYPE}|\s+AS\s+{_TYPE}\s*(?=\))|[\s)])*{_EQUALS}(?:\s|\(|\bCAST\s*(?=\())*", re.I)
"""Between two columns that are compared as they are, or as another type."""
_QUERY = re.compile(
    r"(?:\s*,[^()]*)?[\s)]*(?:\bNOT\s+)?(?:\bIN|=\s*(?:ANY|SOME))\s*\(\s*SELECT\s+(?:DISTINCT\s+)?", re.I
)
"""Between a column and the one that a sub-query selects to compare it with."""
_BREAKS = re.compile(r"\b(?:AND|OR|ON|WHERE|JOIN|SELECT|WHEN|THEN|ELSE|END|(?<!DISTINCT\s)FROM)\b|;", re.I)
_LEADING = frozenset(("ON", "WHERE", "AND", "OR", "NOT", "HAVING", "QUALIFY", "WHEN", "EXISTS"))
"""Words before a parenthesis that is no call."""
_OPERATOR = re.compile(rf"(?:[\s)]|::\s*{_TYPE}|\bAS\s+{_TYPE})*(?!--|/\*)[-+*/|%^]", re.I)
_NAMES = re.compile(r"(?:\bUSING\s*\([^()]*|\bNATURAL\s+(?:\w+\s+)*JOIN\s*)$", re.I)


@frozen(order=True)
class ComparedColumns:
    """The place of a condition; it `is_computed` if it compares something that is computed from the columns."""

    is_computed: bool
    start: int
    end: int


def compared(sql: str, mine: Iterable[Chain], others: Iterable[Chain]) -> ComparedColumns | None:
    """Return the condition that compares two columns, by where a statement reads them; None if there is none.

    >>> sql = "SELECT 1 FROM a JOIN b ON a.x = b.y::text AND f(a.z) = b.w"
    >>> places = [(sql.index(name), sql.index(name) + 3) for name in ("a.x", "b.y", "a.z", "b.w")]
    >>> [compared(sql, [one], [other]) for one, other in zip(places, places[1:])]
    ... # doctest: +NORMALIZE_WHITESPACE
    [ComparedColumns(is_computed=False, start=26, end=35), None, ComparedColumns(is_computed=True, start=48, end=58)]
    """
    there = [place for chain in others for place in _places(sql, chain)]
    here = [place for chain in mine for place in _places(sql, chain)]
    found = [_condition(sql, one, other) for one in here for other in there]
    return min((one for one in found if one is not None), default=None)


def _places(sql: str, chain: Chain) -> Iterator[tuple[int, int, bool]]:
    """Yield where a value is read on its way through sub-queries, and whether it was computed before."""
    is_computed = False
    for start, end in spans_of(chain):
        yield start, end, is_computed
        is_computed |= expression_around(sql, start, end) != (start, end)


def _condition(sql: str, one: tuple[int, int, bool], other: tuple[int, int, bool]) -> ComparedColumns | None:
    (_, left, _), (right, _, _) = first, last = sorted((one, other))
    start, end, is_computed = first[0], last[1], first[2] or last[2]
    if first[:2] == last[:2]:
        return ComparedColumns(is_computed, start, end) if _NAMES.search(sql, 0, start) else None
    if not left <= right <= left + _LONGEST:
        return None
    between = sql[left:right]
    if _QUERY.fullmatch(between):
        is_listed = sql[:start].rstrip().endswith(",")  # (a, b) IN (SELECT x, y): only a is the first
        return None if is_listed else ComparedColumns(is_computed or not _is_bare(sql, start), start, end)
    if _BREAKS.search(between) or not re.search(_EQUALS, between, re.I):
        return None
    is_plain = _PLAIN.fullmatch(between) and _is_bare(sql, start) and not _OPERATOR.match(sql, end)
    return ComparedColumns(is_computed or not is_plain, start, end)


def _is_bare(sql: str, start: int) -> bool:
    """Return whether a column is neither in a call nor behind an operator; a cast is no call."""
    before = sql[max(0, start - _LONGEST) : start].rstrip()
    while before.endswith("("):
        before = before[:-1].rstrip()
        word = re.search(r"\w*$", before)
        called = word[0].upper() if word else ""
        if called and called not in _LEADING and called != "CAST":
            return False
        before = before[: len(before) - len(called)].rstrip() if called == "CAST" else before
    return not before.endswith(tuple("+-*/|%^"))

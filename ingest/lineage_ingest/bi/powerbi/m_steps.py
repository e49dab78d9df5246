"""The steps of an M query: `let` with names and expressions, which refer to each other and to other queries.

A query is known by its name, the one that is read by the empty name. https://learn.microsoft.com/en-us/powerquery-m/
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lineage.frozen import frozen
from lineage_ingest.bi.exported import QueryProblems
from lineage_ingest.bi.powerbi.m_text import FIELD, TOKEN, m_text, split_at

__all__ = ["MNavigation", "MSteps", "append_choices", "appended", "called", "navigation_of"]

_NAVIGATION = re.compile(r"\{\s*\[(?P<keys>.*?)\]\s*\}\s*\[\s*Data\s*\]", re.DOTALL)
_APPEND = "Table.Combine"
_FUNCTION = re.compile(r"\s*\([^()]*\)\s*(?:as\s+[\w ]+)?=>")
_MAX_APPENDED = 40
_MAX_DEPTH = 100
"""Names for names of a text."""


@frozen
class MNavigation:
    """The choice of a table: `Source{[Schema="dbo",Item="Orders"]}[Data]`; `keys` are the fields of the record."""

    source: str
    keys: str


class MSteps:
    """The steps of a query. `others` are the queries and parameters that it may refer to, by name.

    A step that appends tables has several beginnings: `parts` says by the step's expression which one is read.
    """

    def __init__(
        self, text: str, others: Mapping[str, str], problems: QueryProblems, parts: Mapping[str, int] | None = None
    ) -> None:
        self._parts = parts or {}
        self._text = text
        self.others = others
        self.problems = problems
        self._parsed: dict[str, tuple[dict[str, str], str]] = {}

    def _steps(self, query: str) -> tuple[dict[str, str], str]:
        """Return the steps of a query by name, and the name or expression of its result."""
        if query not in self._parsed:
            self._parsed[query] = _parse_let(self._text if query == "" else self.others.get(query, ""))
        return self._parsed[query]

    def result(self, query: str) -> str:
        """Return the expression that a query results in."""
        steps, result = self._steps(query)
        return steps.get(_plain(result), result)

    def expression(self, query: str, name: str) -> tuple[str, str]:
        """Return the query and expression that an argument means: a step, another query, or an expression itself."""
        plain = _plain(name)
        steps, _ = self._steps(query)
        if plain in steps:
            return query, steps[plain]
        if plain in self.others and plain != query:
            return plain, self.result(plain)
        return query, name

    def previous(self, query: str, expression: str) -> tuple[str, str] | None:
        """Return what an expression is made from; None if it is the beginning."""
        found = self.expression(query, expression.strip())
        if found[1] != expression.strip() or found[0] != query:
            return found
        navigation = navigation_of(expression)
        if navigation is not None:
            return self.expression(query, navigation.source)
        parts = appended(expression)
        if parts:
            number = self._parts.get(expression.strip())
            return None if number is None else self.expression(query, parts[number].strip())
        function, arguments = called(expression)
        if arguments and (function.startswith("Table.") or function == "Value.NativeQuery"):
            return self.expression(query, arguments[0].strip())
        return None

    def tables_in(self, query: str, text: str) -> list[str]:
        """Return the names of other steps and queries in an expression that are no functions and no plain values."""
        own, _ = self._steps(query)
        found: dict[str, None] = {}
        for token in TOKEN.finditer(FIELD.sub(" ", text)):
            name = _plain(token[0]) if token.lastgroup == "name" else ""
            expression = own.get(name) or self.others.get(name) or ""
            is_table = "(" in expression or _NAVIGATION.search(expression) is not None
            if is_table and _FUNCTION.match(expression) is None:
                found[name] = None
        return list(found)

    def value(self, query: str, argument: str) -> str:
        """Return the text that an argument has: a literal, or a parameter's value."""
        text = m_text(argument.strip())
        if text is not None:
            return text
        _, expression = self.expression(query, argument.strip())
        value = expression.partition(" meta ")[0].strip()
        return m_text(value) or ""

    def sql_text(self, query: str, argument: str, depth: int = 0) -> str:
        """Return SQL that an argument has: literals and parameters in a row; what is computed becomes a value."""
        parts = split_at(argument, "&")
        if len(parts) == 1:
            text = self.value(query, argument)
            if not text and argument.strip():
                _, expression = self.expression(query, argument.strip())
                if expression.strip() != argument.strip() and depth < _MAX_DEPTH:
                    return self.sql_text(query, expression, depth + 1)
                self.problems.add_not_read("the SQL is computed by an expression that is not read")
            return text
        texts = [self.value(query, part) for part in parts]
        if not all(text or m_text(part) is not None for text, part in zip(texts, parts, strict=True)):
            self.problems.add_not_read("a part of the SQL is computed by an expression: a value is assumed")
        return "".join(
            text if text or m_text(part) is not None else "?" for text, part in zip(texts, parts, strict=True)
        )


def append_choices(text: str, others: Mapping[str, str]) -> list[dict[str, int]]:
    """Return the beginnings of a query, each as the `parts` of `MSteps`: one, unless steps append tables.

    >>> others = {"A": "x(1)", "B": "Table.Combine({A, C})", "C": "y(1)"}
    >>> append_choices("Table.Combine({A, B})", others)  # doctest: +ELLIPSIS
    [{'Table.Combine({A, B})': 0}, {'Table.Combine({A, B})': 1, ...0}, {'Table.Combine({A, B})': 1, ...1}]
    """
    choices: list[dict[str, int]] = []
    waiting: list[dict[str, int]] = [{}]
    while waiting and len(choices) < _MAX_APPENDED:
        parts = waiting.pop(0)
        steps = MSteps(text, others, QueryProblems(), parts)
        at: tuple[str, str] | None = ("", steps.result(""))
        items: list[str] = []
        for _ in range(_MAX_DEPTH):
            if at is None or items:
                break
            items = appended(at[1]) if at[1].strip() not in parts else []
            at = at if items else steps.previous(*at)
        if items and at is not None:
            waiting = [{**parts, at[1].strip(): number} for number in range(len(items))] + waiting
        else:
            choices.append(parts)
    return choices


def navigation_of(expression: str) -> MNavigation | None:
    """Return the last choice of a table that an expression ends with; None if it ends otherwise.

    >>> navigation_of('S{[Name="d"]}[Data]{[Name="t"]}[Data]')
    MNavigation(source='S{[Name="d"]}[Data]', keys='Name="t"')
    >>> navigation_of('Table.FirstN(S{[Name="t"]}[Data], 5)') is None
    True
    """
    if appended(expression):
        return None
    depth = 0
    found: MNavigation | None = None
    for token in TOKEN.finditer(expression):
        match = _NAVIGATION.match(expression, token.start()) if token[0] == "{" and depth == 0 else None
        if match is not None:
            found = MNavigation(expression[: match.start()].strip(), match["keys"])
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
    return found


def appended(expression: str) -> list[str]:
    """Return the tables that Table.Combine, or `&`, appends; none if it is another call, or its tables are not listed.

    >>> appended("Table.Combine({A, B})"), appended("Table.Combine(Files)"), appended("A & Table.Skip(B)")
    (['A', ' B'], [], ['A ', ' Table.Skip(B)'])
    """
    parts = split_at(expression, "&")
    if len(parts) > 1:
        return parts
    function, arguments = called(expression)
    listed = arguments[0].strip() if function == _APPEND and arguments else ""
    return [one for one in split_at(listed[1:-1], ",") if one.strip()] if listed.startswith("{") else []


def called(expression: str) -> tuple[str, list[str]]:
    """Return the function that an expression calls, and its arguments; an empty name if it is no call.

    >>> called("Table.Skip(Sorted, f(1, 2))"), called("Sorted"), called("f(1) & g(2)")
    (('Table.Skip', ['Sorted', ' f(1, 2)']), ('', []), ('', []))
    """
    if len(split_at(expression, "&")) > 1:
        return "", []
    match = re.match(r"\s*([A-Za-z_][\w.]*)\s*\(", expression)
    if match is None:
        return "", []
    arguments: list[str] = []
    depth, start = 0, match.end()
    for token in TOKEN.finditer(expression, match.end()):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            if depth == 0:
                arguments.append(expression[start : token.start()])
                break
            depth -= 1
        elif token[0] == "," and depth == 0:
            arguments.append(expression[start : token.start()])
            start = token.end()
    return match[1], [one for one in arguments if one.strip()]


def _plain(name: str) -> str:
    return m_text(name) or name.strip()


def _parse_let(text: str) -> tuple[dict[str, str], str]:
    """Return the steps of `let … in …` by name, and its result; other text is its own result."""
    stripped = text.strip()
    if not re.match(r"let\b", stripped):
        return {}, stripped
    steps: dict[str, str] = {}
    depth, name, start, inner = 0, None, None, 0
    last = stripped
    position = 3
    for token in TOKEN.finditer(stripped, 3):
        kind = token.lastgroup
        if kind == "space":
            continue
        if kind == "name" and token[0] == "let" and depth >= 0:
            inner += 1
        elif kind == "name" and token[0] == "in" and depth == 0:
            if inner:
                inner -= 1
                continue
            if name is not None and start is not None:
                steps[name] = stripped[start : token.start()].strip()
            last = stripped[token.end() :].strip()
            break
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif token[0] == "," and depth == 0 and not inner:
            if name is not None and start is not None:
                steps[name] = stripped[start : token.start()].strip()
            name, start, position = None, None, token.end()
        elif token[0] == "=" and depth == 0 and name is None and not inner:
            name, start = _plain(stripped[position : token.start()]), token.end()
    return steps, last

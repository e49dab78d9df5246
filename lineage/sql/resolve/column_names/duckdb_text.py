"""DuckDB's text of an expression (ParsedExpression::ToString), seen in DuckDB 2.0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from lineage.sql.resolve.column_names.engine_text import EngineText
from lineage.sql.resolve.column_names.terms import Term, TermKind, UncertainTextError
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["DuckdbText"]

_OPERATORS = {"<>": "!=", "==": "="}
_LIKES = {"LIKE": "~~", "ILIKE": "~~*", "GLOB": "~~~"}
_TYPES = {
    **dict.fromkeys(("int", "integer"), "INTEGER"), "bigint": "BIGINT", "smallint": "SMALLINT", "boolean": "BOOLEAN",
    **dict.fromkeys(("varchar", "char"), "VARCHAR"), **dict.fromkeys(("decimal", "numeric", "dec"), "DECIMAL"),
    **dict.fromkeys(("float", "real"), "FLOAT"), "timestamp": "TIMESTAMP", "time": "TIME", "interval": "INTERVAL",
    "bit": "BIT",
}  # fmt: skip
"""The types that the grammar has words for; the name of any other is shown as written."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNCERTAIN = frozenset(("grouping", "grouping_id", "columns", "try", "nvl", "map", "struct", "array", "values"))


@cache
def _keywords() -> frozenset[str]:
    """Return the words that DuckDB quotes where they are names: `SELECT keyword_name FROM duckdb_keywords()`."""
    return frozenset(
        files("lineage.sql.resolve.column_names").joinpath("duckdb_keywords.txt").read_text("utf-8").split()
    )


def _name(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _keywords():
        return text
    escaped = text.replace('"', '""')
    return f'"{escaped}"'


class DuckdbText(EngineText):
    """Writes DuckDB's text."""

    def column(self, term: Term) -> str:  # noqa: D102
        return ".".join(map(_name, term.names))

    def operation(self, term: Term) -> str:  # noqa: D102
        if term.text in ("AND", "OR"):
            return f"({f' {term.text} '.join(map(self.write, _flatten(term, term.text)))})"
        left, right = map(self.write, term.terms)
        return f"({left} {_OPERATORS.get(term.text, term.text)} {right})"

    def sign(self, term: Term) -> str:  # noqa: D102
        if term.terms[0].kind is TermKind.NUMBER and term.text == "-":
            return mark_literal(f"-{term.terms[0].text}")
        return f"({term.text}({self.write(term.terms[0])}))"

    def negation(self, term: Term) -> str:  # noqa: D102
        return f"(NOT {self.write(term.terms[0])})"

    def is_null(self, term: Term) -> str:  # noqa: D102
        return f"({self.write(term.terms[0])} IS {'NOT ' if term.negated else ''}NULL)"

    def distinct_from(self, term: Term) -> str:  # noqa: D102
        left, right = map(self.write, term.terms)
        return f"({left} IS {'NOT ' if term.negated else ''}DISTINCT FROM {right})"

    def is_in(self, term: Term) -> str:  # noqa: D102
        found = f"({self.write(term.terms[0])} IN ({self.join(term.terms[1:])}))"
        return f"(NOT {found})" if term.negated else found

    def between(self, term: Term) -> str:  # noqa: D102
        value, low, high = map(self.write, term.terms)
        found = f"({value} BETWEEN {low} AND {high})"
        return f"(NOT {found})" if term.negated else found

    def like(self, term: Term) -> str:  # noqa: D102
        operator = _LIKES.get(term.text)
        if operator is None or (term.negated and term.text == "GLOB"):
            raise UncertainTextError
        left, right = map(self.write, term.terms)
        return f"({left} {'!' if term.negated else ''}{operator} {right})"

    def case(self, term: Term) -> str:  # noqa: D102
        parts = list(term.terms)
        operand = parts.pop(0) if term.text.startswith("o") else None
        default = parts.pop() if term.text.endswith("e") else None
        found = "CASE "
        for condition, result in zip(parts[::2], parts[1::2], strict=True):
            test = self.write(condition)
            if operand is not None:
                test = f"({self.write(operand)} = {test})"
            found += f" WHEN ({test}) THEN ({self.write(result)})"
        return f"{found} ELSE {self.write(default) if default is not None else 'NULL'} END"

    def cast(self, term: Term) -> str:  # noqa: D102
        return f"{term.name}({self.write(term.terms[0])} AS {_type(term.text)})"

    def typed(self, term: Term) -> str:  # noqa: D102
        return f"CAST({self.write(term.terms[0])} AS {'date' if term.text == 'DATE' else term.text})"

    def extract(self, term: Term) -> str:  # noqa: D102
        part = mark_literal(f"'{term.text.upper()}'")
        return f"date_part({part}, {self.write(term.terms[0])})"

    def row(self, term: Term) -> str:  # noqa: D102
        return f'"row"({self.join(term.terms)})'

    def list(self, term: Term) -> str:  # noqa: D102
        return f"list_value({self.join(term.terms)})"

    def call(self, term: Term) -> str:  # noqa: D102
        name = term.text.lower()
        if name == "count" and not term.negated and (not term.terms or term.terms[0].kind is TermKind.STAR):
            return "count_star()"
        if name in _UNCERTAIN:
            raise UncertainTextError
        if name in ("coalesce", "ifnull"):
            return f"COALESCE({self.join(term.terms)})"
        return f"{_name(name)}({'DISTINCT ' if term.negated else ''}{self.join(term.terms)})"

    def filter(self, term: Term) -> str:  # noqa: D102
        return f"{self.write(term.terms[0])} FILTER (WHERE {self.write(term.terms[1])})"

    def over(self, term: Term) -> str:  # noqa: D102
        call, *keys = term.terms
        if call.kind is not TermKind.CALL or (term.name and not term.name.startswith("ROWS")):
            raise UncertainTextError
        parted = [self.write(key) for key, letter in zip(keys, term.text, strict=True) if letter == "p"]
        ordered = [self._ordered(key) for key, letter in zip(keys, term.text, strict=True) if letter == "o"]
        inside = [f"PARTITION BY {', '.join(parted)}"] if parted else []
        inside += [f"ORDER BY {', '.join(ordered)}"] if ordered else []
        inside += [term.name] if term.name else []
        return f"{self.write(call)} OVER ({' '.join(inside)})"

    def _ordered(self, term: Term) -> str:
        nulls = f" NULLS {term.name}" if term.name else ""
        return f"{self.write(term.terms[0])}{f' {term.text}' if term.text else ''}{nulls}"


def _flatten(term: Term, operator: str) -> Iterator[Term]:
    """Yield the operands of a chain of AND or OR: brackets in it are not shown."""
    inner = term
    while inner.kind is TermKind.BRACKETS:
        inner = inner.terms[0]
    if inner.kind is TermKind.OPERATION and inner.text == operator:
        for operand in inner.terms:
            yield from _flatten(operand, operator)
    else:
        yield inner


def _type(written: str) -> str:
    name, bracket, numbers = written.partition("(")
    known = _TYPES.get(name.lower())
    if bracket and known is None:
        raise UncertainTextError
    if known is None and name.lower() in _keywords() and name.lower() not in ("text", "double", "json"):
        raise UncertainTextError
    if known is None:
        return '"json"' if name.lower() == "json" else name
    return f"{known}({numbers.replace(',', ', ')}" if bracket else known

"""ClickHouse's text of an expression: operators are functions. Seen in ClickHouse 26.5."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.sql.resolve.column_names.engine_text import EngineText
from lineage.sql.resolve.column_names.terms import Term, TermKind, UncertainTextError
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["ClickhouseText"]

_FUNCTIONS = {
    "+": "plus", "-": "minus", "*": "multiply", "/": "divide", "%": "modulo", "DIV": "intDiv", "=": "equals",
    "==": "equals", "<>": "notEquals", "!=": "notEquals", "<": "less", "<=": "lessOrEquals", ">": "greater",
    ">=": "greaterOrEquals", "AND": "and", "OR": "or", "||": "concat",
}  # fmt: skip
_LIKES = {"LIKE": ("like", "notLike"), "ILIKE": ("ilike", "notILike")}
_UNCERTAIN = frozenset(
    ("trim", "cast", "datediff", "date_diff", "dateadd", "date_add", "datesub", "date_sub", "timestampadd",
     "timestampdiff", "timestamp_add", "timestamp_sub", "timestamp_diff", "exists", "lag", "lead", "not", "today",
     "now64", "ltrim", "rtrim", "left", "right", "untuple", "columns", "nullif", "grouping", "array", "tuple", "map")
)  # fmt: skip
"""Functions that the parser or the analyzer rewrites, in some versions."""


class ClickhouseText(EngineText):
    """Writes ClickHouse's text."""

    def column(self, term: Term) -> str:  # noqa: D102
        names = term.names
        while len(names) > 1 and self._is_table(names[0]):
            names = names[1:]
        return ".".join(names)

    def operation(self, term: Term) -> str:  # noqa: D102
        function = _FUNCTIONS.get(term.text)
        if function is None:
            raise UncertainTextError
        operands = _flatten(term, term.text) if term.text in ("AND", "OR", "||") else iter(term.terms)
        return f"{function}({', '.join(map(self.write, operands))})"

    def sign(self, term: Term) -> str:  # noqa: D102
        if term.text == "+":
            return self.write(term.terms[0])
        if term.terms[0].kind is TermKind.NUMBER:
            return mark_literal(f"-{term.terms[0].text}")
        return f"negate({self.write(term.terms[0])})"

    def negation(self, term: Term) -> str:  # noqa: D102
        return f"not({self.write(term.terms[0])})"

    def is_null(self, term: Term) -> str:  # noqa: D102
        return f"{'isNotNull' if term.negated else 'isNull'}({self.write(term.terms[0])})"

    def is_in(self, term: Term) -> str:  # noqa: D102
        if len(term.terms) == 2:  # in(a, 1): versions differ
            raise UncertainTextError
        return f"{'notIn' if term.negated else 'in'}({self.write(term.terms[0])}, ({self.join(term.terms[1:])}))"

    def like(self, term: Term) -> str:  # noqa: D102
        if term.text not in _LIKES:
            raise UncertainTextError
        return f"{_LIKES[term.text][term.negated]}({self.join(term.terms)})"

    def between(self, term: Term) -> str:  # noqa: D102
        value, low, high = map(self.write, term.terms)
        if term.negated:
            return f"or(less({value}, {low}), greater({value}, {high}))"
        return f"and(greaterOrEquals({value}, {low}), lessOrEquals({value}, {high}))"

    def case(self, term: Term) -> str:  # noqa: D102
        function = "caseWithExpression" if term.text.startswith("o") else "multiIf"
        return f"{function}({self.join(term.terms)}{'' if term.text.endswith('e') else ', NULL'})"

    def cast(self, term: Term) -> str:  # noqa: D102
        if term.name != "CAST" or term.terms[0].kind in (TermKind.NUMBER, TermKind.STRING):
            raise UncertainTextError
        return f"CAST({self.write(term.terms[0])}, '{term.text.replace(',', ', ')}')"

    def row(self, term: Term) -> str:  # noqa: D102
        return f"({self.join(term.terms)})"

    def list(self, term: Term) -> str:  # noqa: D102
        return f"[{self.join(term.terms)}]"

    def item(self, term: Term) -> str:  # noqa: D102
        return f"arrayElement({self.join(term.terms)})"

    def call(self, term: Term) -> str:  # noqa: D102
        if term.text.lower() in _UNCERTAIN:
            raise UncertainTextError
        if len(term.terms) == 1 and term.terms[0].kind is TermKind.STAR:
            return f"{term.text}()"
        return f"{term.text}{'Distinct' if term.negated else ''}({self.join(term.terms)})"

    def over(self, term: Term) -> str:  # noqa: D102
        call, *keys = term.terms
        parted = [self.write(key) for key, letter in zip(keys, term.text, strict=True) if letter == "p"]
        ordered = [self._ordered(key) for key, letter in zip(keys, term.text, strict=True) if letter == "o"]
        inside = [f"PARTITION BY {', '.join(parted)}"] if parted else []
        inside += [f"ORDER BY {', '.join(ordered)}"] if ordered else []
        inside += [term.name] if term.name else []
        return f"{self.write(call)} OVER ({' '.join(inside)})"

    def _ordered(self, term: Term) -> str:
        if term.name:
            raise UncertainTextError
        return f"{self.write(term.terms[0])} {term.text or 'ASC'}"


def _flatten(term: Term, operator: str) -> Iterator[Term]:
    """Yield the operands of a chain of one operator that is written without brackets."""
    if term.kind is TermKind.OPERATION and term.text == operator:
        for operand in term.terms:
            yield from _flatten(operand, operator)
    else:
        yield term

"""Spark's text of an expression (Expression.sql with toPrettySQL), seen in Spark 4.2."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lineage.sql.resolve.column_names.engine_text import EngineText
from lineage.sql.resolve.column_names.terms import Term, TermKind, UncertainTextError
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["SparkText"]

_TYPES = {
    **dict.fromkeys(("int", "integer"), "INT"), **dict.fromkeys(("bigint", "long"), "BIGINT"),
    **dict.fromkeys(("smallint", "short"), "SMALLINT"), **dict.fromkeys(("tinyint", "byte"), "TINYINT"),
    **dict.fromkeys(("float", "real"), "FLOAT"), "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
    "timestamp": "TIMESTAMP", "binary": "BINARY", "string": "STRING",
}  # fmt: skip
_DECIMALS = frozenset(("decimal", "dec", "numeric"))
_BY_ROWS = frozenset(("row_number", "rank", "dense_rank", "percent_rank", "ntile"))
"""Window functions whose frame is always of rows."""
_MOST_TRIED = 3
"""The largest number of arguments in the list of functions: those that take more are shown alike."""


class SparkText(EngineText):
    """Writes Spark's text."""

    def string(self, term: Term) -> str:  # noqa: D102
        return mark_literal(term.text[1:-1].replace("''", "'"))

    def constant(self, term: Term) -> str:  # noqa: D102
        return f"{term.text.lower()}()" if term.text.startswith("CURRENT") else super().constant(term)

    def column(self, term: Term) -> str:  # noqa: D102
        names = term.names
        while len(names) > 1 and self._is_table(names[0]):
            names = names[1:]
        return ".".join(names)

    def operation(self, term: Term) -> str:  # noqa: D102
        operator = term.text
        if operator in ("AND", "OR"):
            return self._balanced([self.write(one) for one in _operands(term, operator)], operator)
        left, right = map(self.write, term.terms)
        if operator == "||":
            return f"concat({left}, {right})"
        if operator in ("<>", "!="):
            return f"(NOT ({left} = {right}))"
        if operator in ("->", "->>", "#", "//", "**") or (operator in "+-" and any(map(_is_date, term.terms))):
            raise UncertainTextError
        return f"({left} {'=' if operator == '==' else operator.lower()} {right})"

    def _balanced(self, texts: list[str], operator: str) -> str:
        """Return a chain of AND or OR as the parser arranges it, as a balanced tree (reduceToExpressionTree)."""
        if len(texts) == 1:
            return texts[0]
        middle = (len(texts) - 1) // 2 + 1
        left, right = texts[:middle], texts[middle:]
        return f"({self._balanced(left, operator)} {operator} {self._balanced(right, operator)})"

    def sign(self, term: Term) -> str:  # noqa: D102
        if term.terms[0].kind is TermKind.NUMBER and term.text == "-":
            return mark_literal(f"-{term.terms[0].text}")
        return f"({term.text} {self.write(term.terms[0])})"

    def negation(self, term: Term) -> str:  # noqa: D102
        return f"(NOT {self.write(term.terms[0])})"

    def is_null(self, term: Term) -> str:  # noqa: D102
        return f"({self.write(term.terms[0])} IS {'NOT ' if term.negated else ''}NULL)"

    def distinct_from(self, term: Term) -> str:  # noqa: D102
        left, right = map(self.write, term.terms)
        return f"({left} <=> {right})" if term.negated else f"(NOT ({left} <=> {right}))"

    def is_in(self, term: Term) -> str:  # noqa: D102
        found = f"({self.write(term.terms[0])} IN ({self.join(term.terms[1:])}))"
        return f"(NOT {found})" if term.negated else found

    def like(self, term: Term) -> str:  # noqa: D102
        left, right = map(self.write, term.terms)
        if term.text == "LIKE":
            text = f"{left} LIKE {right}"
        elif term.text == "ILIKE":
            text = f"ilike({left}, {right})"
        elif term.text in ("RLIKE", "REGEXP"):
            text = f"RLIKE({left}, {right})"
        else:
            raise UncertainTextError
        return f"(NOT {text})" if term.negated else text

    def case(self, term: Term) -> str:  # noqa: D102
        parts = list(term.terms)
        operand = parts.pop(0) if term.text.startswith("o") else None
        default = parts.pop() if term.text.endswith("e") else None
        found = "CASE"
        for condition, result in zip(parts[::2], parts[1::2], strict=True):
            test = self.write(condition)
            if operand is not None:
                test = f"({self.write(operand)} = {test})"
            found += f" WHEN {test} THEN {self.write(result)}"
        return f"{found}{f' ELSE {self.write(default)}' if default is not None else ''} END"

    def cast(self, term: Term) -> str:  # noqa: D102
        return f"{term.name}({self.write(term.terms[0])} AS {_type(term.text)})"

    def typed(self, term: Term) -> str:  # noqa: D102
        return f"{term.text} {mark_literal(term.terms[0].text)}"

    def extract(self, term: Term) -> str:  # noqa: D102
        return f"extract({term.text} FROM {self.write(term.terms[0])})"

    def call(self, term: Term) -> str:  # noqa: D102
        name = term.text.lower()
        if name == "count" and len(term.terms) == 1 and term.terms[0].kind is TermKind.STAR and not term.negated:
            return "count(1)"
        if name == "if":
            return f"(IF({self.join(term.terms)}))"
        shown, counts = _functions().get(name, ("", ""))
        if str(min(len(term.terms), _MOST_TRIED)) not in counts:
            raise UncertainTextError
        return f"{shown}({'DISTINCT ' if term.negated else ''}{self.join(term.terms)})"

    def field(self, term: Term) -> str:  # noqa: D102
        return f"{self.write(term.terms[0])}.{term.text}"

    def filter(self, term: Term) -> str:  # noqa: D102
        return f"{self.write(term.terms[0])} FILTER (WHERE {self.write(term.terms[1])})"

    def over(self, term: Term) -> str:  # noqa: D102
        call, *keys = term.terms
        if call.kind is not TermKind.CALL or call.text.lower() in ("lag", "lead", "nth_value"):
            raise UncertainTextError
        parted = [self.write(key) for key, letter in zip(keys, term.text, strict=True) if letter == "p"]
        ordered = [self._ordered(key) for key, letter in zip(keys, term.text, strict=True) if letter == "o"]
        inside = [f"PARTITION BY {', '.join(parted)}"] if parted else []
        inside += [f"ORDER BY {', '.join(ordered)}"] if ordered else []
        by_rows = call.text.lower() in _BY_ROWS or not ordered
        end = "CURRENT ROW" if ordered else "UNBOUNDED FOLLOWING"
        inside.append(term.name or f"{'ROWS' if by_rows else 'RANGE'} BETWEEN UNBOUNDED PRECEDING AND {end}")
        return f"{self.write(call)} OVER ({' '.join(inside)})"

    def _ordered(self, term: Term) -> str:
        direction = term.text or "ASC"
        nulls = term.name or ("FIRST" if direction == "ASC" else "LAST")
        return f"{self.write(term.terms[0])} {direction} NULLS {nulls}"


@cache
def _functions() -> dict[str, tuple[str, str]]:
    """Return the functions that are shown as they are called: by name, as shown, with the numbers of arguments.

    The others are shown with arguments that the call omits, by another name, or by no fixed one. Read off Spark by
    calling all of SHOW FUNCTIONS.
    """
    listed = files("lineage.sql.resolve.column_names").joinpath("spark_functions.txt").read_text("utf-8").split()
    shown = [entry.partition(":") for entry in listed]
    return {name.lower(): (name, counts) for name, _, counts in shown}


def _is_date(term: Term) -> bool:
    """Return whether a term is certainly a date or time: `+` is then a function, by the other's type."""
    return term.kind is TermKind.TYPED or (term.kind is TermKind.CONSTANT and term.text.startswith("CURRENT"))


def _operands(term: Term, operator: str) -> list[Term]:
    """Return the operands of a chain of AND or OR that is written without brackets."""
    found: list[Term] = []
    while term.kind is TermKind.OPERATION and term.text == operator:
        found.append(term.terms[1])
        term = term.terms[0]
    return [term, *reversed(found)]


def _type(written: str) -> str:
    name, bracket, numbers = written.partition("(")
    if name.lower() in _DECIMALS:
        given = numbers.rstrip(")") if bracket else "10,0"
        return f"DECIMAL({given if ',' in given else f'{given},0'})"
    known = "STRING" if name.lower() in ("varchar", "char") and bracket else _TYPES.get(name.lower())
    if known is None:
        raise UncertainTextError
    return known

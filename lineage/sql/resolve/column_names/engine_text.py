"""What the texts of all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from lineage.sql.resolve.column_names.terms import Term, TermKind, UncertainTextError
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["EngineText"]

_METHODS = {
    TermKind.STRING: "string",
    TermKind.NUMBER: "number",
    TermKind.CONSTANT: "constant",
    TermKind.COLUMN: "column",
    TermKind.OPERATION: "operation",
    TermKind.SIGN: "sign",
    TermKind.NOT: "negation",
    TermKind.IS_NULL: "is_null",
    TermKind.DISTINCT_FROM: "distinct_from",
    TermKind.IN: "is_in",
    TermKind.BETWEEN: "between",
    TermKind.LIKE: "like",
    TermKind.CASE: "case",
    TermKind.CAST: "cast",
    TermKind.TYPED: "typed",
    TermKind.CALL: "call",
    TermKind.EXTRACT: "extract",
    TermKind.ROW: "row",
    TermKind.LIST: "list",
    TermKind.ITEM: "item",
    TermKind.FIELD: "field",
    TermKind.FILTER: "filter",
    TermKind.OVER: "over",
    TermKind.BRACKETS: "brackets",
}
"""The method that writes each kind of term."""


class EngineText(ABC):
    """Writes a term as an engine shows it, with marks around the literals.

    `is_table` says whether a name is that of a table in FROM, so `t.a` is a column, not a field.
    """

    def __init__(self, is_table: Callable[[str], bool]) -> None:
        self._is_table = is_table

    def write(self, term: Term) -> str:
        """Return the text of a term.

        Raises:
            UncertainTextError: the engine's text of it is not known.
        """
        name = _METHODS.get(term.kind)
        if name is None:
            raise UncertainTextError
        text: str = getattr(self, name)(term)
        return text

    def join(self, terms: tuple[Term, ...]) -> str:
        """Return the texts of terms with commas between them."""
        return ", ".join(map(self.write, terms))

    def unknown(self, _: Term) -> str:
        """Fail: the engine's text of such a term is not known.

        Raises:
            UncertainTextError: always.
        """
        raise UncertainTextError

    def number(self, term: Term) -> str:
        """Return the text of a number."""
        return mark_literal(term.text)

    def brackets(self, term: Term) -> str:
        """Return the text of an expression in brackets, without them."""
        return self.write(term.terms[0])

    def string(self, term: Term) -> str:
        """Return the text of a string."""
        return mark_literal(term.text)

    def constant(self, term: Term) -> str:
        """Return the text of NULL, TRUE, FALSE, CURRENT_DATE and the like."""
        return term.text if term.text == "NULL" else term.text.lower()

    def item(self, term: Term) -> str:
        """Return the text of `a[1]`."""
        return f"{self.write(term.terms[0])}[{self.write(term.terms[1])}]"

    @abstractmethod
    def column(self, term: Term) -> str:
        """Return the text of a column."""

    @abstractmethod
    def operation(self, term: Term) -> str:
        """Return the text of an operator and its operands."""

    @abstractmethod
    def sign(self, term: Term) -> str:
        """Return the text of `-a` and `+a`."""

    @abstractmethod
    def negation(self, term: Term) -> str:
        """Return the text of `NOT a`."""

    @abstractmethod
    def is_null(self, term: Term) -> str:
        """Return the text of `a IS NULL` and `a IS NOT NULL`."""

    @abstractmethod
    def is_in(self, term: Term) -> str:
        """Return the text of `a IN (b, c)`."""

    @abstractmethod
    def like(self, term: Term) -> str:
        """Return the text of LIKE, ILIKE and so on."""

    @abstractmethod
    def case(self, term: Term) -> str:
        """Return the text of CASE."""

    @abstractmethod
    def cast(self, term: Term) -> str:
        """Return the text of a cast."""

    @abstractmethod
    def call(self, term: Term) -> str:
        """Return the text of a function call."""

    distinct_from = between = typed = extract = row = list = filter = over = field = unknown

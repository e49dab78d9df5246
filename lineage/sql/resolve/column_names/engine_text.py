"""What the texts of all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from lineage.sql.resolve.column_names.terms import Term, TermKind, UncertainTextError
from lineage.sql.resolve.column_names.unnamed_column import mark_literal

__all__ = ["EngineText"]


class EngineText(ABC):
    """Writes a term as an engine shows it, with marks around the literals.

    `is_table` says whether a name is that of a table in FROM, so `t.a` is a column, not a field.
    """

    def __init__(self, is_table: Callable[[str], bool]) -> None:
        self._is_table = is_table
        self._writers: dict[TermKind, Callable[[Term], str]] = {
            TermKind.STRING: self.string,
            TermKind.NUMBER: lambda term: mark_literal(term.text),
            TermKind.CONSTANT: self.constant,
            TermKind.COLUMN: self.column,
            TermKind.OPERATION: self.operation,
            TermKind.SIGN: self.sign,
            TermKind.NOT: self.negation,
            TermKind.IS_NULL: self.is_null,
            TermKind.DISTINCT_FROM: self.distinct_from,
            TermKind.IN: self.is_in,
            TermKind.BETWEEN: self.between,
            TermKind.LIKE: self.like,
            TermKind.CASE: self.case,
            TermKind.CAST: self.cast,
            TermKind.TYPED: self.typed,
            TermKind.CALL: self.call,
            TermKind.EXTRACT: self.extract,
            TermKind.ROW: self.row,
            TermKind.LIST: self.list,
            TermKind.ITEM: self.item,
            TermKind.FILTER: self.filter,
            TermKind.OVER: self.over,
            TermKind.BRACKETS: lambda term: self.write(term.terms[0]),
        }

    def write(self, term: Term) -> str:
        """Return the text of a term.

        Raises:
            UncertainTextError: the engine's text of it is not known.
        """
        writer = self._writers.get(term.kind)
        if writer is None:
            raise UncertainTextError
        return writer(term)

    def join(self, terms: tuple[Term, ...]) -> str:
        """Return the texts of terms with commas between them."""
        return ", ".join(map(self.write, terms))

    def unknown(self, _: Term) -> str:
        """Fail: the engine's text of such a term is not known.

        Raises:
            UncertainTextError: always.
        """
        raise UncertainTextError

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

    distinct_from = between = typed = extract = row = list = filter = over = unknown

"""What a query or table returns: its rows, and the values of its columns in them, as digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import IntEnum
from typing import NamedTuple

from lineage.frozen import frozen
from lineage.sql.canonical.forms.digests import digest

__all__ = ["ClauseForm", "TableForm", "Stability", "ValueForm", "base_table", "opaque_table", "worst"]


class Stability(IntEnum):
    """Whether the same query over the same data gives the same result again."""

    STABLE = 0
    TIES = 1
    """It depends on which of several equal rows comes first: ROW_NUMBER, LIMIT."""
    MOMENT = 2
    """It depends on the time or the user of the run. Rows that are chosen by the time are the same at the same time."""
    VOLATILE = 3
    """It differs each time, as random numbers do."""


@frozen
class ValueForm:
    """The value of a column or expression, as a function of the row.

    `uncast` is the value before its outermost cast to `type`.
    """

    digest: str
    uncast: str = ""
    type: str | None = None
    stability: Stability = Stability.STABLE

    @property
    def before_cast(self) -> str:
        """The digest of the value without its outermost cast."""
        return self.uncast or self.digest


def worst(values: Iterable[ValueForm], *more: Stability) -> Stability:
    """Return the worst stability of these."""
    return max((*more, *(value.stability for value in values)), default=Stability.STABLE)


class ClauseForm(NamedTuple):
    """A clause that decides rows: its name, the digest of what it means, and that of how it is written.

    What a clause means may differ only because of a clause before it (`HAVING sum(a) > 5` after another WHERE); then it
    is written as before.
    """

    name: str
    meaning: str
    text: str


@frozen
class TableForm:
    """The rows of a query or table, and its columns in order.

    `rows` identifies the rows, whatever columns they have: two relations with equal `rows` have the same rows, and
    their columns with equal values are equal, also jointly. `order` identifies the order that rows are stored in,
    which some functions depend on. `rest` stands for further columns that are not known; empty if there are none.
    `is_ordered`: the order of the columns is certain. `stability` is that of the rows.
    """

    rows: str
    columns: tuple[tuple[str, ValueForm], ...] = ()
    order: str = ""
    rest: str = ""
    is_ordered: bool = True
    stability: Stability = Stability.STABLE
    clauses: tuple[ClauseForm, ...] = field(default=(), compare=False, repr=False)
    """The clauses that make the rows, also those of sub-queries and CTEs: only to explain a difference of `rows`."""
    keys: frozenset[frozenset[str]] = field(default=frozenset(), compare=False, repr=False)
    """Sets of the digests of columns: no two rows are equal in all columns of a set. An empty set: one row at most."""

    @property
    def is_open(self) -> bool:
        """Whether there may be further columns."""
        return bool(self.rest)

    def find(self, name: str) -> ValueForm | None:
        """Return a column's value; None if there is no such column, or several."""
        values = [value for column, value in self.columns if column == name]
        if len(values) == 1:
            return values[0]
        if not values and self.rest:
            return ValueForm(digest("column", self.rest, name))
        return None

    def may_have(self, name: str) -> bool:
        """Return whether it has a column of that name, or may have one."""
        return self.is_open or any(column == name for column, _ in self.columns)

    @property
    def values(self) -> Iterator[str]:
        """The digests of its columns, in order."""
        return (value.digest for _, value in self.columns)

    @property
    def all_stability(self) -> Stability:
        """The stability of its rows and columns together."""
        return worst((value for _, value in self.columns), self.stability)

    @property
    def content(self) -> str:
        """The digest of everything: names, values, rows and their order."""
        columns = [(name, value.digest) for name, value in self.columns]
        return digest("content", self.rows, self.order, columns, self.rest, self.is_ordered)

    def renamed(self, names: Sequence[str]) -> TableForm | None:
        """Return the relation with other names for its first columns; None if its columns are not known."""
        if not names:
            return self
        if self.is_open or not self.is_ordered or len(names) > len(self.columns):
            return None
        own = [*names, *(name for name, _ in self.columns[len(names) :])]
        return replace(self, columns=tuple(zip(own, (value for _, value in self.columns), strict=True)))

    def built(self, *more: str, is_stored: bool = True) -> TableForm:
        """Return it as the table that one build makes of it; a view (`is_stored` is false) has the time of its reader.

        What each build makes otherwise, although nothing that it is made of differs, is the same only if the whole
        table is: then it need not be built again. Which of several equal rows comes first depends on the rows and
        their order, not on the values beside them. `more` identifies how it is built.
        """
        by_name = sorted((name, value.digest) for name, value in self.columns)
        content = digest("built", self.rows, self.order, by_name, self.rest, *more)
        once = Stability.MOMENT if is_stored else Stability.VOLATILE

        def stored(value: ValueForm) -> ValueForm:
            if value.stability >= once:
                made = digest("once", value.digest, content)
                return replace(value, digest=made, uncast="", stability=Stability.STABLE)
            return value if value.stability is Stability.MOMENT else replace(value, stability=Stability.STABLE)

        columns = tuple((name, stored(value)) for name, value in self.columns)
        rows = digest("once", self.rows, content) if self.stability is Stability.VOLATILE else self.rows
        order = digest("stored", rows, self.order, *more)
        volatile = {value.digest for _, value in self.columns if value.stability >= Stability.MOMENT}
        keys = frozenset(key for key in self.keys if not key & volatile)
        is_stable = self.all_stability is Stability.STABLE
        rest = self.rest if is_stable else self.rest and digest("rest", self.rest, rows)
        return TableForm(rows, columns, order, rest, self.is_ordered, keys=keys)

    def as_given(self, name: str) -> TableForm:
        """Return a table with these columns by name, whatever they are made of; what is unique is so there, too."""
        given = base_table(name, [(column, None) for column, _ in self.columns])
        renamed: dict[str, str] = {}
        for (_, own), (_, other) in zip(self.columns, given.columns, strict=True):
            renamed.setdefault(own.digest, other.digest)
        keys = (frozenset(renamed.get(one, "") for one in key) for key in self.keys)
        return replace(given, keys=frozenset(key for key in keys if "" not in key))


def base_table(name: str, columns: Iterable[tuple[str, str | None]] | None = None) -> TableForm:
    """Return a table that no query of the project defines, with the names and types of its columns if known."""
    rows = digest("table", name)
    if columns is None:
        return TableForm(rows, order=rows, rest=rows)
    listed = tuple((column, _column(rows, column, kind)) for column, kind in columns)
    return TableForm(rows, listed, rows)


def _column(rows: str, name: str, kind: str | None) -> ValueForm:
    bare = digest("column", rows, name)
    return ValueForm(bare) if kind is None else ValueForm(digest("typed", bare, kind), bare, kind)


def opaque_table(rows: str, names: Sequence[str] | None = None, stability: Stability = Stability.TIES) -> TableForm:
    """Return a relation of which nothing is known but what it is made of: all of it changes together."""
    unread = ClauseForm("SQL that no rule reads", rows, rows)
    if names is None:
        return TableForm(rows, order=rows, rest=rows, is_ordered=False, stability=stability, clauses=(unread,))
    columns = tuple((name, ValueForm(digest("column", rows, name), stability=stability)) for name in names)
    return TableForm(rows, columns, rows, is_ordered=False, stability=stability, clauses=(unread,))

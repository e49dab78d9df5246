"""One query block: the relations of its FROM, and the names that its clauses define."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlglot import exp

from lineage.model.names import split_name
from lineage.sql.resolve.relations import BaseTable, Composite, Relation, Sources, absorb
from lineage.sql.resolve.resolution import Resolution
from lineage.sql.resolve.scopes.alias_visibility import Clause
from lineage.sql.resolve.structs.value_fields import RowFields
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION

__all__ = ["NOTHING", "NO_SOURCES", "Choice", "Merge", "QueryBlock"]

NO_SOURCES: Sources = {}
NOTHING: Mapping[str, Any] = MappingProxyType({})
"""Shared empty values, since most blocks use few of their attributes."""


class Merge(NamedTuple):
    """The columns merged by a USING or NATURAL join, and the keys of the items on its two sides, in order.

    `side` is LEFT, RIGHT, FULL or nothing.
    """

    left: dict[str, None]
    right: dict[str, None]
    columns: dict[str, Sources]
    side: str = ""


class Choice:
    """The columns that a COLUMNS(…) of the select list expands to, and the current one."""

    __slots__ = ("at", "names")

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.at: int | None = None


_NO_NAMES: frozenset[str] = frozenset()


class QueryBlock:
    """One query block: the relations of its FROM by alias, columns merged by USING, its CTEs, windows and aliases."""

    __slots__ = (
        "_found",
        "_names",
        "aliases",
        "awaited",
        "changes",
        "choice",
        "clause",
        "ctes",
        "holds_variables",
        "items",
        "later",
        "made",
        "merged",
        "merges",
        "namesakes",
        "outputs",
        "parent",
        "prefixed",
        "resolver",
        "windows",
        "written",
    )

    def __init__(
        self, resolver: Resolution, parent: QueryBlock | None = None, ctes: Mapping[str, Relation] | None = None
    ) -> None:
        self.resolver = resolver
        self.parent = parent
        self.items: dict[str, Relation] = {}
        self.namesakes: Mapping[str, tuple[str, ...]] = NOTHING
        """The keys of the relations that have an alias, where several do: `s1.t JOIN s2.t`, `s1.t JOIN u AS t`."""
        self.ctes: Mapping[str, Relation] = ctes if ctes is not None else (parent.ctes if parent else {})
        self.prefixed: Mapping[str, Relation] = NOTHING
        """Relations whose columns are visible with their prefix only, such as EXCLUDED."""
        self.changes: str | None = None
        """The alias of the table that the statement changes, which no query in its FROM or USING sees."""
        self.merged: Mapping[str, Sources] = NOTHING
        self.merges: Sequence[Merge] = ()
        self.outputs: dict[str, Sources] = {}
        """The aliases of the select list."""
        self.written: dict[str, exp.Expr] = {}
        """The expression of each alias."""
        self.aliases: Mapping[str, Sources] = NOTHING
        """The aliases visible in the current clause."""
        self.awaited: frozenset[str] = _NO_NAMES
        """The aliases of the select list that conditions of joins see."""
        self.later: Sequence[exp.Expr] = ()
        """Conditions of joins that read such an alias, which is known after the select list only."""
        self.clause = Clause.SELECT
        self.made: Sources = {}
        """The arguments of set-returning functions in the select list, such as UNNEST and EXPLODE."""
        self.windows: Mapping[str, exp.Expr] = NOTHING
        self.choice: Choice | None = None
        self.holds_variables = False
        """The scope around every query of the statement: the variables of a program."""
        self._found: dict[Any, Sources] = {}
        self._names = resolver.identifiers.unquoted

    def add(self, alias: str, relation: Relation, qualified: str | None = None) -> None:
        """Make a relation visible; tables of one name in different schemas are distinguished by their full name."""
        mark = self.resolver.repeated_name_mark
        if mark is not None and type(relation) is Relation:
            relation = relation.with_distinct_names(mark)
        key = alias
        if key in self.items and qualified:
            key = qualified
        self._found.clear()
        while key in self.items:
            key += "'"
        if key != alias:
            self.namesakes = {**self.namesakes, alias: (*self.namesakes.get(alias, (alias,)), key)}
        self.items[key] = relation

    def keep(self, items: dict[str, Relation]) -> None:
        """Restrict the visible relations to these; other aliases become free."""
        self.items = items
        kept = {alias: tuple(key for key in keys if key in items) for alias, keys in self.namesakes.items()}
        self.namesakes = {alias: keys for alias, keys in kept.items() if len(keys) > 1} or NOTHING
        self.merges = tuple(merge for merge in self.merges if items.keys() >= {*merge.left, *merge.right})
        self._found.clear()

    def merge(self, merge: Merge) -> None:
        """Resolve unqualified names to the columns merged by a join."""
        self.merges = (*self.merges, merge)
        self.merged = {**self.merged, **merge.columns}
        self._found.clear()

    def unmerge(self) -> None:
        """Drop merged columns whose join sides are no longer visible."""
        self.merges = [merge for merge in self.merges if not self.items.keys().isdisjoint(merge.left)]
        self.merged = {name: sources for merge in self.merges for name, sources in merge.columns.items()}
        self._found.clear()

    def chain(self) -> Iterator[QueryBlock]:
        """Yield this scope and the enclosing ones, innermost first."""
        scope: QueryBlock | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def item(self, alias: str, qualifier: str | None = None) -> Relation | None:
        """Return the nearest relation with that alias, in this scope or an enclosing one.

        With a schema as qualifier, the nearest table of that schema is preferred.
        """
        if qualifier:
            for scope in self.chain():
                if relation := scope.items.get(f"{qualifier}.{alias}"):
                    return relation
                relation = scope.items.get(alias)
                if isinstance(relation, BaseTable) and _schema_of(relation.name) == qualifier:
                    return relation
        for scope in self.chain():
            if relation := scope.items.get(alias) or scope.prefixed.get(alias):
                return relation
        return None

    def add_output(self, name: str, sources: Sources, written: exp.Expr) -> None:
        """Add an alias of the select list; of two with the same name, the first is used."""
        if name not in self.outputs:
            self.outputs[name] = sources
            self.written[name] = written
            if self.resolver.alias_visibility.before_columns:
                self._found.clear()

    def see_aliases(self, clause: Clause, *, seen: bool) -> None:
        """Start a clause; `seen`: whether the aliases of the select list are visible in it."""
        self.clause = clause
        self.aliases = self.outputs if seen else NOTHING

    @contextmanager
    def read_as(self, meanings: Sequence[tuple[exp.Expr, Sources]]) -> Iterator[None]:
        """Resolve unqualified names (by their identifiers) to these sources within a `with` block."""
        if not meanings:
            yield
            return
        kept = dict(self._found)
        for node, sources in meanings:
            self._found[(node.args["this"], True) if node.args.get("quoted") else node.args["this"]] = sources
        yield
        self._found = kept

    def having(self, name: str) -> dict[str, Sources]:
        """Return the sources of a name in each relation of this block that certainly has it."""
        return {alias: found for alias, item in self.items.items() if (found := item.find(name)) is not None}

    def positional(self, position: str, alias: str | None = None) -> Sources:
        """Return the sources of `$1`, a column of a staged file by position; empty if no such file is read."""
        for scope in self.chain():
            for known, relation in scope.items.items():
                if isinstance(relation, BaseTable) and relation.name.startswith("@") and alias in (None, known):
                    return relation.infer(f"${position}")
        return NO_SOURCES

    def whole_row(self, alias: str) -> Sources:
        """Return a relation's row as a value whose fields are the columns."""
        relation = self.item(alias)
        total: Sources = {}
        if relation is None:
            return total
        for _, sources in relation.columns():
            absorb(total, sources, TRANSFORMATION, None)
        return Composite(total, RowFields(relation))

    def all_columns(self) -> Iterator[tuple[str, Sources]]:
        """Yield the columns of all relations of this scope, in order."""
        for relation in self.items.values():
            yield from relation.columns()

    def _all_rows(self) -> Sources:
        total: Sources = {}
        for alias in self.items:
            absorb(total, self.whole_row(alias), IDENTITY, None)
        return total


def _schema_of(table: str) -> str | None:
    """Return the schema part of a table's full name."""
    parts = split_name(table)
    return parts[-2][0] if len(parts) > 1 else None

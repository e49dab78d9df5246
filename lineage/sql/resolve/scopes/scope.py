"""Scopes: the relations and names visible in a query block, and the resolution of column names to sources.

Unqualified names are resolved in `unprefixed.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import BaseTable, Composite, Elements, Relation, Sources, absorb
from lineage.sql.resolve.scopes.query_block import NO_SOURCES, NOTHING, Choice, Merge, QueryBlock
from lineage.sql.resolve.scopes.unprefixed import column_of, doubtful, find_unprefixed, known_column, may_have_any
from lineage.sql.resolve.transformation_codes import MASKED_AGGREGATION

__all__ = ["Choice", "Merge", "Scope", "grouping_keys"]

_GROUPING_ID = "grouping__id"
_OF_A_SEQUENCE = frozenset(("nextval", "currval"))


def grouping_keys(node: exp.Expr) -> list[exp.Expr]:
    """Return the columns in the GROUP BY of the query that an expression stands in."""
    query = node.find_ancestor(exp.Select)
    group = query.args.get("group") if query is not None else None
    return [] if group is None else list(group.find_all(exp.Column))


def _parts(column: exp.Expr) -> list[exp.Expr]:
    return [part for key in ("catalog", "db", "table", "this") if (part := column.args.get(key)) is not None]


class Scope(QueryBlock):
    """A query block that resolves the names in it to sources."""

    __slots__ = ()

    def part(self, keys: Iterable[str]) -> Scope:
        """Return a scope inside this one in which some of its items come first, with their merged join columns."""
        part = Scope(self.resolver, self, self.ctes)
        part.items = {key: self.items[key] for key in keys if key in self.items}
        unseen = set(self.items) - part.items.keys()
        merged: dict[str, Sources] = {}
        for merge in self.merges:
            if merge.left.keys().isdisjoint(unseen):
                merged.update(merge.columns)
        part.merged = merged or NOTHING
        return part

    def resolve(self, column: exp.Expr, aliases_first: bool = False) -> Sources:
        """Return the sources of a column reference; an unknown name is reported and has no sources.

        Results are cached by the reference's text until the visible names change.
        """
        # One function, although it has two cases: it is called for every column reference.
        args = column.args
        node = args["this"]
        if type(node) is not exp.Identifier:
            return self._resolve_nameless(node, args.get("table"))
        text = node.args
        table = args.get("table")
        if table is None:
            if aliases_first and self.outputs:
                sources = self.outputs.get(self.resolver.identifiers.column(node))
                if sources is not None:
                    return sources
            key: Any = (text["this"], True) if text.get("quoted") else text["this"]
            column_sources = self._found.get(key)
            if column_sources is None:
                name = self._names.get(key) or self.resolver.identifiers.column(node)
                column_sources = find_unprefixed(self, column, name)
                if column_sources is NO_SOURCES and name == _GROUPING_ID:
                    column_sources = self._grouping_id(column)
                if column_sources and name not in self.aliases and column_sources is not self.outputs.get(name):
                    self._found[key] = column_sources
            return column_sources
        owner = table.args
        if len(args) == 2 and not owner.get("quoted") and not text.get("quoted"):  # nearly always: `alias.name`
            alias, known = self._names.get(owner["this"]), self._names.get(text["this"])
            if alias is not None and known is not None and alias not in self.namesakes:
                relation = self.items.get(alias)
                if (
                    relation is not None
                    and (index := relation.index) is not None
                    and (column_sources := index.get(known))
                ):
                    return column_sources
        full = (owner["this"], text["this"], owner.get("quoted"), text.get("quoted"))
        column_sources = self._found.get(full)
        if column_sources is None:
            column_sources = self._resolve_prefixed(column, table, self.resolver.identifiers.column(node))
            if column_sources and "db" not in args:
                self._found[full] = column_sources
        return column_sources

    def _grouping_id(self, column: exp.Expr) -> Sources:
        """Return the sources of Hive's and Spark's GROUPING__ID: it says which of the keys a row is grouped by."""
        total: Sources = {}
        for key in grouping_keys(column):
            absorb(total, self.resolve(key), MASKED_AGGREGATION, None)
        return total

    def _resolve_nameless(self, node: exp.Expr, table: exp.Expr | None) -> Sources:
        """Return the sources of a column that is not a name: `t.$1`, `t.*`, `*`."""
        if type(node) is exp.Literal and table:  # ClickHouse: `tuple.1`
            return self.value([self.resolver.identifiers.column(table), node.name]) or NO_SOURCES
        if type(node) is exp.Parameter:
            return self.positional(node.name, self.resolver.identifiers.alias(table) if table else None)
        return self.whole_row(self.resolver.identifiers.alias(table)) if table else self._all_rows()

    def _resolve_prefixed(self, column: exp.Expr, table: exp.Expr, name: str) -> Sources:
        identifiers = self.resolver.identifiers
        alias = identifiers.column(table)
        schema = column.args.get("db")
        relation = self.items.get(alias) if schema is None else None
        if relation is None:
            relation = self.item(alias, identifiers.alias(schema) if schema else None)
        if schema is None and (sources := self._of_namesakes(column, alias, name)) is not None:
            return sources
        if relation is not None:
            sources = relation.find(name)
            if sources is None and not relation.has_unknown_columns:  # `a.x`, where a is also a struct of another table
                sources = self._of_outer(alias, relation, name) if schema is None else None
                sources = sources if sources is not None else self._field_of(column, built=True)
            return sources if sources is not None else column_of(self, relation, name, column, alias)
        sources = self._field_of(column)
        if sources is not None:
            return sources
        if (presumed := self._field_of_unknown(column)) is not None:
            return presumed
        if name.lower() in _OF_A_SEQUENCE and self.resolver.naming.dialect.sequences_by_column:
            return NO_SOURCES
        aliases = [key for scope in self.chain() for key in scope.items]
        self.resolver.report(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.ERROR,
            f"no table or alias `{table.name}` for column `{column.name}`",
            column,
            hint=self.resolver.nearest(alias, aliases),
        )
        self.resolver.unresolved_name(DiagnosticCode.UNKNOWN_TABLE, alias, column, aliases)
        return NO_SOURCES

    def _of_namesakes(self, column: exp.Expr, alias: str, name: str) -> Sources | None:
        """Return a column of the one of several relations with this alias that has it; None if the alias is of one."""
        holder = next((scope for scope in self.chain() if alias in scope.items), None)
        if holder is None or alias not in holder.namesakes:
            return None
        part = Scope(self.resolver, holder, self.ctes)
        part.items = {key: holder.items[key] for key in holder.namesakes[alias]}
        if len({item.name if isinstance(item, BaseTable) else item for item in part.items.values()}) == 1:
            return None
        if not may_have_any(part) and not part.having(name):
            return None
        return find_unprefixed(part, column, name)

    def _field_of_unknown(self, column: exp.Expr) -> Sources | None:
        """Return a field of a column that only a table with unknown columns can have, if any."""
        if not self.resolver.naming.dialect.fields_by_dot or not any(map(may_have_any, self.chain())):
            return None
        path = [self.resolver.identifiers.column(part) for part in _parts(column)]
        return self.resolver.field(find_unprefixed(self, column, path[0]), path[1:])

    def _of_outer(self, alias: str, hiding: Relation, name: str) -> Sources | None:
        """Return a column of an outer table with the same alias as an inner one; PostgreSQL stops at the inner one."""
        if self.resolver.naming.dialect.nearest_alias_only:
            return None
        others = (scope.items.get(alias) for scope in self.chain())
        found = (one.find(name) for one in others if one is not None and one is not hiding)
        return next((sources for sources in found if sources is not None), None)

    def _field_of(self, column: exp.Expr, built: bool = False) -> Sources | None:
        """Return the field that a dotted name refers to; with `built`, only of a struct that the query builds."""
        path = [self.resolver.identifiers.column(part) for part in _parts(column)]
        for depth in range(len(path) - 2):  # `t.a.b`: a field of a column of an alias
            owner = self.item(path[depth])
            if owner is not None:
                name = path[depth + 1]
                sources = known_column(owner, name) if owner.has_unknown_columns else owner.find(name)
                if sources is not None:
                    return self.resolver.field(sources, path[depth + 2 :])
        sources = self._find(path[0], column)
        if sources is None:
            elements = (item for scope in self.chain() for item in scope.items.values() if isinstance(item, Elements))
            sources = next((item.infer(path[0]) for item in elements), None)
        if sources is None or (built and not (isinstance(sources, Composite) and path[1] in (sources.fields or ()))):
            return None
        return self.resolver.field(sources, path[1:])

    def value(self, path: list[str]) -> Sources | None:
        """Return the sources of a column or a nested field by its path; None if no relation has the column."""
        owner = self.item(path[0]) if len(path) > 1 else None
        if owner is not None:
            sources = known_column(owner, path[1])
            return self.resolver.field(sources, path[2:]) if sources is not None else None
        sources = self._find(path[0])
        if sources is None:
            unknown = [r for scope in self.chain() for r in scope.items.values() if r.is_open]
            sources = unknown[0].infer(path[0]) if len(unknown) == 1 else None
        return self.resolver.field(sources, path[1:]) if sources is not None else None

    def _find(self, name: str, column: exp.Expr | None = None) -> Sources | None:
        """Return the sources of an unqualified name that a relation is known to have.

        If `column` is the reference, a nearer block that may have the name is preferred, and that is reported.
        """
        nearer: QueryBlock | None = None
        for scope in self.chain():
            sources = scope.merged.get(name)
            for relation in scope.items.values() if sources is None else ():
                sources = relation.find(name)
                if sources is not None:
                    break
            if sources is not None:
                if nearer is None or column is None or (scope.holds_variables and name in scope.merged):
                    return sources
                return doubtful(nearer, column, name, scope, sources)
            if nearer is None and may_have_any(scope):
                nearer = scope
        return None

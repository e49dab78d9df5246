"""The items of a query block's FROM: the tables and queries that names refer to, and where their columns are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from lineage.model.diagnostics import Span
from lineage.sql.outline.query_outline import BlockItem, ColumnPlace
from lineage.sql.resolve.relations import STAR, BaseTable, Relation, TemporaryTable
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.spans import span_of

__all__ = ["BlockItems"]

_ITEMS = (exp.Table, exp.Subquery, exp.Lateral)


class BlockItems:
    """The FROM items of a block that was resolved; `numbers` are those of the statement's blocks by node."""

    def __init__(self, resolver: Resolver, node: exp.Expr, scope: Scope, numbers: Mapping[int, int]) -> None:
        self.node = node
        self._resolver = resolver
        self._scope = scope
        self._numbers = numbers
        self._nodes = {alias: item for item in _items_of(node) if (alias := self._alias(item)) is not None}
        self._blocks = {alias: self._blocks_of(alias) for alias in scope.items}

    def _alias(self, item: exp.Expr) -> str | None:
        alias = item.args.get("alias")
        named = alias.this if isinstance(alias, exp.TableAlias) else None
        if named is None and isinstance(item, exp.Table):
            named = item.this
        return self._resolver.identifiers.column(named) if isinstance(named, exp.Identifier) else None

    def _blocks_of(self, alias: str) -> tuple[int, ...]:
        node = self._nodes.get(alias)
        if isinstance(node, exp.Table):
            return self.of_cte(node)[0]
        return tuple(self._branches(node.this)) if node is not None else ()

    def of_cte(self, table: exp.Expr) -> tuple[tuple[int, ...], Span | None]:
        """Return the blocks of the CTE that a table's name means, and the span of the CTE's name; None if no CTE."""
        if table.args.get("db") is not None or not isinstance(table.this, exp.Identifier):
            return (), None
        name = self._resolver.identifiers.column(table.this)
        above = table.parent
        while above is not None:
            with_ = above.args.get("with_")
            for cte in with_.expressions if with_ is not None else ():
                if not cte.args.get("scalar") and self._resolver.identifiers.alias(cte.args["alias"].this) == name:
                    return tuple(self._branches(cte.this)), span_of(cte.args["alias"].this)
            above = above.parent
        return (), None

    def _branches(self, query: exp.Expr) -> Iterator[int]:
        """Yield the blocks of a query: the branches of a set operation, from the left."""
        waiting = [query]
        while waiting:
            branch = waiting.pop()
            if isinstance(branch, exp.SetOperation):
                waiting += [branch.expression, branch.this]
            elif isinstance(branch, exp.Subquery | exp.Paren):
                waiting.append(branch.this)
            elif id(branch) in self._numbers:
                yield self._numbers[id(branch)]

    def listed(self) -> tuple[BlockItem, ...]:
        """Return the items in order."""
        return tuple(
            BlockItem(alias, _table_of(relation), _columns(relation), relation.is_open, self._blocks[alias])
            for alias, relation in self._scope.items.items()
        )

    def having(self, name: str, alias: str | None = None) -> tuple[ColumnPlace, ...]:
        """Return the columns that a name means, of the item with that alias or of any; the only open item may have it.

        A column that a join merges is of both sides.
        """
        items = self._scope.items
        chosen = {key: items[key] for key in ([alias] if alias is not None else items) if key in items}
        sure = [key for key, relation in chosen.items() if relation.find(name) is not None]
        if not sure:
            unknown = [key for key, relation in chosen.items() if relation.has_unknown_columns]
            sure = unknown if len(unknown) == 1 else []
        return tuple(place for key in sure for place in self._places(key, chosen[key], name))

    def _places(self, key: str, relation: Relation, name: str) -> Iterator[ColumnPlace]:
        table = _table_of(relation)
        if table is not None:
            yield ColumnPlace(name, table)
            return
        names = relation.names
        if name in names and STAR not in names:
            for block in self._blocks[key]:
                yield ColumnPlace(name, None, block, names.index(name))
        else:
            yield from (ColumnPlace(name, one.name) for one in relation.opens if isinstance(one, BaseTable))


def _table_of(relation: Relation) -> str | None:
    return relation.name if isinstance(relation, BaseTable | TemporaryTable) else None


def _columns(relation: Relation) -> tuple[str, ...]:
    return tuple(name for name, _ in relation.columns() if name != STAR)


def _items_of(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of a block's FROM items, also those in brackets."""
    waiting: list[exp.Expr] = []
    for key in ("from_", "joins", "laterals"):
        value = node.args.get(key)
        waiting += value if isinstance(value, list) else [value] if value is not None else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, exp.From | exp.Join):
            waiting.append(item.this)
            continue
        waiting += item.args.get("joins") or ()
        waiting += item.args.get("laterals") or ()
        if isinstance(item, exp.Subquery) and not item.alias and isinstance(item.this, exp.Table | exp.Subquery):
            waiting.append(item.this)
        elif isinstance(item, _ITEMS):
            yield item

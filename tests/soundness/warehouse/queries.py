"""Random queries over the tables of a warehouse: plain ones mostly, so that not everything reaches everything."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from tests.soundness.expressions import Place
from tests.soundness.generator import QueryGenerator
from tests.soundness.grammar import DUCKDB, Grammar
from tests.soundness.scopes import Output, Scope, Visible
from tests.soundness.sources import Ctes, FromBuilder, KnownCte
from tests.soundness.tree import (
    AGGREGATION,
    Call,
    CteItem,
    Derived,
    Expr,
    FromItem,
    Item,
    ItemRef,
    Join,
    Key,
    Limit,
    OutputRef,
    Pivoted,
    Query,
    QueryValue,
    Ref,
    Select,
    SetOperation,
    Star,
    Type,
)
from tests.soundness.warehouse.tree import Read
from tests.soundness.warehouse.world import Stored

__all__ = ["Queries", "features", "reads_of", "walk"]


class _Tables(FromBuilder):
    """FROM clauses over the tables of a warehouse, named with their schema or without."""

    def build(self, depth: int, outer: Scope | None, ctes: Ctes, most: int = 3) -> tuple[tuple[Join, ...], Scope]:
        few = min(most, self._rng.choice((0, 0, 1, 1, 1, 2)))
        return super().build(depth, outer, ctes, few)

    def _known(self, uid: int, scope: Scope, ctes: Ctes) -> tuple[FromItem, tuple[Output, ...], str]:
        item, columns, shown = super()._known(uid, scope, ctes)
        assert isinstance(item, CteItem)
        if item.alias is None and "." in item.name and self._rng.random() < 0.8:
            shown = item.name.rpartition(".")[2]
            if shown in {each.alias.rpartition(".")[2] for each in scope.visible}:
                shown = alias = self._alias(scope)
                item = CteItem(item.uid, item.cte, item.name, alias, item.columns)
        return item, columns, shown

    def _table(self, uid: int, scope: Scope, ctes: Ctes) -> tuple[FromItem, tuple[Output, ...], str]:
        return self._known(uid, scope, ctes)

    def item(self, scope: Scope, ctes: Ctes, uid: int) -> tuple[FromItem, tuple[Output, ...], str]:
        """Return a table, by its name or another."""
        return self._known(uid, scope, ctes)


class Queries(QueryGenerator):
    """Makes the queries and expressions of a warehouse's statements. All nodes of a warehouse have numbers of it."""

    sources = _Tables
    _from: _Tables

    def __init__(self, rng: random.Random, grammar: Grammar = DUCKDB) -> None:
        super().__init__(rng, grammar)
        self.expressions = self._expressions

    def uid(self) -> int:
        return next(self._uids)

    def known(self, visible: Mapping[str, Stored]) -> dict[str, KnownCte]:
        """Return tables as a query may read them."""
        return {
            name: KnownCte(self.uid(), tuple(Output(c.name, c.type) for c in stored.columns))
            for name, stored in visible.items()
        }

    def defining(self, ctes: Ctes) -> tuple[Query, tuple[Output, ...]]:
        """Return the query of a table or a view."""
        rng = self._rng
        choice = rng.random()
        if choice < 0.35:
            return self._projection(ctes)
        if choice < 0.5:
            return self._counted(ctes)
        if choice < 0.58:
            return self._whole(ctes)
        while True:
            query, columns = self.query(rng.choice((0, 0, 0, 1)), None, ctes)
            if all(column.type != "struct" for column in columns):
                return query, columns

    def filling(self, ctes: Ctes, types: list[Type]) -> Query:
        """Return a query whose columns have these types."""
        return self._with_ctes(self._rng.choice((0, 0, 1)), None, ctes, types)[0]

    def beside(self, target: Visible, ctes: Ctes) -> tuple[FromItem, Scope, Scope]:
        """Return an item to stand beside a target, what both show, and what the item alone shows."""
        rng = self._rng
        both, alone = Scope(None), Scope(None)
        self._from._show(both, target.uid, target.alias, target.columns, target.columns)
        item: FromItem
        if rng.random() < 0.25:
            query, columns = self.defining(ctes)
            shown = self._from._alias(both)
            item = Derived(self.uid(), query, shown)
        else:
            item, columns, shown = self._from.item(both, ctes, self.uid())
        for scope in (both, alone):
            self._from._show(scope, item.uid, shown, columns, columns)
        return item, both, alone

    def show(self, scope: Scope, table: Visible) -> None:
        """Add a table to a scope."""
        self._from._show(scope, table.uid, table.alias, table.columns, table.columns)

    def place(self, scope: Scope, ctes: Ctes) -> Place:
        """Return where an expression may name what a scope shows, with sub-queries now and then."""
        if self._rng.random() < 0.4:
            return Place(scope, subquery=self._selects._sub_queries(0, ctes))
        return Place(scope)

    def joining(self, left: Visible, both: Scope, alone: Scope) -> Expr:
        """Return a condition that compares a target with the item beside it."""
        own = Scope(None)
        self._from._show(own, left.uid, left.alias, left.columns, left.columns)
        return self._from._condition(Place(own), Place(alone), both)

    # Plain queries

    def _one(self, ctes: Ctes) -> tuple[Join, Scope]:
        scope = Scope(None)
        return self._from._first(0, scope, ctes), scope

    def _projection(self, ctes: Ctes) -> tuple[Query, tuple[Output, ...]]:
        """Return columns of one table under names that may be those of others."""
        rng = self._rng
        join, scope = self._one(ctes)
        slots = rng.sample(scope.slots, rng.randint(1, len(scope.slots)))
        names = [slot.name for slot in slots]
        if rng.random() < 0.5:
            pool = sorted({slot.name for slot in scope.slots} | {"x", "y", "n"})
            names = rng.sample(pool, len(slots))
        prefix = f"{scope.visible[0].alias}." if rng.random() < 0.4 else ""
        items, columns = [], []
        for slot, name in zip(slots, names, strict=True):
            value = Ref(slot.owner, slot.name, prefix + slot.name, slot.type)
            items.append(Item(self.uid(), value, name, written=name != slot.name))
            columns.append(Output(name, slot.type))
        where = self._expressions.value(Place(scope), "bool", 1) if rng.random() < 0.3 else None
        return Select(tuple(items), (join,), where=where), tuple(columns)

    def _counted(self, ctes: Ctes) -> tuple[Query, tuple[Output, ...]]:
        """Return a count of all rows, and now and then a column beside it."""
        rng = self._rng
        join, scope = self._one(ctes)
        joins = [join]
        if rng.random() < 0.3:
            item, columns, alias = self._from.item(scope, ctes, self.uid())
            self._from._show(scope, item.uid, alias, columns, columns)
            joins.append(Join(self.uid(), "CROSS JOIN", item))
        items = [Item(self.uid(), Call("count(*)", (), (), "int"), "n")]
        integers = [ref for _, ref in scope.references() if ref.type == "int"]
        if integers and rng.random() < 0.5:
            items.append(Item(self.uid(), Call("max({0})", (rng.choice(integers),), ((AGGREGATION,),), "int"), "m"))
        return Select(tuple(items), tuple(joins)), tuple(Output(item.name, "int") for item in items)

    def _whole(self, ctes: Ctes) -> tuple[Query, tuple[Output, ...]]:
        join, scope = self._one(ctes)
        return Select((Star(self.uid(), None),), (join,)), tuple(Output(s.name, s.type) for s in scope.slots)


def reads_of(known: Mapping[str, KnownCte], *nodes: object) -> tuple[Read, ...]:
    """Return the tables that statements' nodes read."""
    names = {cte.uid: name for name, cte in known.items()}
    found = {node.cte for each in nodes for node in walk(each) if isinstance(node, CteItem)}
    return tuple(Read(uid, names[uid]) for uid in sorted(found) if uid in names)


def walk(node: Any) -> Iterator[Any]:
    """Yield a node and all below it."""
    yield node
    if isinstance(node, tuple):
        for element in node:
            yield from walk(element)
    elif is_dataclass(node):
        for each in fields(node):
            yield from walk(getattr(node, each.name))


def features(node: object) -> set[str]:
    """Return what a statement's queries are made with, by the names that `--without` knows."""
    found: set[str] = set()
    for each in walk(node):
        match each:
            case ItemRef(ordinal=True) | OutputRef(ordinal=True):
                found.add("ordinal")
            case SetOperation():
                found.add("set_operation")
            case QueryValue():
                found.add("sub_query")
            case Star():
                found.add("star")
            case Pivoted():
                found.add("pivot")
            case Join(natural=True):
                found.add("natural")
            case Join(using=(_, *_)):
                found.add("using")
            case Key() | Limit():
                found.add("order")
            case Call(template=template) if " OVER " in template:
                found.add("window")
            case Select(group=group) if group is not None:
                found.add("group")
            case Select(from_first=True):
                found.add("from_first")
            case CteItem(columns=(_, *_)):
                found.add("column_alias")
    return found

"""Random FROM clauses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import NamedTuple, Protocol

from tests.soundness.expressions import Expressions, Place
from tests.soundness.scopes import Output, Scope, Slot, Visible
from tests.soundness.tree import (
    AGGREGATION,
    COUNTED,
    SUMMED,
    TABLES,
    TRANSFORMATION,
    Call,
    Constant,
    CteItem,
    Derived,
    Expr,
    FromItem,
    FunctionItem,
    Join,
    Pivoted,
    Query,
    TableItem,
    Type,
    Unpivoted,
    Using,
    ValuesItem,
)

__all__ = ["EQUALS", "Ctes", "FromBuilder", "KnownCte", "Queries"]

_ALIASES = ("x", "y", "z", "r", "a", "b", "t", "u")
EQUALS = ((TRANSFORMATION,), (TRANSFORMATION,))


class KnownCte(NamedTuple):
    """A CTE, or a temporary table, that a query may read by its name."""

    uid: int
    columns: tuple[Output, ...]


Ctes = Mapping[str, KnownCte]


class Queries(Protocol):
    """Makes the queries of derived tables."""

    def query(self, depth: int, outer: Scope | None, ctes: Ctes) -> tuple[Query, tuple[Output, ...]]:
        """Return a query and its output columns, whose names differ."""


class FromBuilder:
    """Builds a FROM step by step, in a scope that grows with it."""

    def __init__(self, rng: random.Random, uids: Iterator[int], expressions: Expressions, queries: Queries) -> None:
        self._rng = rng
        self._uids = uids
        self._expressions = expressions
        self._grammar = expressions.grammar
        self._queries = queries

    def build(self, depth: int, outer: Scope | None, ctes: Ctes, most: int = 3) -> tuple[tuple[Join, ...], Scope]:
        """Return the joins and what they show."""
        scope = Scope(outer)
        joins = [self._first(depth, scope, ctes)]
        more = self._rng.choice(((0,), (0, 0, 1), (0, 0, 1, 1, 2), (0, 0, 1, 1, 1, 2))[most])
        joins.extend(self._next(depth, scope, ctes) for _ in range(more))
        return tuple(joins), scope

    def _first(self, depth: int, scope: Scope, ctes: Ctes) -> Join:
        item, columns, alias = self._item(depth, scope, ctes)
        self._show(scope, item.uid, alias, columns, columns)
        return Join(next(self._uids), "", item)

    def _show(self, scope: Scope, uid: int, alias: str, columns: tuple[Output, ...], slots: tuple[Output, ...]) -> None:
        scope.visible.append(Visible(uid, alias, columns))
        scope.slots += [Slot(uid, name, kind) for name, kind in slots]

    def _next(self, depth: int, scope: Scope, ctes: Ctes) -> Join:
        rng = self._rng
        kind = rng.choice(self._grammar.join_kinds)
        if kind == "LATERAL":
            return self._lateral(depth, scope, ctes)
        uid = next(self._uids)
        item, columns, alias = self._item(depth, scope, ctes)
        # DuckDB turns the whole join behind which no ON stands, not its right side.
        turned = isinstance(item, Pivoted | Unpivoted)
        if turned and kind == "CROSS JOIN":
            kind = ","
        if kind in (",", "CROSS JOIN"):
            if kind == "," and not self._grammar.may("comma joins to the left"):
                scope.group_start = len(scope.slots)
            self._show(scope, item.uid, alias, columns, columns)
            return Join(uid, kind, item)
        shared = self._shared(scope, columns)
        natural = rng.random() < 0.2 and self._may_be_natural(scope, columns, shared) and "ANTI" not in kind
        natural = natural and not turned
        if shared and (natural or rng.random() < 0.4):
            chosen = shared if natural else rng.sample(shared, rng.randint(1, min(2, len(shared))))
            if natural and "SEMI" in kind:
                kind = "JOIN"
            return self._using(scope, Join(uid, kind, item, None, tuple(chosen), natural), columns, alias)
        inner = Scope(scope.parent, scope.slots[scope.group_start :], list(scope.visible))
        visible = {slot.owner for slot in inner.slots}
        inner.visible = [v for v in inner.visible if v.uid in visible]
        left = Place(inner, correlates=False)
        right_scope = Scope(None)
        self._show(right_scope, item.uid, alias, columns, columns)
        self._show(inner, item.uid, alias, columns, columns)
        on = self._condition(left, Place(right_scope), inner)
        if "SEMI" not in kind and "ANTI" not in kind:
            self._show(scope, item.uid, alias, columns, columns)
        return Join(uid, kind, item, on)

    def _condition(self, left: Place, right: Place, both: Scope) -> Expr:
        """Return an ON that mostly compares the two sides, by names that are certain beside both."""
        rng = self._rng
        certain = {reference.text for _, reference in both.references()}
        ours = [c for c in self._expressions.columns(left, ("int", "text")) if c.text in certain]
        theirs = [c for c in self._expressions.columns(right, ("int", "text")) if c.text in certain]
        pairs = [(a, b) for a in ours for b in theirs if a.type == b.type]
        place = Place(both, correlates=False)
        if not pairs or rng.random() < 0.15:
            return self._expressions.value(place, "bool", 2)
        a, b = rng.choice(pairs)
        equal: Expr = Call("{0} = {1}", (a, b), EQUALS, "bool")
        if rng.random() < 0.25:
            other = self._expressions.value(place, "bool", 1)
            equal = Call("{0} AND {1}", (equal, other), EQUALS, "bool")
        return equal

    def _shared(self, scope: Scope, columns: tuple[Output, ...]) -> list[Using]:
        counts = Counter(slot.name for slot in scope.slots[scope.group_start :])
        right = dict(columns)
        return [
            Using(slot.name, slot.owner)
            for slot in scope.slots[scope.group_start :]
            if counts[slot.name] == 1 and right.get(slot.name) == slot.type and slot.type not in ("list", "struct")
        ]

    @staticmethod
    def _may_be_natural(scope: Scope, columns: tuple[Output, ...], shared: list[Using]) -> bool:
        """Return whether all columns of one name can be merged, so that NATURAL has one reading."""
        names = {slot.name for slot in scope.slots[scope.group_start :]}
        return bool(shared) and names & {name for name, _ in columns} == {using.name for using in shared}

    def _using(self, scope: Scope, join: Join, columns: tuple[Output, ...], alias: str) -> Join:
        merged = {using.name for using in join.using}
        if "SEMI" in join.kind or "ANTI" in join.kind:
            position = scope.group_start
            for using in join.using:
                position = next(i for i, s in enumerate(scope.slots) if (s.owner, s.name) == (using.left, using.name))
                scope.slots[position] = scope.slots[position]._replace(owner=join.uid)
            self._merge_first(scope, join)
            return join
        for using in join.using:
            position = next(i for i, s in enumerate(scope.slots) if (s.owner, s.name) == (using.left, using.name))
            scope.slots[position] = scope.slots[position]._replace(owner=join.uid)
        self._merge_first(scope, join)
        rest = tuple(column for column in columns if column.name not in merged)
        self._show(scope, join.item.uid, alias, columns, rest)
        return join

    def _merge_first(self, scope: Scope, join: Join) -> None:
        """Move the columns that a join merges before the others, if the dialect shows them there."""
        if self._grammar.may("merged columns first"):
            start, order = scope.group_start, [using.name for using in join.using]
            own = [slot for slot in scope.slots[start:] if slot.owner == join.uid]
            own.sort(key=lambda slot: order.index(slot.name))
            scope.slots[start:] = [*own, *(slot for slot in scope.slots[start:] if slot.owner != join.uid)]

    def _lateral(self, depth: int, scope: Scope, ctes: Ctes) -> Join:
        """Return an item that reads those to its left: a sub-query, VALUES, unnest or generate_series."""
        rng = self._rng
        uid, item_uid = next(self._uids), next(self._uids)
        alias = self._alias(scope)
        place = Place(scope, correlates=False)
        choice = rng.random()
        kind = rng.choice((",", "CROSS JOIN"))
        item: FromItem
        lists = self._expressions.columns(place, ("list",))
        if lists and choice < 0.35:
            ordinality = rng.random() < 0.3 and self._grammar.may("ordinality")
            names = (rng.choice(("e", "elem")), *(["n"] if ordinality else []))
            item = FunctionItem(item_uid, self._grammar.elements, (rng.choice(lists),), alias, names, ordinality)
            columns: tuple[Output, ...] = tuple(Output(name, "int") for name in names)
        elif choice < 0.5:
            until = self._expressions.value(place, "int", 1)
            text = f"CAST(least({{0}}, 3) AS {self._grammar.integer})"
            args = (Constant("1", "int"), Call(text, (until,), ((TRANSFORMATION,),), "int"))
            item = FunctionItem(item_uid, self._grammar.series, args, alias, ("n",))
            columns = (Output("n", "int"),)
        elif choice < 0.6 and self._grammar.may("lateral values"):
            rows = tuple((self._expressions.value(place, "int", 1),) for _ in range(2))
            item = ValuesItem(item_uid, rows, alias, ("val",))
            columns = (Output("val", "int"),)
        else:
            query, columns = self._queries.query(min(depth, 1) - 1, scope, ctes)
            kind = rng.choice((", LATERAL", "CROSS JOIN LATERAL", "JOIN LATERAL", "LEFT JOIN LATERAL"))
            item = Derived(item_uid, query, alias, (), lateral=True)
            kind = kind.removesuffix("LATERAL").strip()
        if kind == "," and not self._grammar.may("comma joins to the left"):
            scope.group_start = len(scope.slots)
        self._show(scope, item_uid, alias, columns, columns)
        on = Constant("true", "bool") if kind in ("JOIN", "LEFT JOIN") else None
        return Join(uid, kind, item, on)

    def _alias(self, scope: Scope) -> str:
        taken = {item.alias for item in scope.visible}
        free = [alias for alias in _ALIASES if alias not in taken]
        return self._rng.choice(free)

    def _item(self, depth: int, scope: Scope, ctes: Ctes) -> tuple[FromItem, tuple[Output, ...], str]:
        rng = self._rng
        uid = next(self._uids)
        choice = rng.random()
        if ctes and choice < 0.45:
            return self._known(uid, scope, ctes)
        if depth > 0 and choice < 0.65:
            # Beside other items a name could mean theirs: DuckDB reads every derived table as LATERAL.
            query, columns = self._queries.query(depth - 1, None if scope.visible else scope.parent, ctes)
            alias = self._alias(scope)
            renamed = self._listed(columns)
            listed = tuple(c.name for c in renamed) if renamed != columns else ()
            return Derived(uid, query, alias, listed), renamed, alias
        if 0.93 < choice < 0.96 and self._grammar.may("unpivot"):
            turned = self._turned(depth, scope, ctes, uid)
            if turned is not None:
                return turned
        if choice > 0.96 and self._grammar.may("values"):
            kinds: tuple[Type, ...] = ("int", "text")
            rows = tuple(tuple(self._expressions.constant(kind) for kind in kinds) for _ in range(3))
            alias = self._alias(scope)
            return ValuesItem(uid, rows, alias, ("id", "s")), (Output("id", "int"), Output("s", "text")), alias
        return self._table(uid, scope, ctes)

    def _known(self, uid: int, scope: Scope, ctes: Ctes) -> tuple[FromItem, tuple[Output, ...], str]:
        """Return a CTE, or what else the query may read by its name."""
        name = self._rng.choice(sorted(ctes))
        known = ctes[name]
        columns, listed = self._columns(known.columns)
        alias = self._own_alias(scope, name, bool(listed))
        return CteItem(uid, known.uid, name, alias, listed), columns, alias or name

    def _table(self, uid: int, scope: Scope, ctes: Ctes) -> tuple[FromItem, tuple[Output, ...], str]:
        """Return a base table that no CTE hides."""
        table = self._rng.choice([table for table in TABLES if table not in ctes] or ["t"])
        columns, listed = self._columns(tuple(Output(name, kind) for name, kind in TABLES[table].items()))
        alias = self._own_alias(scope, table, bool(listed))
        return TableItem(uid, table, alias, listed), columns, alias or table

    def _columns(self, own: tuple[Output, ...]) -> tuple[tuple[Output, ...], tuple[str, ...]]:
        """Return columns as they are shown, and the list behind the alias that says so."""
        columns = self._listed(own)
        return columns, () if columns == own else tuple(c.name for c in columns)

    def _own_alias(self, scope: Scope, name: str, needed: bool) -> str | None:
        taken = {item.alias for item in scope.visible}
        return self._alias(scope) if name in taken or needed or self._rng.random() < 0.5 else None

    def _turned(
        self, depth: int, scope: Scope, ctes: Ctes, uid: int
    ) -> tuple[FromItem, tuple[Output, ...], str] | None:
        """Return a PIVOT or an UNPIVOT of a table, CTE or sub-query, if its columns fit."""
        rng = self._rng
        source, columns, alias = self._item(depth, scope, ctes)
        if not isinstance(source, TableItem | CteItem | Derived) or alias in {item.alias for item in scope.visible}:
            return None
        columns = tuple(column for column in columns)
        integers = [column.name for column in columns if column.type == "int"]
        own = self._alias(scope)
        taken = {column.name for column in columns} | {alias}
        if own in taken or len(integers) < 2 or len(taken) <= len(columns) or taken & {"nam", "val"}:
            return None
        if rng.random() < 0.5 or not self._grammar.may("pivot"):
            chosen = tuple(rng.sample(integers, 2))
            rest = tuple(column for column in columns if column.name not in chosen)
            shown = (*rest, Output("nam", "text"), Output("val", "int"))
            return Unpivoted(uid, source, chosen, own, rng.random() < 0.4), shown, own
        key, value, *_ = rng.sample(integers, 2)
        aggregates = [("sum({0})", SUMMED), ("max({0})", AGGREGATION), ("count({0})", COUNTED)]
        picked = rng.sample(aggregates, rng.randint(1, 2))
        texts = tuple((f"{text.format(value)} AS m{i}", value, step) for i, (text, step) in enumerate(picked))
        rest = tuple(column for column in columns if column.name not in (key, value))
        shown = rest
        for made in (f"p{k}_m{i}" for k in (1, 2) for i in range(len(texts))):
            shown = (*shown, Output(_free(made, {column.name for column in shown}), "int"))
        names = tuple(column.name for column in shown)
        return Pivoted(uid, source, texts, key, ("1 AS p1", "2 AS p2"), own, names), shown, own

    def _listed(self, columns: tuple[Output, ...]) -> tuple[Output, ...]:
        """Return the columns, now and then the first of them under other names."""
        rng = self._rng
        if rng.random() < 0.85 or not self._grammar.may("column lists"):
            return columns
        names = rng.sample(("c1", "c2", "k", "m", "f"), min(2, len(columns)))
        renamed = [Output(name, column.type) for name, column in zip(names, columns, strict=False)]
        rest = columns[len(renamed) :]
        if {c.name for c in renamed} & {c.name for c in rest}:
            return columns
        return (*renamed, *rest)


def _free(name: str, taken: set[str]) -> str:
    """Return the name that DuckDB gives a column of PIVOT: `_1` is behind one that is taken, or the next number."""
    numbered = (f"{name}_{number}" for number in count(1))
    return next(one for one in chain((name,), numbered) if one not in taken)

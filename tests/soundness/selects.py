"""Random query blocks: plain, grouped, and the sub-queries inside their expressions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.soundness.expressions import Expressions, Place
from tests.soundness.scopes import Output, Scope
from tests.soundness.sources import EQUALS, Ctes, FromBuilder
from tests.soundness.tree import (
    AGGREGATION,
    IDENTITY,
    TRANSFORMATION,
    WINDOW,
    Call,
    Constant,
    Cte,
    Expr,
    Grouping,
    Item,
    ItemRef,
    Join,
    Key,
    Limit,
    NamedWindow,
    QueryValue,
    Ref,
    Select,
    Star,
    Type,
    ValuesItem,
)

__all__ = ["SelectBuilder"]

_SUFFIXES = ("", "", "DESC", "NULLS FIRST", "DESC NULLS LAST")


class SelectBuilder:
    """Builds query blocks. All names of a block's output differ, except behind stars of a statement's own block."""

    def __init__(self, rng: random.Random, uids: Iterator[int], expressions: Expressions, sources: FromBuilder) -> None:
        self._rng = rng
        self._uids = uids
        self._expressions = expressions
        self._grammar = expressions.grammar
        self._sources = sources

    def select(
        self, depth: int, outer: Scope | None, ctes: Ctes, defined: tuple[Cte, ...], types: Sequence[Type] | None
    ) -> tuple[Select, tuple[Output, ...]]:
        """Return a query block with the given CTEs; with `types`, its columns have these."""
        rng = self._rng
        if rng.random() < 0.3:
            return self._grouped(depth, outer, ctes, defined, types)
        return self._ungrouped(depth, outer, ctes, defined, types)

    def plain(
        self, outer: Scope | None, ctes: Ctes, types: Sequence[Type], first: Expr | None = None
    ) -> tuple[Select, tuple[Output, ...]]:
        """Return a simple block, the anchor of a recursion."""
        joins, scope = self._sources.build(0, outer, ctes, most=1)
        place = Place(scope)
        values = [self._expressions.value(place, kind, 1) for kind in types]
        if first is not None:
            values[0] = first
        items = tuple(Item(next(self._uids), value, f"s{i}") for i, value in enumerate(values))
        where = self._expressions.value(place, "bool", 2) if self._rng.random() < 0.5 else None
        columns = tuple(Output(item.name, kind) for item, kind in zip(items, types, strict=True))
        return Select(items, joins, where=where), columns

    def joined_table(self, left: Sequence[Ref], ctes: Ctes) -> tuple[Join, list[Ref]]:
        """Return a join of one more table, and its columns."""
        joins, scope = self._sources.build(0, None, ctes, most=0)
        own = [r for _, r in scope.references() if "." in r.text]
        pairs = [(a, b) for a in left for b in own if a.type == b.type]
        on: Expr = Constant("true", "bool")
        if pairs:
            on = Call("{0} = {1}", self._rng.choice(pairs), EQUALS, "bool")
        return replace(joins[0], kind="JOIN", on=on), own

    def value_of_leaves(self, kind: Type, leaves: Sequence[Expr]) -> Expr:
        return self._expressions.value(Place(None, tuple(leaves)), kind, 1)

    # Ungrouped

    def _ungrouped(
        self, depth: int, outer: Scope | None, ctes: Ctes, defined: tuple[Cte, ...], types: Sequence[Type] | None
    ) -> tuple[Select, tuple[Output, ...]]:
        rng, expressions = self._rng, self._expressions
        joins, scope = self._sources.build(depth, outer, ctes)
        place = Place(scope, subquery=self._sub_queries(depth, ctes))
        windows = self._windows(place)
        items, columns = self._items(place, types, windows, outer is None)
        named = [item for item in items if isinstance(item, Item)]
        fresh = scope.all_names()
        reusable = tuple(
            ItemRef(item.uid, item.value.type)
            for item in named
            if item.written and item.name not in fresh and _is_simple(item.value)
        )
        where = qualify = None
        if rng.random() < 0.45:
            # An alias hides the columns of the blocks around, but not those of its own block.
            hidden = frozenset(item.name for item in named if item.name not in scope.names())
            shown = rng.random() < 0.3 and self._grammar.may("aliases in where")
            here = replace(place, aliases=reusable if shown else (), hidden=hidden)
            where = expressions.value(_certain(here), "bool", 2)
        if rng.random() < 0.1 and self._grammar.may("qualify"):
            hidden = frozenset(item.name for item in named) - scope.names()
            call = expressions.window(replace(place, hidden=hidden), "int")
            over = [
                ItemRef(i.uid, i.value.type)
                for i in named
                if i.written and i.name not in fresh and _has_window(i.value)
            ]
            ranked: Expr = rng.choice(over) if over and rng.random() < 0.5 and over[0].type == "int" else call
            if ranked.type != "int":
                ranked = call
            qualify = Call("({0} <= 2)", (ranked,), ((TRANSFORMATION,),), "bool")
        select = Select(
            items,
            joins,
            defined,
            where=where,
            windows=windows,
            qualify=qualify,
            # sqlglot does not parse a FROM that comes first and starts with VALUES.
            from_first=rng.random() < 0.05
            and not isinstance(joins[0].item, ValuesItem)
            and self._grammar.may("from first"),
        )
        if rng.random() < 0.1:
            select = replace(select, distinct=True)
        elif (
            rng.random() < 0.07
            and not any(isinstance(item, Star) for item in items)
            and self._grammar.may("distinct on")
        ):
            on = self._distinct_keys(place, items)
            if on:
                keys = tuple(Key(key) for key in on)
                extra = tuple(Key(value) for value in self._order_values(place, items))
                return replace(select, distinct_on=on, order=(*keys, *extra, *_all_items(items))), columns
        ordered = self._ordered(select, place, ctes)
        if ordered.from_first and (ordered.order or ordered.order_all or ordered.distinct):
            ordered = replace(ordered, from_first=False)  # sqlglot does not parse it inside an INSERT's parentheses
        return ordered, columns

    def _distinct_keys(self, place: Place, items: tuple[Item | Star, ...]) -> tuple[Expr, ...]:
        rng = self._rng
        own = [_by_ordinal(key.value, rng.random() < 0.3) for key in _all_items(items)]
        return (*self._order_values(place, items), *rng.sample(own, rng.randint(0, 1)))

    def _items(
        self, place: Place, types: Sequence[Type] | None, windows: tuple[NamedWindow, ...], outermost: bool
    ) -> tuple[tuple[Item | Star, ...], tuple[Output, ...]]:
        rng = self._rng
        items: list[Item | Star] = []
        columns: list[Output] = []
        if types is None and rng.random() < 0.25:
            star = self._star(place)
            if star is not None:
                items.append(star[0])
                columns += star[1]
        wanted = types if types is not None else rng.choices(self._grammar.output_types, k=rng.randint(1, 4))
        assert place.scope is not None
        fresh = place.scope.all_names()
        lateral: list[ItemRef] = []
        for kind in wanted:
            hidden = frozenset(column.name for column in columns) - place.scope.names()
            here = replace(place, aliases=tuple(lateral) if rng.random() < 0.4 else (), hidden=hidden)
            if not self._grammar.may("aliases in select"):
                here = replace(here, aliases=())
            here = _certain(here)
            value = self._item_value(here, kind, windows)
            item = self._named(value, columns, place.scope)
            items.append(item)
            columns.append(Output(item.name, kind))
            if item.written and item.name not in fresh and _is_simple(value):
                lateral.append(ItemRef(item.uid, kind))
        if types is None and rng.random() < 0.2 and self._grammar.may("structs"):
            hidden = frozenset(column.name for column in columns) - place.scope.names()
            value = self._expressions.value(replace(place.plain(), hidden=hidden), "struct", rng.choice((1, 2)))
            if value.type == "struct":
                item = self._named(value, columns, place.scope)
                items.append(item)
                columns.append(Output(item.name, "struct"))
        return tuple(items), tuple(columns)

    def _item_value(self, place: Place, kind: Type, windows: tuple[NamedWindow, ...]) -> Expr:
        rng, expressions = self._rng, self._expressions
        choice = rng.random()
        if choice < 0.3:
            found = expressions.reference(place, kind)
            if found is not None:
                return found
        if choice < 0.45:
            if windows and kind == "int" and rng.random() < 0.7:
                value = expressions.value(place.plain(), "int", 1)
                window = rng.choice(windows)
                return Call("max({0}) OVER {w}", (value,), ((AGGREGATION,),), "int", window.uid)
            return expressions.window(place, kind)
        return expressions.value(place, kind, 2)

    def _named(self, value: Expr, columns: Sequence[Output], scope: Scope) -> Item:
        """Return an item under a name that no column before has; now and then that of some column that is visible."""
        rng = self._rng
        taken = {column.name for column in columns}
        uid = next(self._uids)
        if isinstance(value, Ref) and not value.field and value.name not in taken and rng.random() < 0.6:
            return Item(uid, value, value.name, written=rng.random() < 0.1)
        names = [name for name in sorted({slot.name for slot in scope.slots}) if name not in taken]
        if names and rng.random() < 0.2:
            return Item(uid, value, rng.choice(names))
        return Item(uid, value, next(name for i in range(1, 99) if (name := f"o{i}") not in taken))

    def _star(self, place: Place) -> tuple[Star, list[Output]] | None:
        rng, scope = self._rng, place.scope
        assert scope is not None
        uid = next(self._uids)
        whole = rng.random() < 0.5
        if whole:
            owner, prefix = None, ""
            shown = [Output(slot.name, slot.type) for slot in scope.slots]
        else:
            aliases = Counter(item.alias for item in scope.visible)
            choices = [item for item in scope.visible if aliases[item.alias] == 1]
            merges = {slot.owner for slot in scope.slots} - {item.uid for item in scope.visible}
            if not choices or (merges and self._grammar.may("merged columns first")):
                return None  # in Spark `t.*` has an order of its own: tests/cases/stars/spark.case
            item = rng.choice(choices)
            owner, prefix = item.uid, item.alias
            shown = list(item.columns)
        counts = Counter(column.name for column in shown)
        exclude = tuple(sorted(name for name, number in counts.items() if number > 1))
        if exclude and not self._grammar.may("replace"):
            return None  # Spark's EXCEPT leaves out no name that is ambiguous
        if self._grammar.may("exclude") and rng.random() < 0.3 and len(counts) - len(exclude) > 1:
            exclude += (rng.choice(sorted(name for name in counts if name not in exclude)),)
        rest = [column for column in shown if column.name not in exclude]
        if not rest:
            return None
        replaced: tuple[tuple[str, Expr], ...] = ()
        renamed: tuple[tuple[str, str], ...] = ()
        if rng.random() < 0.2 and self._grammar.may("replace"):
            column = rng.choice(rest)
            replaced = ((column.name, self._expressions.value(place.plain(), column.type, 1)),)
        elif rng.random() < 0.2 and self._grammar.may("rename"):
            renamed = ((rng.choice(rest).name, "renamed"),)
        names = dict(renamed)
        if "renamed" in {c.name for c in rest}:
            renamed, names = (), {}
        return Star(uid, owner, prefix, exclude, replaced, renamed), [
            Output(names.get(column.name, column.name), column.type) for column in rest
        ]

    def _windows(self, place: Place) -> tuple[NamedWindow, ...]:
        rng, expressions = self._rng, self._expressions
        if rng.random() > 0.1:
            return ()
        part = expressions.value(place.plain(), "int", 1)
        order = expressions.value(place.plain(), "int", 1)
        first = NamedWindow(next(self._uids), "win", None, (part,), () if rng.random() < 0.5 else (order,))
        if first.order or rng.random() < 0.5 or not self._grammar.may("chained windows"):
            return (first,)
        return first, NamedWindow(next(self._uids), "win2", first.uid, (), (order,))

    # Order

    def _order_values(self, place: Place, items: tuple[Item | Star, ...]) -> list[Expr]:
        """Return sort keys over the input; bare names that are also aliases mean the alias, but only alone."""
        rng = self._rng
        aliases = frozenset(item.name for item in items if isinstance(item, Item))
        aliases |= {name for item in items if isinstance(item, Star) for name, _ in item.replace}
        if place.scope is not None and any(isinstance(item, Star) for item in items):
            shown = {item.uid for item in place.scope.visible}
            # Behind `r.*` the name of a merged column means that of r, in ORDER BY alone.
            aliases |= {slot.name for slot in place.scope.slots if slot.owner not in shown}
        found: list[Expr] = []
        for _ in range(rng.choice((0, 1, 1, 2))):
            own = place.scope.names() if place.scope is not None else set()
            here = replace(place.plain(), hidden=aliases - own if self._grammar.may("own names in order") else aliases)
            value = self._expressions.value(here, rng.choice(("int", "text")), 1)
            if not _reads(value) or (isinstance(value, Ref) and value.text in aliases):
                continue
            found.append(value)
        return found

    def _ordered(self, select: Select, place: Place, ctes: Ctes) -> Select:
        rng = self._rng
        if rng.random() > 0.3:
            return select
        named = [item for item in select.items if isinstance(item, Item)]
        if rng.random() < 0.1 and self._grammar.may("order by all"):
            return replace(select, order_all=True, limit=self._limit(ctes) if rng.random() < 0.5 else None)
        if len(named) < len(select.items):
            values = [] if select.distinct else self._order_values(place, select.items)
            return replace(select, order=tuple(Key(value) for value in values))
        values = [] if select.distinct else self._order_values(place, select.items)
        own = list(_all_items(select.items))
        keys = [Key(value, rng.choice(_SUFFIXES)) for value in values]
        if rng.random() < 0.5:
            chosen = [replace(k, value=_by_ordinal(k.value, rng.random() < 0.3)) for k in own]
            return replace(select, order=(*keys, *chosen), limit=self._limit(ctes))
        keys += [replace(k, value=_by_ordinal(k.value, rng.random() < 0.3)) for k in rng.sample(own, rng.randint(0, 1))]
        return replace(select, order=tuple(keys))

    def _limit(self, ctes: Ctes) -> Limit:
        rng = self._rng
        if rng.random() < 0.15 and self._grammar.may("limit by query"):
            joins, scope = self._sources.build(0, None, ctes, most=0)
            value = self._expressions.aggregate(Place(scope), "int", 0)
            inner = Select((Item(next(self._uids), value, "n"),), joins)
            counted = QueryValue("(SELECT coalesce(abs(n), 0) % 4 FROM ({q}) AS k)", (), inner, TRANSFORMATION, "int")
            return Limit(counted)
        return Limit(Constant(str(rng.randint(1, 5)), "int"), rng.choice((0, 0, 1)))

    # Grouped

    def _grouped(
        self, depth: int, outer: Scope | None, ctes: Ctes, defined: tuple[Cte, ...], types: Sequence[Type] | None
    ) -> tuple[Select, tuple[Output, ...]]:
        rng, expressions = self._rng, self._expressions
        joins, scope = self._sources.build(depth, outer, ctes)
        place = Place(scope, correlates=False)
        keys = self._keys(place)
        wanted = list(types) if types is not None else rng.choices(self._grammar.output_types, k=rng.randint(1, 4))
        sub_query = self._sub_queries(depth, ctes)
        after = Place(None, tuple(keys), subquery=lambda _, kind: sub_query(None, kind))
        items: list[Item] = []
        columns: list[Output] = []
        grouped_items: list[ItemRef] = []
        for kind in wanted:
            fitting = [key for key in keys if key.type == kind]
            if fitting and rng.random() < 0.5:
                value: Expr = rng.choice(fitting)
                item = self._named(value, columns, scope)
                grouped_items.append(ItemRef(item.uid, kind))
            else:
                value = self._over_groups(after, place, kind)
                item = replace(self._named(value, columns, scope), aggregates=True)
            items.append(item)
            columns.append(Output(item.name, kind))
        group = self._grouping(keys, items, scope) if keys else None
        having = None
        if rng.random() < 0.3:
            left = expressions.aggregate(place, "int")
            # Outside an aggregate a name that is an alias means that, unless it is a key by itself.
            beside = replace(after, hidden=frozenset(item.name for item in items))
            having = Call("{0} > {1}", (left, expressions.value(beside, "int", 1)), EQUALS, "bool")
        where = None
        if rng.random() < 0.4:
            hidden = frozenset(item.name for item in items) - scope.names()
            here = replace(place, subquery=sub_query, correlates=True, hidden=hidden)
            where = expressions.value(_certain(here), "bool", 2)
        select = Select(tuple(items), joins, defined, where=where, group=group, having=having)
        if rng.random() < 0.1:
            select = replace(select, distinct=True)
        ordered = self._ordered(select, Place(None, tuple(keys)), ctes)
        return ordered, tuple(columns)

    def _keys(self, place: Place) -> list[Expr]:
        rng, expressions = self._rng, self._expressions
        keys: list[Expr] = []
        for _ in range(rng.choice((0, 1, 1, 2, 2))):
            key = expressions.value(place, rng.choice(("int", "text", "int", "bool")), rng.choice((0, 0, 1)))
            if not isinstance(key, Constant) and key not in keys and _reads(key):
                keys.append(key)
        return keys

    def _over_groups(self, after: Place, place: Place, kind: Type) -> Expr:
        rng, expressions = self._rng, self._expressions
        if rng.random() < 0.15:
            value = expressions.aggregate(place, kind)
            if after.leaves and rng.random() < 0.5 and kind == "int":
                key = rng.choice(after.leaves)
                steps = ((AGGREGATION,), (WINDOW,))
                return Call("max({0}) OVER (PARTITION BY {1})", (value, key), steps, kind)
            if kind == "int":
                other = expressions.value(after, "int", 1)
                return Call("({0} + {1})", (value, other), EQUALS, "int")
        return expressions.aggregate(place, kind)

    def _grouping(self, keys: list[Expr], items: list[Item], scope: Scope) -> Grouping:
        rng = self._rng
        by_value: dict[Expr, Item] = {}
        for item in items:
            if not item.aggregates:
                by_value.setdefault(item.value, item)
        if len(by_value) == len(keys) and rng.random() < 0.2 and self._grammar.may("group by all"):
            return Grouping("ALL")
        form = rng.choice(("", "", "", "", "ROLLUP", "CUBE", "GROUPING SETS"))
        form = form if self._grammar.may("grouping sets") else ""
        if form == "GROUPING SETS":
            positions = range(len(keys))
            sets = tuple(tuple(rng.sample(positions, rng.randint(0, len(keys)))) for _ in range(2))
            return Grouping(form, tuple(keys), (tuple(positions), *sets))
        if form:
            return Grouping(form, tuple(keys))
        written: list[Expr] = []
        names = scope.all_names()
        for key in keys:
            named = by_value.get(key)
            if named is None or rng.random() < 0.5:
                written.append(key)
            elif rng.random() < 0.5 or not named.written or named.name in names:
                written.append(ItemRef(named.uid, key.type, ordinal=True))
            else:
                written.append(ItemRef(named.uid, key.type))
        return Grouping("", tuple(written))

    # Sub-queries in expressions

    def _sub_queries(self, depth: int, ctes: Ctes) -> _SubQueries:
        return _SubQueries(self, depth, ctes)

    def sub_query(self, depth: int, ctes: Ctes, scope: Scope | None, kind: Type) -> Expr:
        """Return a scalar sub-query of a type or, for a truth value, EXISTS, IN or ANY as well."""
        rng, expressions = self._rng, self._expressions
        joins, inner = self._sources.build(min(depth, 1) - 1, scope, ctes, most=1)
        nested = self._sub_queries(depth - 1, ctes) if depth > 0 and rng.random() < 0.3 else None
        place = Place(inner, subquery=nested)
        where = self._correlated(inner) if scope is not None and rng.random() < 0.7 else None
        if where is None and rng.random() < 0.6:
            where = expressions.value(place, "bool", 2)
        own = Place(inner, correlates=False)
        form = rng.choice(("scalar", "exists", "in", "any")) if kind == "bool" else "scalar"
        if form == "scalar":
            if rng.random() < 0.25:
                value = expressions.value(own, kind, 1)
                item = Item(next(self._uids), value, "q1")
                values = self._order_values(own, (item,))
                order = (*(Key(v) for v in values), *_all_items((item,)))
                select = Select((item,), joins, where=where, order=order, limit=Limit(Constant("1", "int")))
            else:
                value = expressions.aggregate(own, kind)
                select = Select((Item(next(self._uids), value, "q1"),), joins, where=where)
            return QueryValue("({q})", (), select, IDENTITY, kind)
        looked: Type = rng.choice(("int", "text"))
        value = expressions.value(own, looked, 1)
        if form == "exists":
            if rng.random() < 0.5:
                value = Constant("1", "int")
            select = Select((Item(next(self._uids), value, "q1"),), joins, where=where)
            return QueryValue(rng.choice(("EXISTS ({q})", "(NOT EXISTS ({q}))")), (), select, None, "bool")
        left = expressions.value(Place(scope), looked, 1)
        select = Select((Item(next(self._uids), value, "q1"),), joins, where=where, distinct=rng.random() < 0.1)
        if form == "in" or not self._grammar.may("quantifiers"):
            template = rng.choice(("({0} IN ({q}))", "({0} NOT IN ({q}))"))
        else:
            template = rng.choice(("({0} > ANY ({q}))", "({0} = ANY ({q}))", "({0} <= ALL ({q}))"))
        return QueryValue(template, (left,), select, TRANSFORMATION, "bool")

    def _correlated(self, inner: Scope) -> Expr | None:
        """Return a comparison of an inner column with one of the blocks around."""
        references = list(inner.references())
        ours = [r for depth, r in references if depth == 0]
        theirs = [r for depth, r in references if depth > 0]
        pairs = [(a, b) for a in ours for b in theirs if a.type == b.type != "list"]
        if not pairs:
            return None
        return Call("{0} = {1}", self._rng.choice(pairs), EQUALS, "bool")


class _SubQueries:
    """The sub-queries that an expression at one depth may hold."""

    def __init__(self, builder: SelectBuilder, depth: int, ctes: Ctes) -> None:
        self._builder, self._depth, self._ctes = builder, depth, ctes

    def __call__(self, scope: Scope | None, kind: Type) -> Expr:
        return self._builder.sub_query(self._depth, self._ctes, scope, kind)


def _certain(place: Place) -> Place:
    """Return a place without sub-queries, if a name of the blocks around would mean a select item in them."""
    outer = place.scope.parent if place.scope is not None else None
    return place.plain() if outer is not None and place.hidden & outer.all_names() else place


def _all_items(items: Sequence[Item | Star]) -> tuple[Key, ...]:
    return tuple(Key(ItemRef(item.uid, item.value.type)) for item in items if isinstance(item, Item))


def _by_ordinal(value: Expr, ordinal: bool) -> Expr:
    return replace(value, ordinal=ordinal) if isinstance(value, ItemRef) else value


def _has_window(value: Expr) -> bool:
    if isinstance(value, Call):
        return " OVER " in value.template or any(map(_has_window, value.args))
    return False


def _is_simple(value: Expr) -> bool:
    """Return whether DuckDB lets the alias of an expression stand for it elsewhere: not over windows or queries."""
    if isinstance(value, Call):
        return " OVER " not in value.template and all(map(_is_simple, value.args))
    return not isinstance(value, QueryValue)


def _reads(value: Expr) -> bool:
    """Return whether an expression reads a column: DuckDB does not group by constants alone."""
    return isinstance(value, Ref) or (isinstance(value, Call) and any(map(_reads, value.args)))

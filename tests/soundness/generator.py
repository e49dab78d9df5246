"""Random statements, each with a tree that says what it means; the same seed gives the same statement."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from tests.soundness.expressions import Expressions
from tests.soundness.grammar import DUCKDB, Grammar
from tests.soundness.scopes import Output, Scope
from tests.soundness.selects import SelectBuilder
from tests.soundness.sources import Ctes, FromBuilder, KnownCte
from tests.soundness.tree import (
    TRANSFORMATION,
    Call,
    Constant,
    Cte,
    CteItem,
    Item,
    Join,
    Key,
    Limit,
    OutputRef,
    Query,
    Ref,
    Select,
    SetOperation,
    Statement,
    Temporary,
    Type,
)

__all__ = ["QueryGenerator", "random_statement"]

TYPES: tuple[Type, ...] = ("int", "int", "int", "text", "bool")
"""Of the columns of a set operation."""


def random_statement(seed: str, grammar: Grammar = DUCKDB) -> Statement:
    """Return the statement that a seed stands for in a dialect."""
    return replace(QueryGenerator(random.Random(seed), grammar).statement(), dialect=grammar.dialect)


class QueryGenerator:
    """Makes queries; the builders of clauses call back for those that stand inside."""

    sources: type[FromBuilder] = FromBuilder

    def __init__(self, rng: random.Random, grammar: Grammar = DUCKDB) -> None:
        self._rng = rng
        self._grammar = grammar
        self._uids: Iterator[int] = count(1)
        self._expressions = Expressions(rng, grammar)
        self._from = self.sources(rng, self._uids, self._expressions, self)
        self._selects = SelectBuilder(rng, self._uids, self._expressions, self._from)

    def statement(self) -> Statement:
        rng = self._rng
        temporaries: list[Temporary] = []
        ctes: dict[str, KnownCte] = {}
        if rng.random() < 0.1:
            query, columns = self.query(rng.randint(0, 1), None, ctes)
            temporary = Temporary(next(self._uids), "work", query)
            temporaries.append(temporary)
            ctes["work"] = KnownCte(temporary.uid, columns)
        query, columns = self.query(rng.choice((0, 1, 1, 1, 1, 2)), None, ctes)
        made = tuple(temporaries)
        form = rng.choice(self._grammar.forms)
        column_types = self._grammar.column_types
        if form == "VIEW" and not made and rng.random() < 0.5:
            least = 1 if self._grammar.may("short column lists") else len(columns)
            listed = tuple(f"r{i}" for i in range(rng.randint(least, len(columns))))
            if not set(listed) & {c.name for c in columns}:
                return Statement(query, "VIEW", listed)
        if form == "VIEW" and made:
            form = "TABLE"  # a view cannot outlive a temporary table
        if form == "INSERT":
            schema = [(f"r{i}", column_types[c.type]) for i, c in enumerate(columns)]
            if rng.random() < 0.5:
                return Statement(query, form, (), tuple(schema), made)
            order = rng.sample(schema, len(schema))
            return Statement(query, form, tuple(n for n, _ in schema), (*order, ("more", self._grammar.integer)), made)
        if form == "INSERT BY NAME":
            schema = [(c.name, column_types[c.type]) for c in rng.sample(columns, len(columns))]
            return Statement(query, form, (), tuple(schema), made)
        return Statement(query, form, temporaries=made)

    def query(self, depth: int, outer: Scope | None, ctes: Ctes) -> tuple[Query, tuple[Output, ...]]:
        """Return a query and its columns, whose names differ."""
        rng = self._rng
        if depth > 0 and rng.random() < 0.2:
            return self._set_operation(depth, outer, ctes)
        return self._with_ctes(depth, outer, ctes)

    def _with_ctes(
        self, depth: int, outer: Scope | None, ctes: Ctes, types: Sequence[Type] | None = None
    ) -> tuple[Select, tuple[Output, ...]]:
        defined: tuple[Cte, ...] = ()
        if depth > 0 and self._rng.random() < 0.3:
            defined, ctes = self._ctes(depth, outer, ctes)
        return self._selects.select(depth, outer, ctes, defined, types)

    def _ctes(self, depth: int, outer: Scope | None, ctes: Ctes) -> tuple[tuple[Cte, ...], Ctes]:
        rng = self._rng
        known = dict(ctes)
        defined: list[Cte] = []
        grammar = self._grammar
        recursive = rng.random() < 0.2
        for position in range(rng.choice((1, 1, 2, 3))):
            own = recursive or rng.random() < 0.7 or not grammar.may("ctes hide tables")
            name = f"c{position}_{depth}" if own else rng.choice(("t", "u", "v"))
            if any(cte.name == name for cte in defined):
                continue
            uid = next(self._uids)
            if recursive and position == 0:
                cte, columns = self._recursive(uid, name, known)
            else:
                query, columns = self.query(depth - 1, outer if rng.random() < 0.1 else None, known)
                listed: tuple[str, ...] = ()
                if rng.random() < 0.2:
                    listed = tuple(f"m{i}" for i in range(len(columns)))
                    columns = tuple(Output(n, c.type) for n, c in zip(listed, columns, strict=True))
                word = rng.choice(("", "", "", "MATERIALIZED ", "NOT MATERIALIZED "))
                word = word if grammar.may("materialized") else ""
                cte = Cte(uid, name, query, listed, materialized=word)
            defined.append(cte)
            known[name] = KnownCte(uid, columns)
        return tuple(defined), known

    def _recursive(self, uid: int, name: str, ctes: Ctes) -> tuple[Cte, tuple[Output, ...]]:
        """Return a CTE that counts rounds in its first column, so that it ends."""
        rng = self._rng
        types: list[Type] = ["int", *rng.choices(("int", "text"), k=rng.randint(1, 2))]
        anchor, _ = self._selects.plain(None, ctes, types, first=Constant("1", "int"))
        columns = tuple(Output(f"g{i}", kind) for i, kind in enumerate(types))
        item = CteItem(next(self._uids), uid, name, "rec")
        refs = [Ref(item.uid, c.name, f"rec.{c.name}", c.type) for c in columns]
        joins = [Join(next(self._uids), "", item)]
        leaves: list[Ref] = list(refs)
        if rng.random() < 0.6:
            join, more = self._selects.joined_table(refs, ctes)
            joins.append(join)
            leaves += more
        rounds = Call("{0} + 1", (refs[0],), ((TRANSFORMATION,),), "int")
        values = [rounds, *(self._selects.value_of_leaves(kind, leaves) for kind in types[1:])]
        items = tuple(Item(next(self._uids), value, f"s{i}") for i, value in enumerate(values))
        where = Call("{0} < 3", (refs[0],), ((TRANSFORMATION,),), "bool")
        step = Select(items, tuple(joins), where=where)
        keeps_all = rng.random() < 0.5 or not self._grammar.may("union in recursion")
        body = SetOperation("UNION", keeps_all, False, anchor, step)
        return Cte(uid, name, body, tuple(c.name for c in columns), recursive=True), columns

    def _set_operation(self, depth: int, outer: Scope | None, ctes: Ctes) -> tuple[SetOperation, tuple[Output, ...]]:
        rng = self._rng
        kind = rng.choice(("UNION", "UNION", "UNION", "INTERSECT", "EXCEPT"))
        by_name = kind == "UNION" and rng.random() < 0.25 and self._grammar.may("by name")
        types = rng.choices((*TYPES, "struct") if self._grammar.may("structs") else TYPES, k=rng.randint(1, 3))
        defined: tuple[Cte, ...] = ()
        if rng.random() < 0.15:
            defined, ctes = self._ctes(depth, outer, ctes)
        left, columns = self._with_ctes(depth - 1, outer, ctes, types)
        right: Query
        if by_name:
            shown = {c.name: c.type for c in columns}
            right, others = self._with_ctes(depth - 1, outer, ctes, rng.sample(types, len(types)))
            if any(shown.get(c.name, c.type) != c.type for c in others):
                by_name = False
                right, others = self._with_ctes(depth - 1, outer, ctes, types)
            else:
                columns += tuple(c for c in others if c.name not in shown)
        elif rng.random() < 0.2 and depth > 1:
            right, _ = self._branch(depth - 1, outer, ctes, types)
        else:
            right, _ = self._with_ctes(depth - 1, outer, ctes, types)
        order: tuple[Key, ...] = ()
        limit = None
        if rng.random() < 0.3:
            positions = rng.sample(range(len(columns)), len(columns))
            order = tuple(
                Key(OutputRef(p, columns[p].type, rng.random() < 0.4), rng.choice(("", "DESC", "NULLS FIRST")))
                for p in positions
            )
            if rng.random() < 0.5:
                limit = Limit(Constant(str(rng.randint(1, 5)), "int"))
            else:
                order = order[: rng.randint(1, len(order))]
        keeps_all = self._keeps_all(kind)
        return SetOperation(kind, keeps_all, by_name, left, right, defined, order, limit), columns

    def _branch(
        self, depth: int, outer: Scope | None, ctes: Ctes, types: Sequence[Type]
    ) -> tuple[SetOperation, tuple[Output, ...]]:
        left, columns = self._with_ctes(depth - 1, outer, ctes, types)
        right, _ = self._with_ctes(depth - 1, outer, ctes, types)
        kind = self._rng.choice(("UNION", "INTERSECT", "EXCEPT"))
        return SetOperation(kind, self._keeps_all(kind), False, left, right), columns

    def _keeps_all(self, kind: str) -> bool:
        return self._rng.random() < 0.5 and (kind == "UNION" or self._grammar.may("keeps all"))

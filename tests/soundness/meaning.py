"""What a query tree means: its output columns and the edges that it must have, by DESIGN section 2.

This is a second reading of the rules, written against the tree. It shares nothing with the extractor: values flow
by CONTRIBUTES, composed as OpenLineage composes; tests, windows and the clauses of a scalar sub-query reference
the column; what decides the rows references the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeAlias

from tests.soundness.tree import (
    CONDITIONAL,
    DISTINCT,
    FIELDS,
    FILTER,
    GROUP_BY,
    IDENTITY,
    JOIN,
    LIMITED_SORT,
    SET_OPERATION,
    SORT,
    TABLES,
    TARGET,
    TRANSFORMATION,
    WINDOW,
    Call,
    Constant,
    Cte,
    CteItem,
    Derived,
    Expr,
    FromItem,
    FunctionItem,
    Item,
    ItemRef,
    Join,
    OutputRef,
    Pivoted,
    Query,
    QueryValue,
    Ref,
    Select,
    SetOperation,
    Star,
    Statement,
    Step,
    TableItem,
    Unpivoted,
    ValuesItem,
)

Sources: TypeAlias = "frozenset[tuple[str, Step]]"
"""Base columns, each with what happens to its value on the way, or how it influences."""

Fields: TypeAlias = "dict[str, Sources]"

NOTHING: Sources = frozenset()
_COMPARING = ("max(", "min(", "greatest(", "least(")
"""Structs are compared field by field: those before a field decide it, too."""
_DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")


@dataclass(frozen=True, slots=True)
class Relation:
    names: tuple[str, ...]
    sources: tuple[Sources, ...]
    rows: Sources = NOTHING
    fields: tuple[Fields | None, ...] = ()
    """Of each column that is a struct, where its fields come from; empty if no column is one."""

    def field(self, name: str, field: str) -> Sources:
        fields = self.fields[self.names.index(name)]
        assert fields is not None
        return fields[field]

    def fields_of(self, name: str) -> Fields | None:
        return self.fields[self.names.index(name)] if self.fields else None

    def column(self, name: str) -> Sources:
        return self.sources[self.names.index(name)]

    def arranged(self, names: tuple[str, ...]) -> Relation:
        """Return columns by name; those that it does not have come from nowhere."""
        sources = (self.column(name) if name in self.names else NOTHING for name in names)
        fields = (self.fields_of(name) if name in self.names else None for name in names)
        return Relation(names, tuple(sources), self.rows, tuple(fields))

    def beside(self, other: Relation, rows: Sources) -> Relation:
        """Return the columns of both."""
        return Relation(self.names + other.names, self.sources + other.sources, rows, self.fields + other.fields)

    def renamed(self, names: tuple[str, ...]) -> Relation:
        return Relation((*names, *self.names[len(names) :]), self.sources, self.rows, self.fields)


def through(sources: Sources, step: Step) -> Sources:
    """Return the sources of what a step makes of a value."""
    return frozenset((column, _compose(inner, step)) for column, inner in sources)


def _compose(inner: Step, outer: Step) -> Step:
    masking = inner.masking or outer.masking
    if outer.subtype not in _DIRECT:
        return outer._replace(masking=masking)
    if inner.subtype not in _DIRECT:
        return inner._replace(masking=masking)
    subtype = max(inner.subtype, outer.subtype, key=_DIRECT.index)
    return Step(subtype, masking, grade=max(inner.grade, outer.grade))


def _one_of(left: Fields | None, right: Fields | None) -> Fields | None:
    """Return the fields of what is one of two structs; None if neither is one."""
    if left is None or right is None:
        return left or right
    return {name: left[name] | right[name] for name in FIELDS}


@dataclass(slots=True)
class Meaning:
    """Evaluates trees; what references may point at is kept by number, which no two nodes share."""

    merged_first: bool = False
    """Whether a star shows the columns that USING merges before the others."""
    relations: dict[int, Relation] = field(default_factory=dict)
    items: dict[int, Sources] = field(default_factory=dict)
    structs: dict[int, Fields | None] = field(default_factory=dict)
    """The fields of select items that are structs."""
    windows: dict[int, Sources] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    """The base columns behind every name that is read, also where nothing uses what is read."""
    merged: set[str] = field(default_factory=set)
    """The base columns behind the names that joins merge."""
    output: Relation | None = None
    """The set operation whose ORDER BY is read."""

    def query(self, query: Query) -> Relation:
        for cte in query.ctes:
            self.cte(cte)
        return self._select(query) if isinstance(query, Select) else self._set_operation(query)

    def cte(self, cte: Cte) -> None:
        if not cte.recursive:
            self.relations[cte.uid] = self.query(cte.query).renamed(cte.columns)
            return
        assert isinstance(cte.query, SetOperation)
        total = self.query(cte.query.left).renamed(cte.columns)
        while True:  # round after round, until a round adds nothing
            self.relations[cte.uid] = total
            grown = self._combined(cte.query, total, self.query(cte.query.right)).renamed(cte.columns)
            grown = Relation(
                total.names,
                tuple(a | b for a, b in zip(total.sources, grown.sources, strict=True)),
                total.rows | grown.rows,
            )
            if grown == total:
                return
            total = grown

    # Queries

    def _select(self, select: Select) -> Relation:
        rows: Sources = NOTHING
        slots: list[tuple[int, str]] = []
        for join in select.joins:
            rows |= self._join(join, slots)
            if self.merged_first and join.using:
                merged = [(join.uid, using.name) for using in join.using]
                slots[:] = [*merged, *(slot for slot in slots if slot not in merged)]
        for window in select.windows:
            keys = self._all((*window.partition, *window.order))
            self.windows[window.uid] = keys | (self.windows[window.base] if window.base is not None else NOTHING)
        names: list[str] = []
        sources: list[Sources] = []
        fields: list[Fields | None] = []
        for item in select.items:
            for name, value, inner in self._item(item, slots):
                names.append(name)
                sources.append(value)
                fields.append(inner)
        for condition in (select.where, select.having, select.qualify):
            if condition is not None:
                rows |= through(self.value(condition), FILTER)
        if select.group is not None:
            rows |= through(self._all(select.group.keys), GROUP_BY)
            if select.group.form == "ALL":
                grouped = [self.items[i.uid] for i in select.items if isinstance(i, Item) and not i.aggregates]
                rows |= through(NOTHING.union(*grouped), GROUP_BY)
        if select.distinct:
            rows |= through(NOTHING.union(*sources), DISTINCT)
        rows |= through(self._all(select.distinct_on), DISTINCT)
        limited = select.limit is not None or bool(select.distinct_on)
        step = LIMITED_SORT if limited else SORT
        rows |= through(self._all(tuple(key.value for key in select.order)), step)
        if select.order_all:
            rows |= through(NOTHING.union(*sources), step)
        if select.limit is not None:
            rows |= through(self.value(select.limit.count), FILTER)
        return Relation(tuple(names), tuple(sources), rows, tuple(fields))

    def _set_operation(self, query: SetOperation) -> Relation:
        result = self._combined(query, self.query(query.left), self.query(query.right))
        self.output = result
        step = LIMITED_SORT if query.limit is not None else SORT
        rows = result.rows | through(self._all(tuple(key.value for key in query.order)), step)
        if query.limit is not None:
            rows |= through(self.value(query.limit.count), FILTER)
        return Relation(result.names, result.sources, rows, result.fields)

    def _combined(self, query: SetOperation, left: Relation, right: Relation) -> Relation:
        rows = left.rows | right.rows
        if query.kind != "UNION" or not query.keeps_all:
            rows |= through(NOTHING.union(*left.sources, *right.sources), SET_OPERATION)
        names = left.names
        if query.by_name:
            names += tuple(name for name in right.names if name not in left.names)
            left, right = left.arranged(names), right.arranged(names)
        if query.kind == "EXCEPT":
            return Relation(names, left.sources, rows, left.fields)
        merged = tuple(a | b for a, b in zip(left.sources, right.sources, strict=True))
        pairs = zip_longest(left.fields, right.fields) if left.fields or right.fields else [(None, None)] * len(names)
        return Relation(names, merged, rows, tuple(_one_of(a, b) for a, b in pairs))

    def _item(self, item: Item | Star, slots: list[tuple[int, str]]) -> list[tuple[str, Sources, Fields | None]]:
        if isinstance(item, Item):
            self.items[item.uid] = self.value(item.value)
            self.structs[item.uid] = self._fields(item.value)
            return [(item.name, self.items[item.uid], self.structs[item.uid])]
        if item.owner is None:
            owners = [(name, self.relations[owner]) for owner, name in slots]
            pairs = [(name, relation.column(name), relation.fields_of(name)) for name, relation in owners]
        else:
            relation = self.relations[item.owner]
            pairs = [(name, relation.column(name), relation.fields_of(name)) for name in relation.names]
        known = {name for name, *_ in pairs}
        self.named.update(column for _, sources, _ in pairs for column, _ in sources)
        for name in (*item.exclude, *(name for name, _ in (*item.replace, *item.rename))):
            if name not in known:
                raise KeyError(name)
        replaced, renamed = dict(item.replace), dict(item.rename)
        return [
            (renamed.get(name, name), self.value(replaced[name]), self._fields(replaced[name]))
            if name in replaced
            else (renamed.get(name, name), sources, fields)
            for name, sources, fields in pairs
            if name not in item.exclude
        ]

    # FROM

    def _join(self, join: Join, slots: list[tuple[int, str]]) -> Sources:
        """Add an item and return what decides the rows; `slots` are the columns that `*` stands for."""
        relation = self.relations[join.item.uid] = self.from_item(join.item)
        rows = relation.rows
        if join.on is not None:
            rows |= through(self.value(join.on), JOIN)
        merged: dict[str, Sources] = {}
        for using in join.using:
            left, right = self.relations[using.left].column(using.name), relation.column(using.name)
            rows |= through(left | right, JOIN)
            self.merged.update(column for column, _ in left | right)
            seen = NOTHING if "RIGHT" in join.kind else left
            merged[using.name] = seen | right if "RIGHT" in join.kind or "FULL" in join.kind else seen
            slots[slots.index((using.left, using.name))] = (join.uid, using.name)
        self.relations[join.uid] = Relation(tuple(merged), tuple(merged.values()))
        if "SEMI" not in join.kind and "ANTI" not in join.kind:
            slots += [(join.item.uid, name) for name in relation.names if name not in merged]
        return rows

    def from_item(self, item: FromItem) -> Relation:
        if isinstance(item, TableItem):
            columns = TABLES[item.table]
            sources = tuple(frozenset({(f"{item.table}.{name}", IDENTITY)}) for name in columns)
            return Relation(tuple(columns), sources).renamed(item.columns)
        if isinstance(item, CteItem):
            return self.relations[item.cte].renamed(item.columns)
        if isinstance(item, Derived):
            return self.query(item.query).renamed(item.columns)
        if isinstance(item, ValuesItem):
            columns_of_rows = zip(*item.rows, strict=True)
            return Relation(item.columns, tuple(self._all(column) for column in columns_of_rows))
        if isinstance(item, Pivoted):
            return self._pivoted(item)
        if isinstance(item, Unpivoted):
            source = self.from_item(item.source)
            turned = NOTHING.union(*map(source.column, item.turned))
            kept = source.arranged(tuple(name for name in source.names if name not in item.turned))
            rows = source.rows | (NOTHING if item.with_nulls else through(turned, FILTER))
            unpivoted = Relation(("nam", "val"), (NOTHING, turned), fields=(None, None))
            return kept.beside(unpivoted, rows)
        # How many rows there are depends on the arguments, whichever columns are read.
        assert isinstance(item, FunctionItem)
        arguments = [through(self.value(argument), TRANSFORMATION) for argument in item.args]
        columns_made = len(item.columns) - item.ordinality
        made = [NOTHING.union(*arguments)] if columns_made == 1 else arguments
        rows = through(NOTHING.union(*arguments), JOIN)
        return Relation(item.columns, (*made, *([NOTHING] if item.ordinality else [])), rows)

    def _pivoted(self, item: Pivoted) -> Relation:
        """Return a column for each value and aggregate: `aggregate(CASE WHEN key = value THEN column END)`."""
        source = self.from_item(item.source)
        used = {item.key, *(column for _, column, _ in item.aggregates)}
        kept = source.arranged(tuple(name for name in source.names if name not in used))
        decided = through(source.column(item.key), CONDITIONAL)
        made = [through(source.column(column), step) | decided for _, column, step in item.aggregates]
        grouped = through(NOTHING.union(*kept.sources), GROUP_BY)
        values = made * len(item.values)
        pivoted = Relation(item.columns[len(kept.names) :], tuple(values), fields=(None,) * len(values))
        return kept.beside(pivoted, source.rows | grouped)

    # Expressions

    def _all(self, expressions: tuple[Expr, ...]) -> Sources:
        return NOTHING.union(*(self.value(expression) for expression in expressions))

    def value(self, expression: Expr) -> Sources:
        match expression:
            case Constant():
                return NOTHING
            case Ref(owner, name, _, _, inner):
                relation = self.relations[owner]
                read = relation.field(name, inner) if inner else relation.column(name)
                self.named.update(column for column, _ in read)
                return read
            case ItemRef(item):
                return self.items[item]
            case OutputRef(position):
                assert self.output is not None
                return self.output.sources[position]
            case Call(_, args, steps, _, window):
                found = [through(self.value(a), step) for a, each in zip(args, steps, strict=True) for step in each]
                keys = NOTHING if window is None else through(self.windows[window], WINDOW)
                return NOTHING.union(*found, keys)
            case QueryValue(_, args, query, step):
                relation = self.query(query)
                operands = NOTHING.union(*(through(self.value(arg), step or IDENTITY) for arg in args))
                columns = NOTHING if step is None else through(NOTHING.union(*relation.sources), step)
                return operands | columns | through(relation.rows, step or IDENTITY)

    def _fields(self, expression: Expr) -> Fields | None:
        """Return where the fields of a struct come from; None if it is none."""
        if expression.type != "struct":
            return None
        match expression:
            case Ref(owner, name):
                return self.relations[owner].fields_of(name)
            case ItemRef(item):
                return self.structs[item]
            case Constant():
                return dict.fromkeys(FIELDS, NOTHING)
            case Call(_, args, builds=True):
                return dict(zip(FIELDS, map(self.value, args), strict=True))
            case QueryValue(_, _, query, step):
                relation = self.query(query)
                fields = relation.fields[0]
                assert fields is not None
                assert step is not None
                return {name: through(found | relation.rows, step) for name, found in fields.items()}
            case Call():
                return {field: self._chosen(expression, field) for field in FIELDS}
            case _:
                raise ValueError(expression)

    def _chosen(self, call: Call, field: str) -> Sources:
        """Return where a field of one of several structs comes from: from theirs, and from what chooses."""
        names = list(FIELDS)
        read = names[: names.index(field) + 1] if call.template.startswith(_COMPARING) else [field]
        if call.template.startswith("list_filter"):
            read = [field, *names[:1]]
        found = NOTHING if call.window is None else through(self.windows[call.window], WINDOW)
        for arg, steps in zip(call.args, call.steps, strict=True):
            fields = self._fields(arg)
            value = self.value(arg) if fields is None else NOTHING.union(*(fields[name] for name in read))
            found = found.union(*(through(value, step) for step in steps))
        return found


@dataclass(frozen=True, slots=True)
class Expected:
    """Output columns in order, and edges as `Edge` prints them, of each statement of a script."""

    columns: tuple[str, ...]
    edges: frozenset[str]


def expected(statement: Statement) -> list[Expected]:
    """Return what each statement must say.

    Raises:
        KeyError, ValueError, AssertionError: the tree points at something that is not there (a step of shrinking).
    """
    meaning = Meaning(statement.dialect == "spark")
    found = []
    for temporary in statement.temporaries:
        relation = meaning.relations[temporary.uid] = meaning.query(temporary.query)
        found.append(_edges(relation, temporary.name))
    relation = meaning.query(statement.query)
    if statement.form == "QUERY":
        return [*found, _edges(relation, None)]
    if statement.form == "INSERT":
        names = statement.columns or tuple(name for name, _ in statement.schema)
        relation = Relation(names[: len(relation.names)], relation.sources, relation.rows)
    elif statement.form != "INSERT BY NAME":
        relation = relation.renamed(statement.columns)
    return [*found, _edges(relation, TARGET)]


def columns_named(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """Return the base columns behind every name that a script reads, and those behind the names that joins merge.

    Those are among them that nothing uses, as a column of a sub-query that nobody reads.
    """
    meaning = Meaning(statement.dialect == "spark")
    for temporary in statement.temporaries:
        meaning.relations[temporary.uid] = meaning.query(temporary.query)
    meaning.query(statement.query)
    return frozenset(meaning.named), frozenset(meaning.merged)


def _edges(relation: Relation, target: str | None) -> Expected:
    prefix = f"{target}." if target else ""
    edges = {
        _edge(source, step, prefix + name)
        for name, sources in zip(relation.names, relation.sources, strict=True)
        for source, step in sources
    }
    edges |= {_edge(source, step, target or "*") for source, step in relation.rows}
    return Expected(relation.names, frozenset(edges))


def _edge(source: str, step: Step, target: str) -> str:
    marks = [step.subtype, *(["masking"] if step.masking else []), *(["limited"] if step.limited else [])]
    return f"{source} {'->' if step.subtype in _DIRECT else '~>'} {target} [{' '.join(marks)}]"

"""Random warehouses. Every statement is tried on DuckDB as it is made; what it refuses is made anew."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.soundness.scopes import Output, Scope, Visible
from tests.soundness.sources import KnownCte
from tests.soundness.tree import Expr, Type
from tests.soundness.warehouse.queries import Queries, features, reads_of
from tests.soundness.warehouse.tree import (
    SCHEMAS,
    Action,
    AddColumn,
    Branch,
    Commit,
    CreateAs,
    CreateTable,
    Delete,
    Drop,
    DropColumn,
    Insert,
    Merge,
    RenameColumn,
    RenameTable,
    Run,
    SetPath,
    Step,
    Update,
)
from tests.soundness.warehouse.world import InvalidError, Stored, World

__all__ = ["KINDS", "STRUCTURAL", "StatementMaker", "made_as", "make_runs"]

NAMES = ("t", "u", "v", "w", "f", "g")
_COLUMNS: tuple[tuple[str, Type], ...] = (
    *(("id", "int"), ("k", "int"), ("a", "int"), ("b", "int"), ("x", "int")),
    *(("y", "int"), ("s", "text"), ("n", "text"), ("p", "bool")),
)
_TEMPORARY = ("tmp", "stage")
_ACTIONS: tuple[Action, ...] = ("UPDATE", "UPDATE", "UPDATE", "DELETE")

Try = Callable[[Run], bool]
"""Runs a statement where all before it ran; returns whether it could be."""


@dataclass(slots=True)
class StatementMaker:
    """Makes statements for a session, over the tables that there are."""

    rng: random.Random
    queries: Queries
    without: Collection[str] = ()
    contents: int = 0
    fixed_bases: bool = False
    """Whether a catalog describes the base tables, whose columns and names then stay."""

    def steps(self, kind: str, world: World, session: int) -> list[Step] | None:
        """Return the statements of a kind; None if there is nothing to make them of."""
        made = _MAKERS[kind](self, world, session)
        if made is None or features(tuple(made)) & set(self.without):
            return None
        return made

    def kinds(self) -> list[str]:
        """Return the kinds to choose from, as often as they are to be chosen."""
        left_out = {*self.without, *(("create",) if self.fixed_bases else ())}
        return [kind for kind, weight in KINDS.items() if kind not in left_out for _ in range(weight)]

    # What there is

    def _of(self, world: World, session: int, *kinds: str) -> tuple[str, Stored] | None:
        """Return one of the tables of some kinds, by one of its names."""
        fitting = [(name, stored) for name, stored in world.visible(session).items() if stored.kind in kinds]
        fitting = [(name, stored) for name, stored in fitting if self._is_named(name, stored)]
        return self.rng.choice(sorted(fitting, key=lambda pair: pair[0])) if fitting else None

    def _is_named(self, name: str, stored: Stored) -> bool:
        """Return whether a table may be named so."""
        return "use_name" not in self.without or "." in name or stored.kind == "temporary"

    def _known(self, world: World, session: int) -> dict[str, KnownCte]:
        visible = world.visible(session)
        some = sorted(name for name in visible if self._is_named(name, visible[name]))
        if len(some) > 4:  # the same tables again and again make long chains
            some = self.rng.sample(some, 4)
        return self.queries.known({name: visible[name] for name in some})

    def _free(self, world: World) -> str | None:
        """Return a name with its schema that no table has; the same names in all schemas."""
        free = [f"{s}.{n}" for s in SCHEMAS for n in NAMES if (s, n) not in world.tables]
        return self.rng.choice(free) if free else None

    def _shown(self, world: World, session: int, name: str) -> str:
        """Return a new table's name without its schema where that means the same."""
        schema, _, own = name.partition(".")
        if world.path(session)[0] == schema and self.rng.random() < 0.5 and "use_name" not in self.without:
            return own
        return name

    # Definitions

    def create(self, world: World, session: int) -> list[Step] | None:
        name = self._free(world)
        if name is None:
            return None
        self.contents += 1
        columns = tuple(self.rng.sample(_COLUMNS, self.rng.randint(2, 4)))
        return [CreateTable(self._shown(world, session, name), columns, self.contents)]

    def view(self, world: World, session: int) -> list[Step] | None:
        return self._defined(world, session, "VIEW")

    def table(self, world: World, session: int) -> list[Step] | None:
        return self._defined(world, session, "TABLE")

    def _defined(self, world: World, session: int, kind: str) -> list[Step] | None:
        name = self._free(world)
        return None if name is None else [self._create_as(world, session, kind, self._shown(world, session, name))]

    def _create_as(self, world: World, session: int, kind: str, name: str, *, replaces: bool = False) -> CreateAs:
        known = self._known(world, session)
        query, columns = self.queries.defining(known)
        listed: tuple[str, ...] = ()
        if kind == "VIEW" and self.rng.random() < 0.15:
            listed = tuple(f"r{i}" for i in range(len(columns)))
        return CreateAs(
            kind, name, query, reads_of(known, query), listed, replaces, tuple(column.type for column in columns)
        )

    def definition(self, world: World, session: int, old: CreateAs) -> CreateAs | None:
        """Return another definition of the same table or view."""
        made = self._create_as(world, session, old.kind, old.name, replaces=old.replaces)
        return None if features(made) & set(self.without) else made

    def replace(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, *self._alterable, "view")
        if found is None:
            return None
        name, stored = found
        kind = "VIEW" if stored.kind == "view" else "TABLE"
        return [self._create_as(world, session, kind, name, replaces=True)]

    def replace_self(self, world: World, session: int) -> list[Step] | None:
        """A table is made anew from itself."""
        found = self._of(world, session, *self._alterable)
        if found is None:
            return None
        name, stored = found
        known = self.queries.known({name: stored})
        query, columns = self.queries.defining(known)
        types = tuple(column.type for column in columns)
        return [CreateAs("TABLE", name, query, reads_of(known, query), (), True, types)]

    def recreate(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, *self._alterable, "view")
        if found is None:
            return None
        name, stored = found
        kind = "VIEW" if stored.kind == "view" else "TABLE"
        made = self._create_as(world, session, kind, name)
        if any(world.find(session, read.name).number == stored.number for read in made.reads):
            return None
        return [Drop("VIEW" if kind == "VIEW" else "TABLE", name), made]

    def rebuild(self, world: World, session: int) -> list[Step] | None:
        """`CREATE t_new AS … FROM t; DROP t; ALTER t_new RENAME TO t`."""
        found = self._of(world, session, *self._alterable)
        if found is None:
            return None
        name, stored = found
        known = self.queries.known({name: stored}) if self.rng.random() < 0.6 else self._known(world, session)
        query, columns = self.queries.defining(known)
        made = CreateAs(
            "TABLE", f"{stored.full_name}_new", query, reads_of(known, query), (), False, tuple(c.type for c in columns)
        )
        return [made, Drop("TABLE", name), RenameTable(f"{stored.full_name}_new", stored.name)]

    def swap(self, world: World, session: int) -> list[Step] | None:
        """Two tables change their names."""
        tables = [stored for stored in world.tables.values() if stored.kind == "table"]
        pairs = [(a, b) for a in tables for b in tables if a.schema == b.schema and a.name < b.name]
        if not pairs:
            return None
        a, b = self.rng.choice(pairs)
        return [
            RenameTable(a.full_name, "aside"),
            RenameTable(b.full_name, a.name),
            RenameTable(f"{a.schema}.aside", b.name),
        ]

    def rename_table(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, *self._alterable)
        if found is None:
            return None
        name, stored = found
        free = [n for n in NAMES if (stored.schema, n) not in world.tables]
        return [RenameTable(name, self.rng.choice(free))] if free else None

    def drop(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "table", "view")
        return [Drop("VIEW" if found[1].kind == "view" else "TABLE", found[0])] if found else None

    # Columns

    @property
    def _alterable(self) -> tuple[str, ...]:
        return ("table",) if self.fixed_bases else ("table", "base")

    def rename_column(self, world: World, session: int) -> list[Step] | None:
        return self._renamed(self._of(world, session, *self._alterable))

    def _renamed(self, found: tuple[str, Stored] | None) -> list[Step] | None:
        if found is None:
            return None
        name, stored = found
        taken = {column.name for column in stored.columns}
        free = [n for n in ("id", "k", "a", "b", "x", "y", "s", "a2") if n not in taken]
        return [RenameColumn(name, self.rng.choice(sorted(taken)), self.rng.choice(free))]

    def add_column(self, world: World, session: int) -> list[Step] | None:
        """A column is added, and mostly filled."""
        found = self._of(world, session, *self._alterable)
        if found is None:
            return None
        name, stored = found
        taken = {column.name for column in stored.columns}
        new = self.rng.choice([n for n in ("a", "b", "x", "y", "z") if n not in taken] or ["zz"])
        steps: list[Step] = [AddColumn(name, new, "int")]
        if self.rng.random() < 0.7:
            after = world.copy()
            try:
                after.apply(session, steps[0])
            except InvalidError:
                return None
            update = self._update(after, session, name, [new])
            steps += [update] if update is not None else []
        return steps

    def drop_column(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, *self._alterable)
        if found is None:
            return None
        return [DropColumn(found[0], self.rng.choice([column.name for column in found[1].columns]))]

    # Changes of rows

    def insert(self, world: World, session: int) -> list[Step] | None:
        return self._insert(world, session, self._of(world, session, "table", "base"), listed=False)

    def insert_columns(self, world: World, session: int) -> list[Step] | None:
        return self._insert(world, session, self._of(world, session, "table", "base"), listed=True)

    def _insert(
        self, world: World, session: int, found: tuple[str, Stored] | None, *, listed: bool
    ) -> list[Step] | None:
        if found is None:
            return None
        name, stored = found
        columns = list(stored.columns)
        if listed:
            columns = self.rng.sample(columns, self.rng.randint(1, len(columns)))
        known = self._known(world, session)
        query = self.queries.filling(known, [column.type for column in columns])
        names = tuple(column.name for column in columns) if listed else ()
        return [Insert(name, names, query, reads_of(known, query))]

    def update(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "table", "base")
        step = self._update(world, session, found[0]) if found else None
        return [step] if step else None

    def _update(self, world: World, session: int, name: str, columns: Sequence[str] | None = None) -> Step | None:
        rng, queries = self.rng, self.queries
        known = self._known(world, session)
        target, alias = self._target(world, session, name)
        chosen = [c for c in target.columns if (c.name in columns if columns else c.type != "list")]
        if not chosen:
            return None
        if not columns:
            chosen = rng.sample(chosen, rng.randint(1, min(2, len(chosen))))
        source, where = None, None
        scope = Scope(None)
        queries.show(scope, target)
        if rng.random() < 0.6 and "update_from" not in self.without:
            source, scope, alone = queries.beside(target, known)
            where = queries.joining(target, scope, alone)
        elif rng.random() < 0.6:
            where = queries.expressions.value(queries.place(scope, known), "bool", 1)
        sets = tuple((c.name, queries.expressions.value(queries.place(scope, known), c.type, 1)) for c in chosen)
        return Update(name, target.uid, alias, sets, source, where, reads_of(known, source, where, sets))

    def _target(self, world: World, session: int, name: str) -> tuple[Visible, str | None]:
        stored = world.find(session, name)
        alias = self.rng.choice((None, "r", "x"))
        columns = tuple(Output(c.name, c.type) for c in stored.columns)
        return Visible(self.queries.uid(), alias or name.rpartition(".")[2], columns), alias

    def delete(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "table", "base")
        return self._delete(world, session, found[0]) if found else None

    def _delete(self, world: World, session: int, name: str) -> list[Step]:
        rng, queries = self.rng, self.queries
        known = self._known(world, session)
        target, alias = self._target(world, session, name)
        scope = Scope(None)
        queries.show(scope, target)
        source, where = None, None
        if rng.random() < 0.3:
            source, scope, alone = queries.beside(target, known)
            where = queries.joining(target, scope, alone)
        elif rng.random() < 0.9:
            where = queries.expressions.value(queries.place(scope, known), "bool", 2)
        return [Delete(name, target.uid, alias, source, where, reads_of(known, source, where))]

    def merge(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "table", "base")
        return self._merge(world, session, found[0]) if found else None

    def merge_self(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "table", "base")
        if found is None:
            return None
        return self._merge(world, session, found[0], self.queries.known({found[0]: found[1]}))

    def _merge(
        self, world: World, session: int, name: str, known: dict[str, KnownCte] | None = None
    ) -> list[Step] | None:
        rng, queries = self.rng, self.queries
        if known is None:
            known = self._known(world, session)
        target, alias = self._target(world, session, name)
        source, both, alone = queries.beside(target, known)
        on = queries.joining(target, both, alone)
        branches: list[Branch] = []
        for _ in range(rng.choice((1, 1, 2))):
            condition = queries.expressions.value(queries.place(both, {}).plain(), "bool", 1)
            action: Action = rng.choice(_ACTIONS)
            sets: tuple[tuple[str, Expr], ...] = ()
            if action == "UPDATE":
                chosen = rng.sample(target.columns, rng.randint(1, len(target.columns)))[:2]
                sets = tuple((n, queries.expressions.value(queries.place(both, {}).plain(), t, 1)) for n, t in chosen)
            branches.append(Branch(True, condition if rng.random() < 0.4 else None, action, sets))
            if branches[-1].condition is None:
                break
        if rng.random() < 0.6:
            chosen = rng.sample(target.columns, rng.randint(1, len(target.columns)))
            place = queries.place(alone, {}).plain()
            sets = tuple((n, queries.expressions.value(place, t, 1)) for n, t in chosen)
            decided = queries.expressions.value(place, "bool", 1) if rng.random() < 0.3 else None
            branches.append(Branch(False, decided, "INSERT", sets))
        if rng.random() < 0.2:
            branches = branches[-1:]
        return [Merge(name, target.uid, alias, source, on, tuple(branches), reads_of(known, source, on))]

    # Temporary tables

    def temp(self, world: World, session: int) -> list[Step] | None:
        return [self._create_as(world, session, "TEMP TABLE", self.rng.choice(_TEMPORARY))]

    def temp_replace(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "temporary")
        return [self._create_as(world, session, "TEMP TABLE", found[0], replaces=True)] if found else None

    def temp_hides(self, world: World, session: int) -> list[Step] | None:
        """A temporary table has the name of a real one, and is dropped again later, maybe."""
        taken = sorted({name for _, name in world.tables})
        return [self._create_as(world, session, "TEMP TABLE", self.rng.choice(taken))] if taken else None

    def temp_change(self, world: World, session: int) -> list[Step] | None:
        """A temporary table is updated, merged into, filled or emptied."""
        found = self._of(world, session, "temporary")
        if found is None:
            return None
        match self.rng.choice(("update", "merge", "insert", "delete")):
            case "update":
                step = self._update(world, session, found[0])
                return [step] if step else None
            case "merge":
                return self._merge(world, session, found[0])
            case "insert":
                return self._insert(world, session, found, listed=self.rng.random() < 0.5)
            case _:
                return self._delete(world, session, found[0])

    def temp_column(self, world: World, session: int) -> list[Step] | None:
        return self._renamed(self._of(world, session, "temporary"))

    def temp_rename(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "temporary")
        return [RenameTable(found[0], self.rng.choice(("tmp2", "stage2")))] if found else None

    def temp_drop(self, world: World, session: int) -> list[Step] | None:
        found = self._of(world, session, "temporary")
        return [Drop("TABLE", found[0])] if found else None

    def temp_used(self, world: World, session: int) -> list[Step] | None:
        """A real table is made of temporary ones."""
        own = {name: s for name, s in world.visible(session).items() if s.kind == "temporary"}
        name = self._free(world)
        if not own or name is None:
            return None
        known = self.queries.known(own)
        query, columns = self.queries.defining(known)
        types = tuple(column.type for column in columns)
        return [CreateAs("TABLE", self._shown(world, session, name), query, reads_of(known, query), (), False, types)]

    def temp_commit(self, world: World, session: int) -> list[Step] | None:
        """A temporary table ends with a transaction, after a real table was made of it, or loses its rows."""
        name = self._free(world)
        if name is None:
            return None
        made = replace(
            self._create_as(world, session, "TEMP TABLE", "until_commit"),
            on_commit=self.rng.choice(("DROP", "DELETE ROWS")),
        )
        after = world.copy()
        after.apply(session, made)
        known = self.queries.known({made.name: after.find(session, made.name)})
        steps: list[Step] = [made]
        for target in (name, f"{name}2")[: self.rng.randint(1, 2)]:
            query, columns = self.queries.defining(known)
            types = tuple(column.type for column in columns)
            shown = self._shown(world, session, target)
            steps.append(CreateAs("TABLE", shown, query, reads_of(known, query), (), False, types))
        if made.on_commit == "DROP":
            return [*steps, Commit()]
        return [*steps[:2], Commit(), *steps[2:], Drop("TABLE", made.name)]

    # The session

    def set_path(self, world: World, session: int) -> list[Step] | None:
        schema = self.rng.choice(SCHEMAS)
        form = self.rng.choice(("USE", "schema", "search_path"))
        if form == "search_path":
            return [SetPath("search_path", tuple(self.rng.sample(SCHEMAS, self.rng.randint(1, 2))))]
        return [SetPath("USE" if form == "USE" else "schema", (schema,))]


KINDS: dict[str, int] = {
    "create": 2,
    "view": 8,
    "table": 6,
    "replace": 2,
    "replace_self": 1,
    "recreate": 1,
    "rebuild": 1,
    "swap": 1,
    "rename_table": 1,
    "drop": 1,
    "rename_column": 1,
    "add_column": 1,
    "drop_column": 1,
    "insert": 2,
    "insert_columns": 3,
    "update": 3,
    "delete": 1,
    "merge": 3,
    "merge_self": 1,
    "temp": 3,
    "temp_replace": 2,
    "temp_hides": 1,
    "temp_change": 6,
    "temp_column": 3,
    "temp_rename": 3,
    "temp_drop": 2,
    "temp_used": 8,
    "temp_commit": 3,
    "set_path": 2,
}
"""The kinds of statement, and how often each is made."""

STRUCTURAL = frozenset(
    ("replace", "replace_self", "recreate", "rebuild", "swap", "rename_table", "drop", "rename_column", "add_column")
) | {"drop_column"}
"""Those that change what there is or how it is called, not only what is in it."""

_MAKERS: dict[str, Callable[[StatementMaker, World, int], list[Step] | None]] = {
    kind: getattr(StatementMaker, kind) for kind in KINDS
}


def make_runs(maker: StatementMaker, world: World, session: int, wanted: int, attempt: Try) -> Iterator[Run]:
    """Yield statements of one session as they take effect in the world."""
    made = 0
    for _ in range(wanted * 6):
        if made >= wanted:
            return
        kind = maker.rng.choice(maker.kinds())
        runs = made_as(maker, kind, world, session, attempt)
        made += len(runs)
        yield from runs


def made_as(maker: StatementMaker, kind: str, world: World, session: int, attempt: Try) -> list[Run]:
    """Return statements of a kind that took effect in the world; none if they could not be made."""
    try:
        steps = maker.steps(kind, world, session) or []
    except InvalidError:
        return []
    done: list[Run] = []
    for step in steps:
        run = Run(session, step, kind)
        after = world.copy()
        try:
            after.apply(session, step)
        except (InvalidError, RecursionError):
            break
        if not attempt(run):
            break
        world.take(after)
        done.append(run)
    return done

"""What a warehouse's statements mean: which tables there are, and what each column's values and rows come from.

Two readings are kept side by side. `data` follows time: of each column and of each table's rows, the base columns
that its present content depends on; a changed value there may show here, and nowhere else. `edges` follow names:
what each statement reads for each column that it writes, whenever it ran; what they lead to may be part of an
answer, although the present content was made before. An answer is right if it holds all of the first and nothing
beyond the second.

A node is a column of a table (`12.3`) or its rows (`12.0`). Tables keep their number when they are renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from tests.soundness.meaning import NOTHING, Meaning, Relation, Sources, through
from tests.soundness.tree import FILTER, IDENTITY, Expr, FromItem, Query, Type
from tests.soundness.warehouse.tree import (
    HOME,
    AddColumn,
    Commit,
    CreateAs,
    CreateTable,
    Delete,
    Drop,
    DropColumn,
    Insert,
    Merge,
    Read,
    RenameColumn,
    RenameTable,
    SetPath,
    Step,
    Update,
)

__all__ = ["Column", "InvalidError", "Lineage", "Stored", "World"]

Nodes = frozenset[str]
NONE: Nodes = frozenset()
NONE_OF_THEM: frozenset[tuple[str, str]] = frozenset()


class InvalidError(Exception):
    """A statement does not fit the tables that are there."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type
    number: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A table or a view. `kind` is base, table, view or temporary."""

    number: int
    kind: str
    schema: str
    name: str
    columns: tuple[Column, ...]
    query: Query | None = None
    reads: tuple[Read, ...] = ()
    shown: tuple[str, ...] = ()
    """The names that a view's query gave its columns when it was defined."""
    on_commit: str = ""

    @property
    def rows(self) -> str:
        return f"{self.number}.0"

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    def node(self, name: str) -> str:
        for column in self.columns:
            if column.name == name:
                return f"{self.number}.{column.number}"
        raise InvalidError(f"{self.name} has no column {name}")

    def nodes(self) -> Iterator[tuple[str, str]]:
        """Yield each column's name and node."""
        return ((column.name, f"{self.number}.{column.number}") for column in self.columns)


@dataclass(frozen=True, slots=True)
class Lineage:
    """What is asked about: for each base column that is still there, the outputs that must and may be reached."""

    must: dict[str, frozenset[str]]
    may: dict[str, frozenset[str]]
    outputs: dict[str, tuple[str, ...]]
    """The columns of the tables and views that are there."""
    bases: dict[str, tuple[int, str]]
    """Of each base column, the content that it is of and its first name there."""
    broken: frozenset[str] = frozenset()
    """Views that cannot be read any more: nothing is asked of what is said about them."""
    gone: frozenset[str] = frozenset()
    """Columns of base tables that are dropped or replaced, by the name that another table has now, or their own."""


@dataclass(slots=True)
class World:
    tables: dict[tuple[str, str], Stored] = field(default_factory=dict)
    temporary: dict[tuple[int, str], Stored] = field(default_factory=dict)
    paths: dict[int, tuple[str, ...]] = field(default_factory=dict)
    data: dict[str, Nodes] = field(default_factory=dict)
    edges: dict[str, Nodes] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    """The name of each column, the last that it had."""
    places: dict[int, frozenset[tuple[str, str]]] = field(default_factory=dict)
    """The names that each table has had; none if it is temporary."""
    contents: dict[str, tuple[int, str]] = field(default_factory=dict)
    written: dict[str, Nodes] = field(default_factory=dict)
    """Those of the edges that INSERT, UPDATE, MERGE and DELETE state."""
    left: dict[tuple[str, str], Stored] = field(default_factory=dict)
    """What had each name last that no table has now."""
    heirs: dict[int, frozenset[int]] = field(default_factory=dict)
    """The tables that took a name of each one after it."""
    flows: dict[str, Sources] = field(default_factory=dict)
    """What the statements read for each node, with what is done to it; temporary tables as they were when read."""
    blurs_temporary: bool = False
    """Whether `flows` keep only masking of what temporary tables are computed with."""
    last: int = 0

    def copy(self) -> World:
        """Return a world that may go another way."""
        return World(
            dict(self.tables),
            dict(self.temporary),
            dict(self.paths),
            dict(self.data),
            dict(self.edges),
            dict(self.labels),
            dict(self.places),
            dict(self.contents),
            dict(self.written),
            dict(self.left),
            dict(self.heirs),
            dict(self.flows),
            self.blurs_temporary,
            self.last,
        )

    def take(self, other: World) -> None:
        """Become another world."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    # Names

    def path(self, session: int) -> tuple[str, ...]:
        return self.paths.get(session, (HOME,))

    def find(self, session: int, name: str) -> Stored:
        """Return what a name means in a session.

        Raises:
            InvalidError: nothing has the name.
        """
        schema, _, own = name.rpartition(".")
        if schema:
            found = self.tables.get((schema, own))
        else:
            found = self.temporary.get((session, own))
            for each in self.path(session):
                found = found or self.tables.get((each, own))
        if found is None:
            raise InvalidError(f"no table {name}")
        return found

    def visible(self, session: int) -> dict[str, Stored]:
        """Return all tables that a session can read, by each of their names."""
        names = {name for _, name in self.tables} | {name for own, name in self.temporary if own == session}
        found = {f"{schema}.{name}": stored for (schema, name), stored in self.tables.items()}
        for name in sorted(names):
            try:
                found[name] = self.find(session, name)
            except InvalidError:
                continue
        return found

    def _new_place(self, session: int, name: str) -> tuple[str, str]:
        schema, _, own = name.rpartition(".")
        return schema or self.path(session)[0], own

    # Meaning

    def _meaning(self, session: int, reads: Iterable[Read], view: Stored | None = None) -> Meaning:
        meaning = Meaning()
        for read in reads:
            stored = self.find(session, read.name) if view is None else self._of_view(session, read.name, view)
            meaning.relations[read.uid] = self._relation(session, stored)
        return meaning

    def _of_view(self, session: int, name: str, view: Stored) -> Stored:
        """Return what a view means by a name: DuckDB looks into the view's own schema first."""
        schema, _, own = name.rpartition(".")
        if not schema and (session, own) in self.temporary:
            raise InvalidError("a temporary table comes first in this session")
        found = self.tables.get((schema or view.schema, own))
        if found is None or found.number == view.number:
            raise InvalidError(f"{view.name} lacks {name}")
        return found

    def _relation(self, session: int, stored: Stored) -> Relation:
        if stored.kind == "view":
            self._evaluated(session, stored)
        names, nodes = zip(*stored.nodes(), strict=True)
        return Relation(names, tuple(frozenset({(node, IDENTITY)}) for node in nodes), _rows(stored))

    def _evaluated(self, session: int, view: Stored) -> Relation:
        """Return what a view shows now.

        Raises:
            InvalidError: what it reads is no longer what it was defined over.
        """
        assert view.query is not None
        relation = self._meaning(session, view.reads, view).query(view.query)
        if relation.names != view.shown:
            raise InvalidError(f"{view.name} has other columns now")
        return relation

    def _data(self, nodes: Nodes, session: int = 0) -> Nodes:
        """Return the base columns that the present content of these nodes depends on."""
        found: set[str] = set()
        views: dict[int, Relation] = {}
        for node in nodes:
            number = int(node.partition(".")[0])
            if node in self.data:
                found |= self.data[node]
                continue
            view = next(stored for stored in self.tables.values() if stored.number == number)
            if number not in views:
                views[number] = self._evaluated(session, view)
            relation = views[number]
            sources = dict(zip((n for _, n in view.nodes()), relation.sources, strict=True))
            found |= self._data(_nodes(relation.rows if node == view.rows else sources[node]), session)
        return frozenset(found)

    def decided(self, node: str) -> bool:
        """Return whether any base column shows in a node's present content."""
        return bool(self._data(frozenset({node})))

    # Statements

    def apply(self, session: int, step: Step) -> None:
        """Let a statement take effect.

        Raises:
            InvalidError: it does not fit; what is left of the world is of no use then.
        """
        try:
            self._apply(session, step)
        except (KeyError, ValueError, IndexError, AssertionError) as error:
            raise InvalidError(str(error)) from error

    def _apply(self, session: int, step: Step) -> None:
        match step:
            case CreateTable(name, columns, content):
                stored = self._create(session, "base", name, columns)
                for column, node in stored.nodes():
                    self.data[node] = frozenset({node})
                    self.contents[node] = (content, column)
                self.data[stored.rows] = NONE
            case CreateAs():
                self._create_as(session, step)
            case Insert(name, columns, query, reads):
                target = self.find(session, name)
                relation = self._meaning(session, reads).query(query)
                names = columns or tuple(column.name for column in target.columns)
                if len(relation.names) != len(names) or len(set(names)) != len(names):
                    raise InvalidError("another number of columns")
                self._grow(session, target.rows, relation.rows)
                for column, sources in zip(names, relation.sources, strict=True):
                    self._grow(session, target.node(column), sources)
            case Update():
                self._update(session, step)
            case Delete(name, uid, _, source, where, reads):
                target, meaning = self._target(session, name, uid, reads)
                rows = self._joined(meaning, source) | _decision(meaning, where)
                if source is None and where is None:  # nothing is left of what was there
                    nodes = (target.rows, *(node for _, node in target.nodes()))
                    self.data.update(dict.fromkeys(nodes, NONE))
                    if target.kind == "temporary":  # of others the graph keeps what was stated
                        self.flows.update(dict.fromkeys(nodes, NOTHING))
                self._grow(session, target.rows, rows)
            case Merge():
                self._merge(session, step)
            case SetPath(_, schemas):
                self.paths[session] = schemas
            case Commit():
                self._commit(session)
            case Drop(kind, name):
                stored = self.find(session, name)
                if (stored.kind == "view") != (kind == "VIEW"):
                    raise InvalidError("another kind")
                self._remove(session, stored)
            case _:
                self._alter(session, step)

    def _commit(self, session: int) -> None:
        """Drop or empty the temporary tables of a session that end with its transaction."""
        for (own, _), stored in list(self.temporary.items()):
            if own == session and stored.on_commit == "DROP":
                self._remove(session, stored)
            elif own == session and stored.on_commit:
                nodes = (stored.rows, *(node for _, node in stored.nodes()))
                self.data.update(dict.fromkeys(nodes, NONE))
                self.flows.update(dict.fromkeys(nodes, NOTHING))

    def _alter(self, session: int, step: Step) -> None:
        stored = self._table(session, step.name)  # type: ignore[union-attr]
        names = [column.name for column in stored.columns]
        match step:
            case AddColumn(_, column, kind):
                if column in names:
                    raise InvalidError("the column is there")
                self.last += 1
                altered = replace(stored, columns=(*stored.columns, Column(column, kind, self.last)))
                self.data[f"{stored.number}.{self.last}"] = NONE
            case DropColumn(_, column):
                if column not in names or len(names) == 1:
                    raise InvalidError("no such column")
                altered = replace(stored, columns=tuple(c for c in stored.columns if c.name != column))
            case RenameColumn(_, column, new):
                if column not in names or new in names:
                    raise InvalidError("no such column, or two")
                columns = tuple(replace(c, name=new) if c.name == column else c for c in stored.columns)
                altered = replace(stored, columns=columns)
            case RenameTable(_, new):
                altered = replace(stored, name=new)
                self._remove(session, stored)
            case _:
                raise AssertionError(step)
        self._put(session, altered)

    def _table(self, session: int, name: str) -> Stored:
        stored = self.find(session, name)
        if stored.kind == "view":
            raise InvalidError(f"{name} is a view")
        return stored

    def _create(self, session: int, kind: str, name: str, columns: Iterable[tuple[str, Type]]) -> Stored:
        self.last += 1
        number = self.last
        listed = []
        for column, type_of in columns:
            self.last += 1
            listed.append(Column(column, type_of, self.last))
        schema, own = self._new_place(session, name)
        stored = Stored(number, kind, schema, own, tuple(listed))
        self._put(session, stored)
        return stored

    def _put(self, session: int, stored: Stored) -> None:
        place = (stored.schema, stored.name)
        if stored.kind == "temporary":
            if self.temporary.get((session, stored.name), stored).number != stored.number:
                raise InvalidError("the name is taken")
            self.temporary[session, stored.name] = stored
            self.places[stored.number] = frozenset()
        else:
            if self.tables.get(place, stored).number != stored.number:
                raise InvalidError("the name is taken")
            self.tables[place] = stored
            before = self.left.pop(place, stored)
            if before.number != stored.number:
                self.heirs[before.number] = self.heirs.get(before.number, frozenset()) | {stored.number}
            self.places[stored.number] = self.places.get(stored.number, frozenset()) | {place}
        self.labels.update((node, name) for name, node in stored.nodes())

    def _remove(self, session: int, stored: Stored) -> None:
        if stored.kind == "temporary":
            del self.temporary[session, stored.name]
        else:
            del self.tables[stored.schema, stored.name]
            self.left[stored.schema, stored.name] = stored

    def _create_as(self, session: int, step: CreateAs) -> None:
        schema, own = self._new_place(session, step.name)
        kind = {"VIEW": "view", "TABLE": "table", "TEMP TABLE": "temporary"}[step.kind]
        self.last += 1
        shell = Stored(self.last, kind, schema, own, (), step.query, step.reads, on_commit=step.on_commit)
        meaning = self._meaning(session, step.reads, shell if kind == "view" else None)
        relation = meaning.query(step.query)
        shell = replace(shell, shown=relation.names)
        relation = relation.renamed(step.columns)
        if len(set(relation.names)) != len(relation.names):
            raise InvalidError("a name twice")
        rows, values = _nodes(relation.rows), [_nodes(sources) for sources in relation.sources]
        data = [self._data(nodes, session) for nodes in (rows, *values)] if kind != "view" else []
        before = self.temporary.get((session, own)) if kind == "temporary" else self.tables.get((schema, own))
        if step.replaces and before is not None:
            if (before.kind == "view") != (kind == "view"):
                raise InvalidError("another kind")
            self._remove(session, before)
        # A smaller query has other columns: then types are of no use to anybody.
        fallback: Type = "int"
        types = step.types
        if len(types) != len(relation.names):
            types = tuple(fallback for _ in relation.names)
        columns = []
        for name, type_of in zip(relation.names, types, strict=True):
            self.last += 1
            columns.append(Column(name, type_of, self.last))
        stored = replace(shell, columns=tuple(columns))
        if kind != "view":
            stored = replace(stored, query=None, reads=())
        nodes = [stored.rows, *(node for _, node in stored.nodes())]
        self.edges.update(zip(nodes, (rows, *values), strict=True))
        self.flows.update(zip(nodes, map(self._composed, (relation.rows, *relation.sources)), strict=True))
        self.data.update(zip(nodes, data, strict=False))
        self._put(session, stored)

    def _target(self, session: int, name: str, uid: int, reads: tuple[Read, ...]) -> tuple[Stored, Meaning]:
        target = self._table(session, name)
        meaning = self._meaning(session, reads)
        meaning.relations[uid] = self._relation(session, target)
        return target, meaning

    @staticmethod
    def _joined(meaning: Meaning, source: FromItem | None) -> Sources:
        """Put the item beside the target; return what decides its rows."""
        if source is None:
            return NOTHING
        relation = meaning.relations[source.uid] = meaning.from_item(source)
        return relation.rows

    def _update(self, session: int, step: Update) -> None:
        target, meaning = self._target(session, step.name, step.uid, step.reads)
        decided = self._joined(meaning, step.source) | _decision(meaning, step.where)
        changes = [(target.node(column), decided | _value(meaning, value)) for column, value in step.sets]
        if len(dict(changes)) != len(changes):
            raise InvalidError("a column twice")
        data = {node: self._data(_nodes(sources), session) for node, sources in changes}
        whole = step.source is None and step.where is None
        self._write_all(changes)
        for node, _ in changes:
            self.data[node] = data[node] if whole else self.data[node] | data[node]

    def _merge(self, session: int, step: Merge) -> None:
        target, meaning = self._target(session, step.name, step.uid, step.reads)
        common = self._joined(meaning, step.source) | _decision(meaning, step.on)
        earlier = {True: common, False: common}
        changes: list[tuple[str, Sources]] = []
        for branch in step.branches:
            decided = earlier[branch.matched] | _decision(meaning, branch.condition)
            if branch.action == "UPDATE":  # rows that are left were not deleted before, and an INSERT makes others
                earlier[branch.matched] = decided
            if branch.action != "UPDATE":
                changes.append((target.rows, decided))
            if len({column for column, _ in branch.sets}) != len(branch.sets):
                raise InvalidError("a column twice")
            for column, value in branch.sets:
                sources = _value(meaning, value) | (decided if branch.action == "UPDATE" else NOTHING)
                changes.append((target.node(column), sources))
        data = [self._data(_nodes(sources), session) for _, sources in changes]
        self._write_all(changes)
        for (node, _), more in zip(changes, data, strict=True):
            self.data[node] |= more

    def _grow(self, session: int, node: str, sources: Sources) -> None:
        more = self._data(_nodes(sources), session)
        self._write_all([(node, sources)])
        self.data[node] |= more

    def _write_all(self, changes: Iterable[tuple[str, Sources]]) -> None:
        """Add to what nodes come from; all sources are what they were before the statement."""
        composed = [(node, sources, self._composed(sources)) for node, sources in changes]
        for node, sources, flow in composed:
            for stated in (self.edges, self.written):
                stated[node] = stated.get(node, NONE) | _nodes(sources)
            self.flows[node] = self.flows.get(node, NOTHING) | flow

    def _composed(self, sources: Sources) -> Sources:
        """Return sources with those of temporary tables, as these are now, in the place of their nodes."""
        passing = {stored.number for stored in self.temporary.values()}
        found: Sources = NOTHING
        for node, step in sources:
            if int(node.partition(".")[0]) not in passing:
                found |= {(node, step)}
                continue
            for source, inner in self.flows.get(node, NOTHING):
                kept = inner._replace(grade=0) if self.blurs_temporary else inner
                found |= through(frozenset({(source, kept)}), step)
        return found

    # Answers

    def lineage(self, *, lost: bool = False) -> Lineage:
        """Return what must and what may be reached, now that no session is open.

        With `lost`, columns of base tables that are gone are asked about as well, if their table's name is in use.
        """
        outputs: dict[str, tuple[str, ...]] = {}
        depends: dict[str, Nodes] = {}
        broken: set[str] = set()
        for stored in self.tables.values():
            if stored.kind == "view":
                try:
                    relation = self._evaluated(-1, stored)
                    data = {stored.rows: self._data(_nodes(relation.rows), -1)}
                except (InvalidError, KeyError, ValueError, IndexError, AssertionError):
                    broken.add(stored.full_name)
                    continue
                self.edges[stored.rows] = self.edges.get(stored.rows, NONE) | _nodes(relation.rows)
                for (_, node), sources in zip(stored.nodes(), relation.sources, strict=True):
                    self.edges[node] = self.edges.get(node, NONE) | _nodes(sources)
                    data[node] = self._data(_nodes(sources), -1)
            else:
                data = {node: self.data[node] for node in (stored.rows, *(node for _, node in stored.nodes()))}
            outputs[stored.full_name] = tuple(column.name for column in stored.columns)
            for name, node in stored.nodes():
                depends[f"{stored.full_name}.{name}"] = data[node] | data[stored.rows]
        bases: dict[str, str] = {}
        for stored in self.tables.values():
            if stored.kind == "base":
                bases.update((node, f"{stored.full_name}.{name}") for name, node in stored.nodes())
        bases = {node: name for node, name in bases.items() if node in self.contents}
        gone = self._gone(bases)
        bases |= gone if lost else {}
        must: dict[str, set[str]] = {name: set() for name in bases.values()}
        for output, nodes in depends.items():
            for node in nodes & bases.keys():
                if bases[node] != output:
                    must[bases[node]].add(output)
        may = self._closure(bases)
        return Lineage(
            {base: frozenset(reached) for base, reached in must.items()},
            may,
            outputs,
            {name: self.contents[node] for node, name in bases.items()},
            frozenset(broken),
            frozenset(gone.values()) | self._inherited(bases),
        )

    def _gone(self, bases: Mapping[str, str]) -> dict[str, str]:
        """Return the names of columns of base tables that are gone, by node, where they mean one place."""
        there = {stored.number: stored for stored in self.tables.values()}
        found: dict[str, str] = {}
        for node in self.contents.keys() - bases.keys():
            number = int(node.partition(".")[0])
            own = there.get(number)
            places = {(own.schema, own.name)} if own else self.places.get(number, NONE_OF_THEM) & self.tables.keys()
            if len(places) == 1:
                found[node] = ".".join((*next(iter(places)), self.labels[node]))
        return found

    def _inherited(self, bases: Mapping[str, str]) -> frozenset[str]:
        """Return the names of columns of base tables that are gone, in their table or the one that took its place.

        That one may have another name since: in the graph both are one, so that the column goes with it.
        """
        there = {stored.number: stored for stored in self.tables.values()}
        found: set[str] = set()
        numbers = {node.partition(".")[0] for node in self.contents}
        for node in (one for one in self.labels.keys() - bases.keys() if one.partition(".")[0] in numbers):
            heirs: set[int] = set()
            waiting = [int(node.partition(".")[0])]
            while waiting:
                number = waiting.pop()
                if number not in heirs:
                    heirs.add(number)
                    waiting += self.heirs.get(number, ())
            found |= {f"{there[heir].full_name}.{self.labels[node]}" for heir in heirs if heir in there}
        return frozenset(found)

    def _closure(self, bases: dict[str, str]) -> dict[str, frozenset[str]]:
        """Return what each base column leads to by the edges, whenever they were stated."""
        leads: dict[str, set[str]] = {}
        for node, sources in self.edges.items():
            for source in sources:
                leads.setdefault(source, set()).add(node)
        columns: dict[str, list[str]] = {}
        for node in self.labels:
            columns.setdefault(node.partition(".")[0], []).append(node)
        same: dict[str, set[str]] = {}  # a table that took the place of one that was read is read by name
        numbers = {stored.number for stored in self.tables.values()}
        for number, places in self.places.items():
            for place in places:
                now = self.tables.get(place)
                if now is None and (last := self.left.get(place)) is not None and last.number not in numbers:
                    now = last  # a copy of it is what it was when it was dropped
                if now is None or now.number == number:
                    continue
                own = dict(now.nodes())
                pairs = [(own[self.labels[n]], n) for n in columns.get(str(number), ()) if self.labels[n] in own]
                for present, former in (*pairs, (now.rows, f"{number}.0")):
                    same.setdefault(present, set()).add(former)
                    # Statements that only add are not taken back when the table is made anew.
                    for source in self.written.get(former, ()):
                        leads.setdefault(source, set()).add(present)
        names = {node: f"{stored.full_name}.{name}" for stored in self.tables.values() for name, node in stored.nodes()}
        found: dict[str, frozenset[str]] = {}
        for base, base_name in bases.items():
            reached: set[str] = set()
            todo = [base, *(node for node, name in names.items() if name == base_name)]  # another has the name now
            while todo:
                node = todo.pop()
                if node in reached:
                    continue
                reached.add(node)
                todo += leads.get(node, ())
                for read in same.get(node, ()):
                    todo += leads.get(read, ())
                if node.endswith(".0"):
                    todo += columns.get(node.partition(".")[0], ())
            found[base_name] = found.get(base_name, frozenset()) | {names[node] for node in reached if node in names}
        return found


def _rows(stored: Stored) -> Sources:
    return frozenset({(stored.rows, FILTER)})


def _nodes(sources: Sources) -> Nodes:
    return frozenset(node for node, _ in sources)


def _value(meaning: Meaning, value: Expr | None) -> Sources:
    return NOTHING if value is None else meaning.value(value)


def _decision(meaning: Meaning, condition: Expr | None) -> Sources:
    return through(_value(meaning, condition), FILTER)

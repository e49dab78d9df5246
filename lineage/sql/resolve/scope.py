"""Scopes: which relations and names a query block sees, and how a column's name finds its sources.

Names without a prefix have a file of their own, `unprefixed.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.names import ColumnPath, split_name
from lineage.sql.resolve.alias_visibility import Clause
from lineage.sql.resolve.relations import BaseTable, Composite, Elements, Relation, RowFields, Sources, absorb
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION
from lineage.sql.resolve.unprefixed import ambiguous, doubtful, find_unprefixed, may_have_any, options_through

if TYPE_CHECKING:
    from lineage.sql.resolve.resolver import Resolver

__all__ = ["Choice", "Merge", "Scope"]

_NO_SOURCES: Sources = {}
_STOPS_AT_THE_NEAREST = frozenset(("postgres", "redshift", "materialize", "risingwave"))
_OF_A_SEQUENCE = frozenset(("nextval", "currval"))
_SEQUENCES_BY_NAME = frozenset(("snowflake", "oracle", "exasol"))
"""Dialects where `s.nextval` is the next number of the sequence s, of which no column is the source."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})
"""What most scopes have of most things: nothing, and one object for it."""


def _parts(column: exp.Expr) -> list[exp.Expr]:
    return [part for key in ("catalog", "db", "table", "this") if (part := column.args.get(key)) is not None]


class Merge(NamedTuple):
    """Columns that a join by USING or NATURAL merged, and the keys of the items on its two sides, in order."""

    left: dict[str, None]
    right: dict[str, None]
    columns: dict[str, Sources]


class Choice:
    """The columns that a COLUMNS(…) of the select list stands for, and the one that it stands for just now."""

    __slots__ = ("at", "names")

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.at: int | None = None


class Scope:
    """One query block: the relations of its FROM by alias, columns merged by USING, its CTEs, windows and aliases."""

    __slots__ = (
        "_found",
        "_names",
        "aliases",
        "choice",
        "clause",
        "ctes",
        "items",
        "made",
        "merged",
        "merges",
        "outputs",
        "parent",
        "prefixed",
        "resolver",
        "windows",
        "written",
    )

    def __init__(
        self, resolver: Resolver, parent: Scope | None = None, ctes: Mapping[str, Relation] | None = None
    ) -> None:
        self.resolver = resolver
        if parent is None:
            parent = resolver.around or resolver.outermost
        self.parent = parent
        self.items: dict[str, Relation] = {}
        self.ctes: Mapping[str, Relation] = ctes if ctes is not None else (parent.ctes if parent else {})
        self.prefixed: Mapping[str, Relation] = _NOTHING
        """Relations whose columns are seen with their prefix only, as those of EXCLUDED."""
        self.merged: Mapping[str, Sources] = _NOTHING
        self.merges: Sequence[Merge] = ()
        self.outputs: dict[str, Sources] = {}
        """The aliases of the select list."""
        self.written: dict[str, exp.Expr] = {}
        """What each of them is an alias of."""
        self.aliases: Mapping[str, Sources] = _NOTHING
        """Those that are seen by the clause which is being read."""
        self.clause = Clause.SELECT
        self.made: Sources = {}
        """What the functions of the select list take that make rows, as UNNEST and EXPLODE do."""
        self.windows: Mapping[str, exp.Expr] = _NOTHING
        self.choice: Choice | None = None
        self._found: dict[Any, Sources] = {}
        self._names = resolver.identifiers.unquoted

    def add(self, alias: str, relation: Relation, qualified: str | None = None) -> None:
        """Make a relation visible; two tables of one name in different schemas are told apart by their full name."""
        if self.resolver.numbers_repeated_names and type(relation) is Relation:
            relation = relation.told_apart()
        key = alias
        if key in self.items and qualified:
            key = qualified
        self._found.clear()
        while key in self.items:  # an alias used twice is an error in SQL; both stay readable by `*`
            key += "'"
        self.items[key] = relation

    def keep(self, items: dict[str, Relation]) -> None:
        """See these relations and no others from now on; their names are free for other relations."""
        self.items = items
        self.merges = tuple(merge for merge in self.merges if items.keys() >= {*merge.left, *merge.right})
        self._found.clear()

    def merge(self, merge: Merge) -> None:
        """Let unprefixed names stand for the columns that a join merged."""
        self.merges = (*self.merges, merge)
        self.merged = {**self.merged, **merge.columns}
        self._found.clear()

    def unmerge(self) -> None:
        """Forget the columns that a join merged whose sides are no longer seen."""
        self.merges = [merge for merge in self.merges if not self.items.keys().isdisjoint(merge.left)]
        self.merged = {name: sources for merge in self.merges for name, sources in merge.columns.items()}
        self._found.clear()

    def part(self, keys: Iterable[str]) -> Scope:
        """Return a scope inside this one that sees some of its items first, with what joins between them merged."""
        part = Scope(self.resolver, self, self.ctes)
        part.items = {key: self.items[key] for key in keys if key in self.items}
        unseen = set(self.items) - part.items.keys()
        merged: dict[str, Sources] = {}
        for merge in self.merges:
            if merge.left.keys().isdisjoint(unseen):
                merged.update(merge.columns)
        part.merged = merged or _NOTHING
        return part

    def chain(self) -> Iterator[Scope]:
        """Yield this scope and those around it, from the inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def item(self, alias: str, qualifier: str | None = None) -> Relation | None:
        """Return the nearest relation with that alias, in this scope or around it.

        With a schema before the alias, the nearest table of that schema comes first.
        """
        if qualifier:
            for scope in self.chain():
                if found := scope.items.get(f"{qualifier}.{alias}"):
                    return found
                found = scope.items.get(alias)
                if isinstance(found, BaseTable) and _schema_of(found.name) == qualifier:
                    return found
        for scope in self.chain():
            if found := scope.items.get(alias) or scope.prefixed.get(alias):
                return found
        return None

    def resolve(self, column: exp.Expr, aliases_first: bool = False) -> Sources:
        """Return the sources of a column reference; an unknown name is reported and has none.

        A reference that was found is remembered by its text, as long as what is visible stays the same.
        """
        args = column.args
        node = args["this"]
        if type(node) is not exp.Identifier:
            return self._unnamed(node, args.get("table"))
        text = node.args
        table = args.get("table")
        if table is None:
            if aliases_first and self.outputs:
                sources = self.outputs.get(self.resolver.identifiers.column(node))
                if sources is not None:
                    return sources
            key: Any = (text["this"], True) if text.get("quoted") else text["this"]
            found = self._found.get(key)
            if found is None:
                name = self._names.get(key) or self.resolver.identifiers.column(node)
                found = find_unprefixed(self, column, name)
                if found and name not in self.aliases and found is not self.outputs.get(name):
                    self._found[key] = found
            return found
        owner = table.args
        if len(args) == 2 and not owner.get("quoted") and not text.get("quoted"):  # nearly always: `alias.name`
            alias, known = self._names.get(owner["this"]), self._names.get(text["this"])
            if alias is not None and known is not None:
                relation = self.items.get(alias)
                if relation is not None and (index := relation.index) is not None and (found := index.get(known)):
                    return found
        full = (owner["this"], text["this"], owner.get("quoted"), text.get("quoted"))
        found = self._found.get(full)
        if found is None:
            found = self._qualified(column, table, self.resolver.identifiers.column(node))
            if found and "db" not in args:
                self._found[full] = found
        return found

    def _unnamed(self, node: exp.Expr, table: exp.Expr | None) -> Sources:
        """Return the sources of a column that is no name: `t.$1`, `t.*`, `*`."""
        if type(node) is exp.Literal and table:  # ClickHouse: `tuple.1`
            return self.value([self.resolver.identifiers.column(table), node.name]) or _NO_SOURCES
        if type(node) is exp.Parameter:
            return self.positional(node.name, self.resolver.identifiers.alias(table) if table else None)
        return self.whole_row(self.resolver.identifiers.alias(table)) if table else self._all_rows()

    def _qualified(self, column: exp.Expr, table: exp.Expr, name: str) -> Sources:
        identifiers = self.resolver.identifiers
        alias = identifiers.column(table)
        schema = column.args.get("db")
        relation = self.items.get(alias) if schema is None else None
        if relation is None:
            relation = self.item(alias, identifiers.alias(schema) if schema else None)
        if relation is not None:
            found = relation.find(name)
            if found is None and not relation.is_open:  # `a.x`, where a is a struct of another table as well
                found = self._of_outer(alias, relation, name) if schema is None else None
                found = found if found is not None else self._field_of(column, built=True)
            return found if found is not None else self.of(relation, name, column, alias)
        found = self._field_of(column)
        if found is not None:
            return found
        if name.lower() in _OF_A_SEQUENCE and self.resolver.naming.dialect.name in _SEQUENCES_BY_NAME:
            return _NO_SOURCES
        aliases = [key for scope in self.chain() for key in scope.items]
        self.resolver.report(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.ERROR,
            f"no table or alias `{table.name}` for column `{column.name}`",
            column,
            hint=self.resolver.nearest(alias, aliases),
        )
        self.resolver.unresolved_name(DiagnosticCode.UNKNOWN_TABLE, alias, column, aliases)
        return _NO_SOURCES

    def _of_outer(self, alias: str, hiding: Relation, name: str) -> Sources | None:
        """Return a column that only a table around has which goes by the same name; PostgreSQL stops at the nearest."""
        if self.resolver.naming.dialect.name in _STOPS_AT_THE_NEAREST:
            return None
        others = (scope.items.get(alias) for scope in self.chain())
        found = (one.find(name) for one in others if one is not None and one is not hiding)
        return next((sources for sources in found if sources is not None), None)

    def _field_of(self, column: exp.Expr, built: bool = False) -> Sources | None:
        """Return the field of a column that a dotted name means; with `built`, only of a struct that is known."""
        path = [self.resolver.identifiers.column(part) for part in _parts(column)]
        for depth in range(len(path) - 2):  # `t.a.b`: a field of a column of an alias
            owner = self.item(path[depth])
            found = self._known(owner, path[depth + 1]) if owner is not None else None
            if found is not None:
                return self.field(found, path[depth + 2 :])
        found = self._find(path[0], column)
        if found is None:
            elements = (item for scope in self.chain() for item in scope.items.values() if isinstance(item, Elements))
            found = next((item.infer(path[0]) for item in elements), None)
        if found is None or (built and not (isinstance(found, Composite) and path[1] in (found.fields or ()))):
            return None
        return self.field(found, path[1:])

    def _known(self, relation: Relation, name: str) -> Sources | None:
        found = relation.find(name)
        return found if found is not None else (relation.infer(name) if relation.is_open else None)

    def of(self, relation: Relation, name: str, column: exp.Expr, alias: str) -> Sources:
        """Return the sources of a column of a relation; one that it is not known to have is reported."""
        if name in self.resolver.pseudo_columns and relation.find(name) is None:
            return _NO_SOURCES
        found = self._known(relation, name)
        if found is not None:
            return found
        if relation.is_open and (options := dict(options_through(alias, relation, name))):
            return ambiguous(self, column, name, options)
        known = [known for known, _ in relation.columns()]
        self.resolver.report(
            DiagnosticCode.UNKNOWN_COLUMN,
            Severity.WARNING if isinstance(relation, BaseTable) else Severity.ERROR,
            f"no column `{name}` in {relation.name if isinstance(relation, BaseTable) else alias}",
            column,
            hint=self.resolver.nearest(name, known),
        )
        owner = relation.name if isinstance(relation, BaseTable) else alias
        self.resolver.unresolved_name(DiagnosticCode.UNKNOWN_COLUMN, f"{owner}.{name}", column, known)
        # The statement ran somewhere: the schema is more likely to be old than the SQL to be wrong.
        return relation.infer(name) if isinstance(relation, BaseTable) else _NO_SOURCES

    def value(self, path: list[str]) -> Sources | None:
        """Return the sources of a column or a field of one, by its path; None where no relation has the column."""
        owner = self.item(path[0]) if len(path) > 1 else None
        if owner is not None:
            found = self._known(owner, path[1])
            return self.field(found, path[2:]) if found is not None else None
        found = self._find(path[0])
        if found is None:
            unknown = [r for scope in self.chain() for r in scope.items.values() if r.is_open]
            found = unknown[0].infer(path[0]) if len(unknown) == 1 else None
        return self.field(found, path[1:]) if found is not None else None

    def _find(self, name: str, column: exp.Expr | None = None) -> Sources | None:
        """Return the sources of an unprefixed name that a relation is known to have.

        Where `column` is the reference, a nearer block that may have the name comes first, and that is reported.
        """
        nearer: Scope | None = None
        for scope in self.chain():
            found = scope.merged.get(name)
            for relation in scope.items.values() if found is None else ():
                found = relation.find(name)
                if found is not None:
                    break
            if found is not None:
                if nearer is None or column is None or scope is self.resolver.outermost:
                    return found
                return doubtful(nearer, column, name, scope, found)
            if nearer is None and may_have_any(scope):
                nearer = scope
        return None

    def add_output(self, name: str, sources: Sources, written: exp.Expr) -> None:
        """Add an alias of the select list; of two of one name the first counts."""
        if name not in self.outputs:
            self.outputs[name] = sources
            self.written[name] = written
            if self.resolver.alias_visibility.before_columns:
                self._found.clear()

    def see_aliases(self, clause: Clause, *, seen: bool) -> None:
        """Begin to read a clause, which sees the aliases of the select list or does not."""
        self.clause = clause
        self.aliases = self.outputs if seen else _NOTHING

    @contextmanager
    def read_as(self, meanings: Sequence[tuple[exp.Expr, Sources]]) -> Iterator[None]:
        """Let unprefixed names (by their identifiers) mean these sources for a while."""
        if not meanings:
            yield
            return
        kept = dict(self._found)
        for node, sources in meanings:
            self._found[(node.args["this"], True) if node.args.get("quoted") else node.args["this"]] = sources
        yield
        self._found = kept

    def having(self, name: str) -> dict[str, Sources]:
        """Return the sources of a name in each relation of this block that surely has it."""
        return {alias: found for alias, item in self.items.items() if (found := item.find(name)) is not None}

    def positional(self, position: str, alias: str | None = None) -> Sources:
        """Return the sources of `$1`, a column of a staged file by its place; none where no such file is read."""
        for scope in self.chain():
            for known, relation in scope.items.items():
                if isinstance(relation, BaseTable) and relation.name.startswith("@") and alias in (None, known):
                    return relation.infer(f"${position}")
        return _NO_SOURCES

    def whole_row(self, alias: str) -> Sources:
        """Return the row of a relation as a value, with its columns for fields."""
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

    def field(self, sources: Sources, path: list[str]) -> Sources:
        """Return the sources of a nested field, a path below a value.

        What a struct was built of is known exactly; a field of a base column is a column with a path; of any other
        value a field may come from all of it.
        """
        for depth, name in enumerate(path):
            if isinstance(sources, Composite):
                if sources.fields is not None and name in sources.fields:
                    sources = sources.fields[name]
                    continue
                if sources.whole is not None:
                    sources = sources.whole
            return self._path(sources, path[depth:])
        return sources

    def _path(self, sources: Sources, path: list[str]) -> Sources:
        suffix = f".{ColumnPath(tuple(path))}"
        nested: Sources = {}
        for (source, effect), place in sources.items():
            is_column = effect == IDENTITY
            inner = (
                self.resolver.source(source.table, source.column + suffix, source.ambiguous) if is_column else source
            )
            nested[(inner, effect)] = place
        return nested


def _schema_of(table: str) -> str | None:
    """Return the schema in a table's full name."""
    parts = split_name(table)
    return parts[-2][0] if len(parts) > 1 else None

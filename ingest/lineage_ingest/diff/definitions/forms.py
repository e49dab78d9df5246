"""The canonical forms of a project's definitions, each made of those that it reads.

Every definition has two: `full` is made of source tables only, through all that is between. `own` takes what it reads
as given, so that a difference in it is an edit of this definition, and not of one upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from lineage.catalog.ddl import altered_columns
from lineage.frozen import frozen
from lineage.model.names import Naming
from lineage.model.statement import ColumnSchema
from lineage.sql.canonical.definition import CanonicalSql, read_sql, tables_of
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import TableForm, ValueForm, base_table, opaque_table
from lineage_ingest.diff.definitions.table_definitions import Build, ProjectRevision, TableDefinition

__all__ = ["Form", "ProjectForms"]

Progress = Callable[[int, int], None]
_Lookup = Callable[[str], TableForm]


@frozen
class Form:
    """The canonical forms of one definition; `stored` is its table as others read it, `text` its SQL as written.

    `names` are the tables that its SQL names, `reads` the keys of the definitions among them.
    """

    definition: TableDefinition
    full: TableForm
    own: TableForm
    stored: TableForm
    text: str
    reads: tuple[str, ...]
    names: tuple[str, ...] = ()
    problem: str | None = None
    """Why its SQL could only be compared by its text: it does not parse."""


class ProjectForms:
    """Makes the forms of a project's definitions, by key.

    Those of `earlier`, another revision, are taken where a definition, and all that it reads, are the same.
    """

    def __init__(self, project: ProjectRevision, earlier: ProjectForms | None = None) -> None:
        self._project = project
        self._naming: Naming = project.naming
        self._earlier = earlier if earlier is not None and earlier._naming == project.naming else None
        self._has_same_tables = self._earlier is not None and self._earlier._project.tables == project.tables
        self._key_of = {definition.name: key for key, definition in project.definitions.items()}
        self._sql: dict[str, list[CanonicalSql]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._reads: dict[str, tuple[str, ...]] = {}
        self._taken: set[str] = set()
        """The keys of those whose forms are of the earlier revision."""
        self.forms: dict[str, Form] = {}

    def build(self, keys: Collection[str], progress: Progress | None = None) -> dict[str, Form]:
        """Return the forms of these definitions and of all that they read, each after those that it reads."""
        ordered = self.in_order(keys)
        for number, key in enumerate(ordered, start=1):
            self._build(key)
            if progress is not None:
                progress(number, len(ordered))
        return self.forms

    def _names_in(self, key: str) -> tuple[str, ...]:
        """Return the tables that a definition names; its SQL is parsed unless it is that of the earlier revision."""
        definition = self._project.definitions[key]
        earlier = self._earlier
        if earlier is not None and definition.is_same(earlier._project.definitions.get(key)):
            earlier._reads_of(key)
            return earlier._names[key]
        sql = self._parsed(key)
        return tuple(
            dict.fromkeys((*definition.reads, *(one for each in sql for one in tables_of(each, self._naming))))
        )

    def _parsed(self, key: str) -> list[CanonicalSql]:
        if key not in self._sql:
            definition = self._project.definitions[key]
            own = definition.relation is None
            texts = (definition.text, definition.later_text) if own else (definition.made_by,)
            self._sql[key] = [read_sql(text, self._naming.dialect) for text in texts if text is not None]
        return self._sql[key]

    def _reads_of(self, key: str) -> tuple[str, ...]:
        if key not in self._reads:
            names = self._names[key] = self._names_in(key)
            found = (self._key_of.get(name) for name in names)
            self._reads[key] = tuple(dict.fromkeys(one for one in found if one is not None and one != key))
        return self._reads[key]

    def in_order(self, wanted: Collection[str]) -> list[str]:
        """Return these keys and those of all that they read, each after what it reads as far as there is no cycle."""
        done: dict[str, None] = {}
        opened: set[str] = set()
        for first in self._project.definitions:
            if first not in wanted:
                continue
            stack = [(first, False)]
            while stack:
                key, expanded = stack.pop()
                if expanded:
                    done[key] = None
                elif key not in opened:
                    opened.add(key)
                    stack.append((key, True))
                    stack.extend((other, False) for other in reversed(self._reads_of(key)))
        return list(done)

    def _build(self, key: str) -> None:
        """Make the forms of a definition."""
        definition = self._project.definitions[key]
        earlier = self._earlier.forms.get(key) if self._earlier is not None and self._has_same_tables else None
        if earlier is not None and definition.is_same(earlier.definition) and self._reads_the_same(key, earlier):
            self.forms[key] = replace(earlier, definition=definition)
            self._taken.add(key)
            return
        sql = self._parsed(key)
        text = digest("text", definition.written if definition.written is not None else definition.text)
        if definition.relation is not None:
            full = own = self._with_names(definition, definition.relation, sql)
            if definition.reads:
                contents = [self._stored(name).content for name in definition.reads]
                full = replace(full, rows=digest(full.rows, contents))
        else:
            full = self._form(definition, sql, self._stored)
            own = self._form(definition, sql, self._given)
        if definition.contract:
            full, own = (_cast(one, definition.contract) for one in (full, own))
        if definition.column_order:
            full, own = (_in_order(one, definition.column_order) for one in (full, own))
        if definition.content:
            settings = digest("settings", [list(pair) for pair in definition.content])
            full, own = (replace(one, rows=digest(one.rows, settings)) for one in (full, own))
        physical = digest("physical", [list(pair) for pair in definition.physical])
        problems = (one.problem for each in sql for one in each.statements if one.problem is not None)
        problem = next((found.message for found in problems), None)
        is_stored = definition.build not in (Build.VIEW, Build.EPHEMERAL)
        stored = full.built(physical, is_stored=is_stored)
        self.forms[key] = Form(definition, full, own, stored, text, self._reads[key], self._names[key], problem)
        self._sql.pop(key)

    def _reads_the_same(self, key: str, earlier: Form) -> bool:
        """Return whether all that a definition reads has the forms of the earlier revision."""
        reads = self._reads[key]
        return reads == earlier.reads and self._taken.issuperset(reads)

    def _form(self, definition: TableDefinition, sql: list[CanonicalSql], lookup: _Lookup) -> TableForm:
        first = self._query(definition, sql[0], self._seen_by(definition, lookup, None))
        if definition.build is Build.SNAPSHOT:
            return _with_history(first, first, [value for _, value in first.columns], "snapshot")
        if definition.build is not Build.INCREMENTAL:
            return first
        later = first
        if len(sql) > 1:
            later = self._query(definition, sql[1], self._seen_by(definition, lookup, first))
        merged = [first.find(name) for name in definition.keys]
        values = [value for value in merged if value is not None]
        if len(values) < len(merged):
            values = [value for _, value in first.columns]
        return _with_history(first, later, values, "incremental")

    def _with_names(self, definition: TableDefinition, relation: TableForm, sql: Sequence[CanonicalSql]) -> TableForm:
        """Return what several statements make with the names of its columns: those of the first one, as altered."""
        if definition.made_by is None:
            return relation
        first = sql[0].canonical(self._naming, self._stored, definition.reads, self._project.functions)
        if first.is_open:
            return relation
        columns = (ColumnSchema(name) for name, _ in first.columns)
        altered = altered_columns(columns, definition.alterations, self._naming.dialect)
        return opaque_table(relation.rows, [one.name for one in altered])

    def _query(self, definition: TableDefinition, sql: CanonicalSql, lookup: _Lookup) -> TableForm:
        if definition.doubts:
            contents = [lookup(name) for name in definition.reads]
            return opaque_table(digest("in doubt", sql.text, [one.content for one in contents]))
        form = sql.canonical(self._naming, lookup, definition.reads, self._project.functions)
        # With fewer values than columns, the others have their defaults.
        named = form.renamed(definition.names[: len(form.columns)])
        return named if named is not None else opaque_table(form.content)

    def _seen_by(self, definition: TableDefinition, lookup: _Lookup, own: TableForm | None) -> _Lookup:
        """Return the look-up of one definition: in later builds, it reads what it has written before."""
        itself = own if own is not None else base_table("\x00itself")
        return lambda name: itself if name == definition.name else lookup(name)

    def _stored(self, name: str) -> TableForm:
        key = self._key_of.get(name)
        if key is None:
            return self._project.tables.get(name) or base_table(name)
        form = self.forms.get(key)
        if form is None:  # a cycle
            return opaque_table(digest("cycle", key, self._texts(key)))
        return form.stored

    def _texts(self, key: str) -> Iterable[str]:
        """Return the texts of a definition and all that it reads, of which none is resolved yet.

        Of tables that are given, or that several statements make, it is a digest of these.
        """
        seen = {key: None}
        for one in seen.copy():
            stack = [one]
            while stack:
                for other in self._reads_of(stack.pop()):
                    if other not in seen:
                        seen[other] = None
                        stack.append(other)
        given = ((one, self._project.definitions[one].relation) for one in sorted(seen))
        contents = [digest(one, relation.content) for one, relation in given if relation is not None]
        return [*(sql.text for one in sorted(seen) for sql in self._parsed(one)), *contents]

    def _given(self, name: str) -> TableForm:
        """Return a table as given: its columns by name, whatever they are made of."""
        key = self._key_of.get(name)
        if key is None:
            return self._stored(name)
        form = self.forms.get(key)
        if form is None or form.full.is_open or not form.full.is_ordered:
            return base_table(f"\x00{key}")
        return form.full.as_given(f"\x00{key}")


def _cast(form: TableForm, types: Mapping[str, str]) -> TableForm:
    """Return a table whose columns are stored as these types."""

    def stored(value: ValueForm, kind: str) -> ValueForm:
        return ValueForm(digest("contract", value.digest, kind), value.before_cast, kind, value.stability)

    columns = tuple((name, stored(value, types[name]) if name in types else value) for name, value in form.columns)
    return replace(form, columns=columns)


def _in_order(form: TableForm, names: Sequence[str]) -> TableForm:
    """Return a table with its columns in the order of a contract or a CREATE; as it is if not all are named there."""
    places = {name: number for number, name in enumerate(names)}
    own = {name for name, _ in form.columns}
    if form.is_open or len(own) < len(form.columns) or not own <= places.keys():
        return form
    return replace(form, columns=tuple(sorted(form.columns, key=lambda one: places[one[0]])), is_ordered=True)


def _with_history(first: TableForm, later: TableForm, merged: list[ValueForm], kind: str) -> TableForm:
    """Return a table whose rows come from several builds: the first, and later ones merged into it by some columns."""
    rows = digest(kind, first.rows, later.rows, [value.digest for value in merged])

    def both(name: str, value: ValueForm) -> ValueForm:
        other = later.find(name)
        later_value = other if other is not None else ValueForm(digest("missing", later.content))
        return ValueForm(
            digest(kind, value.digest, later_value.digest),
            digest(kind, value.before_cast, later_value.before_cast),
            value.type,
            max(value.stability, later_value.stability),
        )

    return TableForm(
        rows,
        tuple((name, both(name, value)) for name, value in first.columns),
        digest(kind, first.order, later.order),
        first.rest and digest(kind, first.rest, later.rest),
        first.is_ordered and later.is_ordered,
        max(first.stability, later.stability),
        (*first.clauses, *later.clauses),
    )

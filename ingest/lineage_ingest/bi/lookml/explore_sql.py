"""The SQL of an explore: its view, its joins, and the conditions that always hold.

https://cloud.google.com/looker/docs/reference/param-explore
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lineage.model.diagnostics import Severity
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.lookml.explore_fields import ExploreFields
from lineage_ingest.bi.lookml.field_sql import REFERENCE
from lineage_ingest.bi.lookml.filter_fields import filter_fields
from lineage_ingest.bi.lookml.lookml_project import Named
from lineage_ingest.bi.lookml.tiles import explore_column
from lineage_ingest.bi.lookml.view_tables import LookmlQuery, ViewTables
from lineage_ingest.bi.templates.sql_templates import choice_of
from lineage_ingest.bi.templates.written_sql import LITERAL, plain_name, quote

__all__ = ["ExploreSql"]

_JOINS = {"left_outer": "LEFT JOIN", "full_outer": "FULL JOIN", "inner": "JOIN", "cross": "CROSS JOIN"}
_RAW = re.compile(r"(?<![\w.\"`\]])(\w+)\.(?=[A-Za-z_])")
"""What a column is written behind: `orders.id`, and not `"orders"."id"`."""
_VALUES = ("filters", "parameters")
_OWN_TABLE = " (table)"
"""What the alias of a view's own table ends with in an explore, in which the view's alias is that of its fields."""


class ExploreSql:
    """Writes the SQL of one explore as (a part of) a query."""

    def __init__(self, explore: Named, tables: ViewTables, query: LookmlQuery) -> None:
        definition = explore.definition
        self._explore = explore
        self._tables = tables
        self._query = query
        self._base = str(definition.get("from") or definition.get("view_name") or explore.name)
        self._alias = str(definition.get("view_name") or explore.name)
        self._joins = _in_order(objects_in(definition.get("joins")))
        self._views = {self._alias: self._base, **{_alias(join): _view_of(join) for join in self._joins}}
        """Names of views by their aliases."""
        self._unnested = {_alias(join) for join in self._joins if isinstance(join.get("sql"), str)}
        """Aliases of views whose rows the SQL of a join makes."""
        given = {_alias(one): one.get("sql_table_name") for one in self._joins}
        given[self._alias] = definition.get("sql_table_name")
        self._named_views = {
            alias: _over_table(tables.views[name], given.get(alias))
            for alias, name in self._views.items()
            if name in tables.views
        }
        """Views by their aliases, over the tables that the explore or a join gives them."""
        self._fields = {
            alias: tables.fields(view, query.dialect, alias if alias in self._unnested else f"{alias}{_OWN_TABLE}")
            for alias, view in self._named_views.items()
        }
        for alias, fields in self._fields.items():
            fields.name = alias
        self._used: set[str] = set()
        self._being_written: set[tuple[str, str]] = set()

    def sql(self, wanted: Iterable[str] | None = None) -> str:
        """Return the SQL; with `wanted`, of these fields and the joins that they need.

        A field is `view.field`; one without a view is of the explore's own.
        """
        outputs = [self._output(one) for one in dict.fromkeys(self._shown() if wanted is None else wanted)]
        conditions = list(self._conditions())
        joined: list[str] = []
        self._used.update(map(str, self._explore.definition.get("always_join") or ()))
        for join in reversed(self._joins):  # what a condition reads is joined before it
            if wanted is None or _alias(join) in self._used:
                joined.insert(0, self._join(join))
                self._used.update(_views_read(join))
        source = self._source(self._alias, self._base)
        for alias, fields in self._fields.items():
            for problem in fields.problems.found if wanted is None or alias in self._used else ():
                self._query.problems.add(problem)
        written = "\n".join((*outputs, *joined, *conditions))
        lines = [f"FROM {source} AS {self._plain(self._alias)}", *self._own_tables(written), *joined]
        sql = "SELECT " + (",\n  ".join(outputs) or "*") + "\n" + "\n".join(lines)
        return sql + ("\nWHERE " + "\n  AND ".join(conditions) if conditions else "")

    def current_name(self, field: str) -> str:
        """Return the name of a field `view.field`, which may be named by a former name."""
        view, _, own = field.rpartition(".")
        fields = self._fields.get(view or self._alias)
        current = fields.current_name(own) if fields is not None else None
        return field if current is None else f"{view}.{current}" if view else current

    def is_value(self, field: str) -> bool:
        """Return whether a field `view.field` is a filter without SQL or a parameter: templates read it, no column."""
        alias, _, own = field.rpartition(".")
        alias = alias or self._alias
        fields, view = self._fields.get(alias), self._named_views.get(alias)
        if fields is None or view is None or own in fields.fields:
            return False
        return any(str(one.get("name")) == own for kind in _VALUES for one in objects_in(view.definition.get(kind)))

    def is_dimension(self, field: str) -> bool:
        """Return whether a field `view.field` is known and no measure: Looker groups by it."""
        view, _, own = self.current_name(field).rpartition(".")
        fields = self._fields.get(view or self._alias)
        return fields is not None and own in fields.fields and fields.fields[own].kind != "measure"

    def _source(self, alias: str, view: str) -> str:
        """Return what stands in FROM for a view: the query of the view, or one of its fields over another table."""
        own = self._named_views.get(alias)
        if own is None or own is self._tables.views[view]:
            return self._tables.reference(view, self._query)
        return f"(\n{self._tables.select(own, self._query) or 'SELECT NULL'}\n)"

    def _shown(self) -> list[str]:
        """Return the fields that the explore shows, as `view.field`."""
        definitions = {alias: view.definition for alias, view in self._named_views.items()}
        chosen = ExploreFields({alias: known.fields for alias, known in self._fields.items()}, definitions)
        listed = chosen.shown(self._explore.definition, self._alias, self._joins)
        for name in dict.fromkeys(chosen.unknown):
            message = f"the fields of the explore {self._explore.name} name {name}, which is not in it"
            self._query.problems.add(not_read(message, severity=Severity.WARNING))
        return listed

    def _output(self, name: str) -> str:
        text = self._named(name)
        if text is None:
            self._query.problems.add_not_read(f"the field {name} is not in the explore {self._explore.name}")
        return f"{text or 'NULL'} AS {self._quote(explore_column(name))}"

    def _conditions(self) -> Iterator[str]:
        """Yield the conditions that decide the rows, whatever a user chooses."""
        definition = self._explore.definition
        for key in ("sql_always_where", "sql_always_having"):
            if definition.get(key):
                yield f"({self._expand(str(definition[key]))}\n)"
        for join in self._joins:
            if join.get("sql_where"):
                yield f"({self._expand(str(join['sql_where']))}\n)"
        for name in _filtered_always(definition):
            text = self._named(name)
            if text is not None:
                yield f"({text} = {LITERAL})"
            elif not self.is_value(name):
                message = f"the explore {self._explore.name} is filtered by {name}, which is not in it"
                self._query.problems.add_not_read(message)

    def _own_tables(self, written: str) -> list[str]:
        """Return the joins of the tables of views whose fields read another view, too: they read their own columns."""
        return [
            f"CROSS JOIN {self._tables.source(self._named_views[alias], self._query)} AS {fields.table}"
            for alias, fields in reversed(self._fields.items())
            if fields.table in written and alias not in self._unnested
        ]

    # Fields

    def _named(self, name: str) -> str | None:
        """Return the SQL of `view.field`, or of a field of the explore's own view."""
        view, dot, own = name.partition(".")
        return self._field(view, own) if dot else self._field(self._alias, name)

    def _field(self, view: str, name: str) -> str | None:
        """Return the SQL of a field; None if it is not in the explore."""
        fields = self._fields.get(view)
        current = fields.current_name(name) if fields is not None else None
        if fields is None or current is None:
            return None
        name = current
        self._used.add(view)
        if view not in self._unnested and not fields.is_foreign(name):
            return f"{self._plain(view)}.{self._quote(name)}"
        if (view, name) in self._being_written:
            self._query.problems.add_not_read(f"the field {view}.{name} reads itself")
            return "NULL"
        self._being_written.add((view, name))
        text = f"({fields.sql(name, self._field)})"
        self._being_written.discard((view, name))
        return text

    def _expand(self, text: str, is_expression: bool = True) -> str:
        """Return SQL of the explore with constants, Liquid and references to fields replaced."""

        def replace(found: re.Match[str]) -> str:
            view, dot, name = found[1].rpartition(".")
            written = self._field(view if dot else self._alias, name)
            if written is None:
                message = f"{found[0]} is not a field of a view of the explore {self._explore.name}"
                self._query.problems.add_not_read(message)
            return written or "NULL"

        def is_valid(one: str) -> bool:
            return is_expression and self._query.parses(f"SELECT {REFERENCE.sub('NULL', one)}")

        texts = self._query.liquid_texts(self._tables.with_constants(text), is_valid)
        return choice_of([self._of_tables(REFERENCE.sub(replace, one)) for one in texts])

    def _of_tables(self, text: str) -> str:
        """Return SQL in which columns of tables, written without `${…}`, are those of the views' own tables."""

        def replace(found: re.Match[str]) -> str:
            fields = self._fields.get(found[1])
            return found[0] if fields is None or found[1] in self._unnested else f"{fields.table}."

        return _RAW.sub(replace, text)

    # Joins

    def _join(self, join: Mapping[str, Any]) -> str:
        alias = _alias(join)
        if isinstance(join.get("sql"), str):
            return self._expand(join["sql"], is_expression=False)
        kind = str(join.get("type") or "left_outer")
        if kind not in _JOINS:
            self._query.problems.add_not_read(f"the join type {kind!r} of {alias} is not known")
        source = self._source(alias, _view_of(join))
        head = f"{_JOINS.get(kind, 'LEFT JOIN')} {source} AS {self._plain(alias)}"
        if kind == "cross":
            return head
        condition = self._expand(join["sql_on"]) if isinstance(join.get("sql_on"), str) else self._foreign_key(join)
        if condition is None:
            self._query.problems.add_not_read(f"the condition of the join {alias} is not known")
        return f"{head} ON {condition or 'TRUE'}"

    def _foreign_key(self, join: Mapping[str, Any]) -> str | None:
        """Return the condition of a join by `foreign_key`, which equals the primary key of the joined view."""
        key = str(join.get("foreign_key") or "")
        view = self._tables.views.get(_view_of(join))
        dimensions = view.definition.get("dimensions") or () if view is not None else ()
        primary = next((str(one.get("name")) for one in dimensions if str(one.get("primary_key")) == "yes"), None)
        if not key or primary is None:
            return None
        left = self._expand("${" + (key if "." in key else f"{self._alias}.{key}") + "}")
        return f"{left} = {self._plain(_alias(join))}.{self._quote(primary)}"

    def _quote(self, name: str) -> str:
        return quote(name, self._query.dialect)

    def _plain(self, name: str) -> str:
        return plain_name(name, self._query.dialect)


def _alias(join: Mapping[str, Any]) -> str:
    return str(join.get("name"))


def _over_table(view: Named, table: Any) -> Named:
    """Return a view over the given table, if one is given."""
    if not table:
        return view
    own = {key: value for key, value in view.definition.items() if key != "derived_table"}
    return replace(view, definition={**own, "sql_table_name": table})


def _view_of(join: Mapping[str, Any]) -> str:
    return str(join.get("from") or join.get("view_name") or join.get("name"))


def _in_order(joins: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return joins, each after those whose views its condition reads: Looker orders them so."""
    names = {_alias(one) for one in joins}
    waiting, found, known = list(joins), [], set[str]()
    while waiting:
        ready = next((one for one in waiting if not (_views_read(one) & names) - known), waiting[0])
        waiting.remove(ready)
        found.append(ready)
        known.add(_alias(ready))
    return found


def _views_read(join: Mapping[str, Any]) -> set[str]:
    """Return the views that a join needs, without its own: those in its condition, and `required_joins`."""
    texts = (str(join.get(key) or "") for key in ("sql_on", "sql"))
    read = {one.rpartition(".")[0] for text in texts for one in REFERENCE.findall(text) if "." in one}
    read.update(map(str, join.get("required_joins") or ()))
    key = str(join.get("foreign_key") or "")
    return (read | ({key.rpartition(".")[0]} if "." in key else set())) - {_alias(join)}


def _filtered_always(definition: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields by which an explore is always filtered: for all users, by default, or by who the user is."""
    for key in ("always_filter", "conditionally_filter"):
        if isinstance(definition.get(key), Mapping):
            yield from filter_fields(definition[key])
    for one in objects_in(definition.get("access_filters")):
        if one.get("field"):
            yield str(one["field"])
    yield from map(str, definition.get("access_filter_fields") or ())

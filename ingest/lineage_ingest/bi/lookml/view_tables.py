"""What a view reads: its table, its derived table, or the table of another view (`${view.SQL_TABLE_NAME}`).

https://cloud.google.com/looker/docs/reference/param-view-sql-table-name
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lineage_ingest.bi.exported import QueryProblems, slug
from lineage_ingest.bi.lookml.field_sql import REFERENCE, ViewFields, liquid_texts
from lineage_ingest.bi.lookml.lookml_project import Named
from lineage_ingest.bi.templates.sql_templates import TEMPLATED, parses, union_of
from lineage_ingest.bi.templates.written_sql import asset_reference, plain_name, quote

__all__ = ["LookmlQuery", "ViewTables"]

_CONSTANT = re.compile(r"@\{(\w+)\}")


@dataclass(slots=True)
class LookmlQuery:
    """The query that is being written: its dialect, what of it could not be read, the keys of queries that it reads."""

    dialect: str
    problems: QueryProblems = field(default_factory=QueryProblems)
    needs: dict[str, None] = field(default_factory=dict)

    def reference(self, key: str) -> str:
        """Return the reference to another query, and note that it is read."""
        self.needs[key] = None
        return asset_reference(key, self.dialect)

    def liquid_texts(self, text: str, is_valid: Callable[[str], bool]) -> list[str]:
        """Return the SQL that a text with Liquid can become, without the semicolon at its end; doubts are reported."""
        texts, problems = liquid_texts(text.strip().rstrip(";"), is_valid, self.dialect)
        for problem in problems:
            self.problems.add(problem)
        return texts

    def parses(self, sql: str) -> bool:
        """Return whether SQL is one statement without an error."""
        return parses(sql, self.dialect)


class ViewTables:
    """The views of a project as tables that queries read. `with_constants` replaces the constants in a text."""

    def __init__(self, views: Mapping[str, Named], with_constants: Callable[[str], str]) -> None:
        self.views = views
        self.with_constants = with_constants

    def fields(self, view: Named, dialect: str, alias: str = "") -> ViewFields:
        """Return the fields of a view, whose table has this alias; by default the view's name."""
        return ViewFields(view.name, view.definition, dialect, self.with_constants, alias)

    def reference(self, name: str, query: LookmlQuery) -> str:
        """Return the reference to a view."""
        if name not in self.views:
            query.problems.add_not_read(f"the view {name} is not in the project")
            return f"(SELECT NULL AS {quote('unknown', query.dialect)})"
        return query.reference(f"view/{slug(name)}")

    def source(self, view: Named, query: LookmlQuery, readers: tuple[str, ...] = ()) -> str:
        """Return what a view reads: its derived table, the given table, else the table of the view's name.

        `readers` are the views by way of which it is read: a view that reads itself is reported.
        """
        return union_of(self._sources(view, query, readers))

    def _sources(self, view: Named, query: LookmlQuery, readers: tuple[str, ...] = ()) -> list[str]:
        """Return what a view reads: several if a template decides which table that is."""
        if "derived_table" in view.definition:
            return [query.reference(f"derived_table/{slug(view.name)}")]
        text = str(view.definition.get("sql_table_name") or view.name).strip().rstrip(";").strip()
        text = self.with_constants(text)
        if "@{" in text:
            query.problems.add_not_read(f"a constant in the table of {view.name} is not in the project's manifest")
            text = _CONSTANT.sub(TEMPLATED, text)

        def is_valid(one: str) -> bool:
            return query.parses(f"SELECT * FROM {REFERENCE.sub('t', one)} AS v")  # noqa: S608

        texts = query.liquid_texts(text, is_valid)
        return [self.with_tables(one, query, (*readers, view.name)) for one in texts]

    def select(self, view: Named, query: LookmlQuery) -> str | None:
        """Return the query of a view's own fields; None if it has none."""
        sources = self._sources(view, query)
        fields = self.fields(view, query.dialect)
        listed = [
            f"{fields.sql(name, lambda _view, _name: None)} AS {quote(name, query.dialect)}"
            for name in fields.fields
            if not fields.is_foreign(name)
        ]
        for problem in fields.problems.found:
            query.problems.add(problem)
        if not listed:
            return None
        head, alias = "SELECT " + ",\n  ".join(listed), plain_name(view.name, query.dialect)
        return "\nUNION ALL ".join(f"{head}\nFROM {source} AS {alias}" for source in sources)

    def with_tables(self, text: str, query: LookmlQuery, readers: tuple[str, ...] = ()) -> str:
        """Return SQL in which `${view.SQL_TABLE_NAME}` is what that view reads."""

        def replace(found: re.Match[str]) -> str:
            name, _, last = found[1].rpartition(".")
            view = self.views.get(name)
            if last != "SQL_TABLE_NAME" or view is None:
                query.problems.add_not_read(f"{found[0]} is not known")
                return "NULL"
            if name in readers:
                query.problems.add_not_read(f"the table of the view {name} is that of itself")
                return quote(name, query.dialect)
            return self.source(view, query, readers)

        return REFERENCE.sub(replace, text)

"""What a view reads: its table, its derived table, or the table of another view (`${view.SQL_TABLE_NAME}`).

https://cloud.google.com/looker/docs/reference/param-view-sql-table-name
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lineage_ingest.bi.exported import QueryProblems, slug
from lineage_ingest.bi.lookml.field_sql import ViewFields, without_liquid
from lineage_ingest.bi.lookml.lookml_project import Named
from lineage_ingest.bi.written_sql import asset_reference, quote

__all__ = ["REFERENCE", "LookmlQuery", "ViewTables"]

REFERENCE = re.compile(r"\$\{([\w.]+)\}")
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

    def without_liquid(self, text: str) -> str:
        """Return SQL without Liquid and without the semicolon at its end; what is not certain is reported."""
        plain, problems = without_liquid(text.strip().rstrip(";"))
        for problem in problems:
            self.problems.add(problem)
        return plain


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
        if "derived_table" in view.definition:
            return query.reference(f"derived_table/{slug(view.name)}")
        text = str(view.definition.get("sql_table_name") or view.name).strip().rstrip(";").strip()
        plain = query.without_liquid(self.with_constants(text))
        if "@{" in plain:
            query.problems.add_not_read(f"a constant in the table of {view.name} is not in the project's manifest")
            plain = _CONSTANT.sub(r"\1", plain)
        return self.with_tables(plain, query, (*readers, view.name))

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

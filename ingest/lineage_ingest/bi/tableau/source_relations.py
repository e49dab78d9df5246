"""Relations of a data source: tables, custom SQL, joins, unions, as SQL in FROM."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import (
    BiConnection,
    ConnectionMap,
    default_schema,
    dialect_of_engine,
    server_namespace,
)
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.tableau.formula import formula_as_sql
from lineage_ingest.bi.templates.written_sql import LITERAL, quote, table_reference

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = [
    "MADE_BY_UNION",
    "OVER_SEVERAL",
    "Relations",
    "aliases",
    "connection_of_element",
    "leaves",
    "outer_names",
    "pivoted_columns",
    "plain_tag",
    "relation_of",
    "unbracketed",
]

OVER_SEVERAL = "duckdb"
"""The dialect of a query over several connections, which Tableau runs itself: names are compared without case."""

_PART = re.compile(r"\[((?:[^\]]|\]\])*)\]")
_JOINS = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN", "cross": "CROSS JOIN"}
_FILES = frozenset(("excel-direct", "textscan", "hyper", "dataengine", "msaccess", "json", "ogrdirect", "google-sheets",
                    "semistructpassivestore-direct", "excel"))  # fmt: skip
_SHARED_FILES = frozenset(("google-sheets",))
"""Files that are the same for all workbooks: their name is an id."""
_ABSOLUTE = re.compile(r"/|[A-Za-z]:|[A-Za-z][\w+.-]+://")
MADE_BY_UNION = frozenset(("Table Name", "Sheet", "Path", "File Paths"))
"""Columns that Tableau makes of a union: which of its tables a row is of."""
_PARAMETER = re.compile(r"<\s*\[?Parameters\]?\s*\.\s*(?:\[[^\]]*\]|\w+)\s*>", re.IGNORECASE)


def plain_tag(element: Element) -> str:
    """Return an element's tag without the mark of a format feature (`_.fcp.….true...relation`)."""
    return element.tag.rsplit("...", 1)[-1]


def unbracketed(name: str) -> tuple[str, ...]:
    """Return the parts of a bracketed name.

    >>> unbracketed("[dbo].[Order Items]"), unbracketed("plain")
    (('dbo', 'Order Items'), ('plain',))
    """
    return tuple(part.replace("]]", "]") for part in _PART.findall(name)) or (name,)


def relation_of(connection: Element) -> Element | None:
    """Return the relation of a data source's connection; of two forms, the newer one."""
    found = [child for child in connection if plain_tag(child) == "relation"]
    return next((one for one in found if ".true..." in one.tag), found[0] if found else None)


def connection_of_element(
    element: Element, names: tuple[str, ...], connections: ConnectionMap, scope: str
) -> BiConnection:
    """Return the connection that a `connection` element describes, with what the options say of it.

    A file with a relative path is one beside or in the workbook, so its name begins with the workbook's `scope`.
    """
    engine = str(element.get("class") or "")
    dialect = dialect_of_engine(engine)
    server, port, database = element.get("server") or "", element.get("port"), element.get("dbname")
    namespace = server_namespace(dialect, server, port)
    schema = element.get("schema")
    if engine in _FILES:
        path = [element.get("directory"), element.get("filename") or database]
        file = "/".join(one.replace("\\", "/").rstrip("/") for one in path if one)
        if file and engine not in _SHARED_FILES and _ABSOLUTE.match(file) is None:
            file = f"{scope}{file}"
        return connections.apply(BiConnection(names, "ansi", "file", file))
    if dialect == "bigquery":
        database = element.get("CATALOG") or element.get("project") or database
    if dialect in ("mysql", "hive", "spark"):
        database, schema = None, schema or database
    schema = schema or default_schema(dialect)
    return connections.apply(
        BiConnection(
            names, dialect or "ansi", namespace, database or None, schema or None, is_known=dialect is not None
        )
    )


@dataclass(slots=True)
class Relations:
    """Writes a relation as SQL. `table` returns the reference to a relation of another connection than the query's."""

    dialect: str
    connection: BiConnection
    table: Callable[[Element], str | None] = lambda _element: None
    problems: list[Diagnostic] = field(default_factory=list)
    field_sql: Callable[[str], str | None] = lambda _name: None
    """Returns the SQL of a field by its internal name: what relationships of the data model compare."""
    columns_of: Callable[[str], Sequence[str]] = lambda _name: ()
    """Returns the columns of a relation by its name, if they are listed."""
    relationships: Sequence[Element] = ()

    def write(self, relation: Element, depth: int = 0) -> str:
        """Return the SQL of a relation, with its alias."""
        kind = relation.get("type") or "table"
        name = relation.get("name") or "relation"
        if depth > 50:
            self._report("joins nest too deeply to be read")
            return "(SELECT NULL) AS deep"
        if kind == "join":
            return self._join(relation, depth)
        if kind == "collection":
            return self._collection(relation, depth)
        other = self.table(relation)
        if other is not None:
            return f"{other} AS {quote(name, self.dialect)}"
        if kind == "union":
            return self._union(relation, name, depth)
        if kind == "pivot":
            return self._pivot(relation, name, depth)
        return f"{self.source(relation)} AS {quote(name, self.dialect)}"

    def source(self, relation: Element) -> str:
        """Return the SQL of a table or of custom SQL, without an alias."""
        kind = relation.get("type") or "table"
        if kind == "text":
            return f"(\n{self._custom_sql(relation.text or '')}\n)"
        if kind != "table":
            self._report(f"a relation of type {kind!r} is not read")
            return f"(SELECT {self._nulls(str(relation.get('name') or ''))})"
        return self._table(unbracketed(relation.get("table") or relation.get("name") or ""))

    def _table(self, parts: Sequence[str]) -> str:
        """Return the reference to a table; one of a file is named by the file's path, and the sheet or table in it."""
        file = self.connection.database if self.connection.namespace == "file" else None
        if not file:
            return table_reference(parts, self.dialect)
        is_file = parts[-1] == file.rpartition("/")[2].replace(".", "#")  # so Tableau names the only table of a text
        return quote(file if is_file else f"{file}/{'.'.join(parts)}", self.dialect)

    def _custom_sql(self, text: str) -> str:
        """Return custom SQL with its parameters as literals; in the file, `<` and `>` are doubled."""
        plain = _PARAMETER.sub(LITERAL, text)
        if plain != text:
            self.problems.append(not_read("a parameter in custom SQL is read as a literal", severity=Severity.INFO))
        return plain.replace("<<", "<").replace(">>", ">").replace("==", "=").strip().rstrip(";")

    def _join(self, relation: Element, depth: int) -> str:
        parts = [self.write(one, depth + 1) for one in relation if plain_tag(one) == "relation"]
        if len(parts) < 2:
            self._report("a join has fewer than two sides")
            return parts[0] if parts else "(SELECT NULL) AS nothing"
        kind = str(relation.get("join") or "inner")
        if kind not in _JOINS:
            self._report(f"the join type {kind!r} is not known")
        condition = next((one for one in relation if plain_tag(one) == "clause"), None)
        expression = condition.find("expression") if condition is not None else None
        written = self._expression(expression) if expression is not None else "TRUE"
        if expression is None and kind != "cross":
            self._report("the condition of a join is not known")
        on = "" if kind == "cross" else f" ON {written}"
        return f"{parts[0]}\n{_JOINS.get(kind, 'JOIN')} {parts[1]}{on}"

    def _collection(self, relation: Element, depth: int) -> str:
        """Return tables related in the data model: Tableau joins those that a worksheet uses."""
        parts = list(dict.fromkeys(self.write(one, depth + 1) for one in relation if plain_tag(one) == "relation")) or [
            "(SELECT NULL) AS nothing"
        ]
        if len(parts) == 1:
            return parts[0]
        conditions = [
            self._expression(one)
            for relationship in self.relationships
            for one in relationship
            if plain_tag(one) == "expression"
        ]
        if len(conditions) < len(parts) - 1:
            what = "the tables" if not conditions else "some tables"
            self._report(f"by which columns {what} of the data model are related is not known")
        on = f"\nJOIN {parts[-1]} ON {' AND '.join(conditions)}" if conditions else f"\nCROSS JOIN {parts[-1]}"
        return "\nCROSS JOIN ".join(parts[:-1]) + on

    def _union(self, relation: Element, name: str, depth: int) -> str:
        parts = [self.table(one) or self.source(one) for one in relation if plain_tag(one) == "relation"]
        if depth > 50 or not parts:
            return "(SELECT NULL) AS nothing"
        columns = self.columns_of(name)
        listed = ", ".join(
            f"{LITERAL if one in MADE_BY_UNION else f'u.{quote(one, self.dialect)}'} AS {quote(one, self.dialect)}"
            for one in dict.fromkeys(columns)
        )  # Tableau combines columns of one name, wherever they are
        if columns:
            message = f"the tables of the union {name!r} are all taken to have all of its columns"
            self.problems.append(not_read(message, severity=Severity.WARNING))
        selects = "\nUNION ALL ".join(f"SELECT {listed or '*'} FROM {one} AS u" for one in parts)  # noqa: S608
        return f"(\n{selects}\n) AS {quote(name, self.dialect)}"

    def _pivot(self, relation: Element, name: str, depth: int) -> str:
        """Return a table of which Tableau makes rows of columns: one column has their names, others their values."""
        inner = next((one for one in relation if plain_tag(one) == "relation"), None)
        if inner is None:
            self._report("a pivot has no table")
            return f"(SELECT {self._nulls(name)}) AS {quote(name, self.dialect)}"
        own = next(aliases(inner))
        made = {
            str(group.get("name")): [table_reference(_field(one, own), self.dialect) for one in group.iter("field")]
            for group in relation.iter("group")
            if group.get("name")
        }
        listed = [f"{LITERAL} AS {quote(str(tag.get('name')), self.dialect)}" for tag in relation.findall("tag")]
        listed += [
            f"pivoted({', '.join(fields) or LITERAL}) AS {quote(column, self.dialect)}"
            for column, fields in made.items()
        ]
        taken = {*made, *(str(tag.get("name")) for tag in relation.findall("tag"))}
        kept = [(table, one) for table in aliases(inner) for one in self.columns_of(table) if one not in taken]
        listed += [".".join(quote(part, self.dialect) for part in one) for one in dict.fromkeys(kept)]
        return f"(\nSELECT {', '.join(listed)}\nFROM {self.write(inner, depth + 1)}\n) AS {quote(name, self.dialect)}"

    def _nulls(self, name: str) -> str:
        """Return the columns of a relation that is not read, each without a source."""
        columns = dict.fromkeys(self.columns_of(name))
        return ", ".join(f"NULL AS {quote(one, self.dialect)}" for one in columns) or "NULL"

    def _expression(self, expression: Element, depth: int = 0) -> str:
        operator = next((text for key in _operators(expression) if (text := expression.get(key))), "")
        children = [one for one in expression if plain_tag(one) == "expression"]
        if not children:
            return self._operand(operator)
        parts = [self._expression(one, depth + 1) for one in children] if depth < 50 else ["NULL"]
        if operator.upper() in ("AND", "OR", "=", "<>", "!=", "<", ">", "<=", ">=", "=="):
            return "(" + f" {operator.upper().replace('==', '=')} ".join(parts) + ")"
        return f"join_of({', '.join(parts)})"

    def _operand(self, text: str) -> str:
        """Return what a condition compares: a field, a column of a table, or a calculation of them."""
        if _PART.search(text) is None:
            return LITERAL
        if re.fullmatch(rf"{_PART.pattern}(\.{_PART.pattern})*", text):
            return self._compared(text)
        written, is_read = formula_as_sql(text, self._compared, self.dialect)
        if not is_read:
            message = "a calculation in the condition of a join is not read: only its fields are known"
            self.problems.append(not_read(message, severity=Severity.WARNING))
        return written

    def _compared(self, name: str) -> str:
        own = self.field_sql(name)
        if own is not None:
            return f"({own})"
        parts = unbracketed(name)
        if len(parts) > 1:
            return ".".join(quote(part, self.dialect) for part in parts)
        self._report(f"the condition of a join names {name}, which is not in the data source")
        return LITERAL

    def _report(self, message: str) -> None:
        self.problems.append(not_read(message))


def _field(element: Element, table: str) -> tuple[str, ...]:
    """Return a column that a pivot reads; `table` is that of one without a table."""
    parts = unbracketed(element.get("name") or (element.text or "").strip())
    return (table, *parts) if len(parts) == 1 else parts


def pivoted_columns(relation: Element, table: str) -> list[str]:
    """Return the columns of a table of which a pivot makes rows."""
    return [
        column
        for pivot in relation.iter()
        if plain_tag(pivot) == "relation" and pivot.get("type") == "pivot"
        for inner in pivot
        if plain_tag(inner) == "relation"
        for one in pivot.iter("field")
        for owner, column in [_field(one, next(aliases(inner)))[-2:]]
        if owner == table
    ]


def _operators(expression: Element) -> list[str]:
    """Return the attributes of an expression that are its operator; some have the mark of a format feature."""
    marked = [key for key in list(expression.attrib) if key.endswith("...op")]
    return [key for key in marked if ".true..." in key] + ["op"] + [key for key in marked if ".true..." not in key]


def aliases(relation: Element) -> Iterator[str]:
    """Yield the names that a relation's tables have in FROM; a union has one name."""
    inner = [child for child in relation if plain_tag(child) == "relation"]
    if relation.get("type") in ("join", "collection") and inner:
        for one in inner:
            yield from aliases(one)
    else:
        yield relation.get("name") or "relation"


def outer_names(relation: Element) -> dict[str, str]:
    """Return the names that unions and pivots have in FROM by those of the tables in them."""
    found: dict[str, str] = {}
    for outer in relation.iter():
        if plain_tag(outer) == "relation" and outer.get("type") in ("union", "pivot"):
            for inner in outer.iter():
                if plain_tag(inner) == "relation" and inner is not outer and inner.get("name"):
                    found.setdefault(str(inner.get("name")), str(outer.get("name") or "relation"))
    return found


def leaves(relation: Element) -> Iterator[Element]:
    """Yield the tables and custom SQL of a relation."""
    stack = [relation]
    while stack:
        node = stack.pop()
        inner = [child for child in node if plain_tag(child) == "relation"]
        if node.get("type") in ("join", "collection", "union", "pivot") and inner:
            stack.extend(reversed(inner))
        else:
            yield node

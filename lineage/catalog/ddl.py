"""Table schemas out of DDL text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sqlglot import exp
from sqlglot.errors import SqlglotError

from lineage.catalog.table import CatalogError, TableSchema
from lineage.model.dialects import Dialect
from lineage.model.names import format_name
from lineage.model.statement import ColumnSchema

__all__ = ["DdlParser", "parse_with", "read_ddl", "schema_columns"]


class DdlParser(Protocol):
    """How DDL text is parsed. `lineage.sql` knows: its scanner keeps from the parser what would crash it."""

    def __call__(self, text: str, dialect: Dialect) -> Iterable[exp.Expr | None]:
        """Return the statements; raise a SqlglotError where the text cannot be parsed."""


_parsers: list[DdlParser] = []


def parse_with(parser: DdlParser) -> None:
    """Let DDL be parsed so from now on. Importing `lineage` has done it."""
    _parsers[:] = [parser]


def schema_columns(schema: exp.Schema, dialect: Dialect) -> tuple[ColumnSchema, ...]:
    """Return the columns that CREATE TABLE's parentheses define, without the constraints."""
    columns = []
    for item in schema.expressions:
        if isinstance(item, exp.ColumnDef):
            name, kind = item.this, item.args.get("kind")
            data_type = kind.sql(dialect=_parser(dialect)).lower() if isinstance(kind, exp.Expr) else None
        elif isinstance(item, exp.Identifier):
            name, data_type = item, None
        else:
            continue
        folded = dialect.fold_column(name.this, quoted=bool(name.args.get("quoted")))
        columns.append(ColumnSchema(folded, data_type))
    return tuple(columns)


def read_ddl(text: str, dialect: Dialect, source: str = "DDL") -> Iterable[TableSchema]:
    """Return the tables that DDL text leaves behind, in its order.

    Raises:
        CatalogError: the text cannot be parsed; the message says where.
    """
    tables: dict[str, TableSchema] = {}
    try:
        statements = _parsers[0](text, dialect)
    except SqlglotError as error:
        raise CatalogError(f"{source}: {str(error).splitlines()[0]}") from error
    for statement in statements:
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            name = _name(statement.this.this, dialect)
            tables[name] = TableSchema(name, schema_columns(statement.this, dialect))
        elif isinstance(statement, exp.Drop):
            for table in statement.find_all(exp.Table):
                tables.pop(_name(table, dialect), None)
        elif isinstance(statement, exp.Alter) and isinstance(statement.this, exp.Table):
            _alter(tables, statement, dialect)
    return tables.values()


def _alter(tables: dict[str, TableSchema], statement: exp.Alter, dialect: Dialect) -> None:
    name = _name(statement.this, dialect)
    table = tables.get(name)
    if table is None:
        return
    for action in statement.args.get("actions") or ():
        if isinstance(action, exp.ColumnDef):
            added = schema_columns(exp.Schema(expressions=[action.copy()]), dialect)
            table = TableSchema(name, (*table.columns, *added))
        elif isinstance(action, exp.Drop) and isinstance(action.this, exp.Column | exp.Identifier):
            gone = dialect.fold_column(action.this.name)
            table = TableSchema(name, tuple(c for c in table.columns if c.name != gone))
    tables[name] = table


def _name(table: exp.Expr, dialect: Dialect) -> str:
    parts = [part for part in (table.args.get("catalog"), table.args.get("db"), table.this) if part]
    return format_name([dialect.fold_table(p.name, quoted=bool(p.args.get("quoted"))) for p in parts])


def _parser(dialect: Dialect) -> str | None:
    return None if dialect.name == "ansi" else dialect.name

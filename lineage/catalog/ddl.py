"""Read table schemas from DDL text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from lineage.catalog.table import CatalogError, TableSchema
from lineage.model.dialect import Dialect
from lineage.model.names import format_name, split_name
from lineage.model.statement import ColumnSchema, RowIdType
from lineage.sql.budget import Budget
from lineage.sql.parse.alterations import (
    Alteration,
    ColumnAlteration,
    column_alterations,
    new_table_name,
    reorder_columns,
)
from lineage.sql.parse.guard import PARSER_DEFECTS, NestingError, tools_of
from lineage.sql.parse.statements import parse_statements

_INTEGER = re.compile(
    r"""["'`\]]?\s*INTEGER\s*(?:[,)]|--|/\*|(?:PRIMARY|NOT|NULL|UNIQUE|DEFAULT|CHECK|COLLATE|REFERENCES|CONSTRAINT)\b)""",
    re.IGNORECASE,
)
"""What is behind a column's name if its type is INTEGER and no other."""

__all__ = ["altered_columns", "read_ddl", "schema_columns", "type_text"]


def schema_columns(schema: exp.Schema, dialect: Dialect, text: str = "") -> tuple[ColumnSchema, ...]:
    """Return the columns in the column list of CREATE TABLE, without the constraints.

    `text` is what the tree was parsed from: SQLite's INTEGER, which it tells from INT, is read from there.
    """
    columns = []
    key = _row_id(schema, text) if dialect.integer_key_is_row_id and text else None
    for item in schema.expressions:
        if isinstance(item, exp.ColumnDef):
            name, data_type = item.this, type_text(item.args.get("kind"), dialect)
        elif isinstance(item, exp.Identifier):
            name, data_type = item, None
        else:
            continue
        folded = dialect.fold_column(name.this, quoted=bool(name.args.get("quoted")))
        columns.append(ColumnSchema(folded, RowIdType(data_type) if item is key and data_type else data_type))
    return tuple(columns)


def _row_id(schema: exp.Schema, text: str) -> exp.Expr | None:
    """Return the definition of the column that is another name of the row's number: the INTEGER PRIMARY KEY."""
    columns = [item for item in schema.expressions if isinstance(item, exp.ColumnDef)]
    keys: list[exp.Expr] = []
    for column in columns:
        for constraint in column.args.get("constraints") or ():
            kind = constraint.args.get("kind")
            if isinstance(kind, exp.PrimaryKeyColumnConstraint) and not kind.args.get("desc"):
                keys.append(column)
    for item in schema.expressions:
        listed = item.this if isinstance(item, exp.Constraint) else item
        of_table = [listed, *(item.expressions if isinstance(item, exp.Constraint) else ())]
        for one in of_table:
            if isinstance(one, exp.PrimaryKey) and len(one.expressions) == 1:
                name = one.expressions[0].name.lower()
                keys += [column for column in columns if column.name.lower() == name]
    if len(keys) != 1:
        return None
    end = keys[0].this.meta.get("end")
    return keys[0] if end is not None and _INTEGER.match(text, end + 1) else None


def type_text(data_type: object, dialect: Dialect) -> str | None:
    """Return a data type as the dialect writes it, in lower case."""
    if not isinstance(data_type, exp.Expr):
        return None
    parts = _plain_parts(data_type)
    if parts is not None:
        return _plain_type_text(*parts, dialect.parser_name)
    return data_type.sql(dialect=dialect.parser_name).lower()


def _plain_parts(data_type: exp.Expr) -> tuple[exp.DType, tuple[str, ...]] | None:
    """Return a type and its parameters, if it has no more than numbers in parentheses."""
    args = data_type.args
    what = args.get("this")
    if type(data_type) is not exp.DataType or not isinstance(what, exp.DType) or data_type.comments:
        return None
    if args.get("nullable") is not None or any(args[name] for name in args if name not in ("this", "expressions")):
        return None
    numbers = []
    for parameter in args.get("expressions") or ():
        if type(parameter) is not exp.DataTypeParam or parameter.args.get("expression") or parameter.comments:
            return None
        if type(parameter.this) is not exp.Literal or parameter.this.is_string or parameter.this.comments:
            return None
        numbers.append(str(parameter.this.this))
    return what, tuple(numbers)


@lru_cache(maxsize=1_000)
def _plain_type_text(what: exp.DType, numbers: tuple[str, ...], parser_name: str) -> str:
    """Return a type as a dialect writes it: thousands of columns have one of a few."""
    parameters = [exp.DataTypeParam(this=exp.Literal.number(number)) for number in numbers]
    return exp.DataType(this=what, expressions=parameters, nested=False).sql(dialect=parser_name).lower()


def read_ddl(text: str, dialect: Dialect, source: str = "DDL") -> Iterable[TableSchema]:
    """Return the tables that exist after running the DDL, in order of creation.

    Raises:
        CatalogError: the text cannot be parsed; the message has the position.
    """
    tables: dict[str, TableSchema] = {}
    try:
        statements = _parse(text, dialect)
    except SqlglotError as error:
        raise CatalogError(f"{source}: {str(error).splitlines()[0]}") from error
    for statement in statements:
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            name = _name(statement.this.this, dialect)
            tables[name] = TableSchema(name, schema_columns(statement.this, dialect, text))
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

    def fold(identifier: exp.Expr) -> str:
        return dialect.fold_column(identifier.name, quoted=bool(identifier.args.get("quoted")))

    columns = altered_columns(table.columns, column_alterations(statement, fold), dialect)
    tables[name] = TableSchema(name, columns)
    if (to := new_table_name(statement)) is not None:
        before, after = split_name(name), split_name(_name(to, dialect))
        renamed = format_name([part for part, _ in (*before[: len(before) - len(after)], *after)])
        tables[renamed] = replace(tables.pop(name), name=renamed)


def altered_columns(
    columns: Iterable[ColumnSchema], alterations: Iterable[ColumnAlteration], dialect: Dialect
) -> tuple[ColumnSchema, ...]:
    """Return the columns of a table after changes of them."""
    columns_by_name = {column.name: column for column in columns}
    only: dict[str, ColumnSchema] = {}
    for alteration in alterations:
        own = alteration.name
        if own is None:  # a nested field: a schema has top-level columns only
            continue
        typed = ColumnSchema(own, type_text(alteration.data_type, dialect))
        if alteration.kind is Alteration.ADD:
            columns_by_name.setdefault(own, typed)
        elif alteration.kind is Alteration.TYPE and own in columns_by_name:
            columns_by_name[own] = typed
        elif alteration.kind is Alteration.ONLY:
            only[own] = typed
        elif alteration.kind is Alteration.DROP:
            columns_by_name.pop(own, None)
        elif alteration.kind is Alteration.RENAME and alteration.to is not None:
            new = alteration.to.name
            listed = (replace(column, name=new) if key == own else column for key, column in columns_by_name.items())
            columns_by_name = {column.name: column for column in listed}
        columns_by_name = reorder_columns(columns_by_name, alteration)
    return tuple((only or columns_by_name).values())


def _name(table: exp.Expr, dialect: Dialect) -> str:
    parts = [part for part in (table.args.get("catalog"), table.args.get("db"), table.this) if part]
    return format_name([dialect.fold_table(p.name, quoted=bool(p.args.get("quoted"))) for p in parts])


def _parse(text: str, dialect: Dialect) -> list[exp.Expr | None]:
    """Return the statements of DDL text.

    Raises:
        SqlglotError: the text cannot be parsed, or nests too deeply; the message says where or why.
    """
    tokenizer, parser = tools_of(dialect, Budget().nesting)
    tokens = tokenizer.tokenize(text)
    try:
        trees = parser.parse_written(tokens, text) if tokens else []
    except NestingError as error:
        raise ParseError(str(error)) from error
    except (RecursionError, *PARSER_DEFECTS) as error:
        raise ParseError(f"the parser fails on a statement ({type(error).__name__})") from error
    if any(isinstance(tree, exp.Command | exp.Execute) for tree in trees):  # a dialect's own syntax
        return [parsed.tree for parsed in parse_statements(text, dialect)]
    return trees

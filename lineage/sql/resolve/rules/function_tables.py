"""Functions as tables: their columns, as far as they are known, come from the arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.plugins import installed_rules
from lineage.sql.resolve.relations import (
    STAR,
    FunctionTable,
    Relation,
    RowSources,
    Sources,
    absorb,
)
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.aliased_columns import alias_columns
from lineage.sql.resolve.rules.exploded import generated_columns, inlined_fields
from lineage.sql.resolve.rules.files_read import files_read, paths_read, report_unknown_files
from lineage.sql.resolve.rules.function_arguments import RUN_QUERIES
from lineage.sql.resolve.rules.functions_naming_tables import (
    FILE_READERS,
    NAMES_AT,
    PATHS_AT,
    UNNAMED_FUNCTIONS,
    name_of_function,
    path_of_function,
    table_of_function,
)
from lineage.sql.resolve.rules.json_paths import json_keys
from lineage.sql.resolve.rules.nested import element_of
from lineage.sql.resolve.rules.select_list import value_of
from lineage.sql.resolve.rules.table_functions import columns_of_call
from lineage.sql.resolve.rules.unnesting import rows_made
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION

__all__ = ["function_table"]

_FLATTENED = ("SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS")
"""The columns of Snowflake's FLATTEN."""
_ONE_ROW = frozenset(("json_tuple", "jsontuple", "parse_url_tuple", "stack"))
"""Table functions whose number of rows does not depend on their arguments."""
_OF_ARGUMENTS = frozenset(
    ("json_each", "json_each_text", "jsonb_each", "jsonb_each_text", "json_tree", "jsonb_tree", "json_populate_record",
     "json_populate_recordset", "jsonb_populate_record", "jsonb_populate_recordset", "json_to_record",
     "json_to_recordset", "jsonb_to_record", "jsonb_to_recordset", "json_table", "jsonb_path_query_array", "xmltable",
     "unnest", "aclexplode", "string_to_array", "ts_stat", "ts_parse", "ts_debug", "regexp_split_to_array", "openjson",
     "openxml", "nodes", "flatten", "generator", "strtok_split_to_table", "variant_explode", "variant_explode_outer",
     "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "json_tuple", "jsontuple",
     "parse_url_tuple", "stack", "windowing", "values", "zeros", "zeros_mt", "numbers_mt", "generaterandom",
     "generate_random", "null", "format", "repeat", "generate_timestamp_array", "multiset", "column_value",
     "current_date", "current_timestamp", "now")
)  # fmt: skip
"""Table functions of the engines, of several columns, that read nothing but their arguments."""
_OF_THE_SYSTEM = re.compile(
    r"(?:pg_|duckdb_|pragma_|sqlite_|fn_|dm_|sys|information_schema|has_|txid_|dbms_|odci|ml\.|ai_)"
)
"""Functions that read the system's own tables, which have no lineage."""


def _reads_only_its_arguments(function: str) -> bool:
    """Return whether a table function is one of the engines' that reads no table of the user's."""
    known = function in _ONE_COLUMN or function in _OF_ARGUMENTS or function in RUN_QUERIES
    return known or _OF_THE_SYSTEM.match(function) is not None


_ONE_COLUMN = frozenset(
    ("generate_series", "generate_subscripts", "json_array_elements", "json_array_elements_text",
     "jsonb_array_elements", "jsonb_array_elements_text", "json_object_keys", "jsonb_object_keys", "jsonb_path_query",
     "regexp_split_to_table", "string_to_table", "regexp_matches", "range", "numbers", "string_split", "split_to_table",
     "generate_date_array", "generate_array", "sequence")
)  # fmt: skip
_EXPLODES = (exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter)
_ONE_COLUMN_TYPES = (exp.GenerateSeries, exp.Explode, exp.GenerateDateArray)

_NAMES_OF_TYPES: dict[type[exp.Expr], str] = {
    exp.GenerateSeries: "generate_series",
    exp.ExplodingGenerateSeries: "generate_series",
}
"""The names of functions that sqlglot parses into types of their own."""


def _inner_call(call: exp.Expr) -> exp.Expr:
    """Return the function within Trino's `TABLE(catalog.schema.f(…))`, which the parser keeps as a call of TABLE."""
    if type(call) is exp.Anonymous and name_of_function(call) == "table" and len(call.expressions) == 1:
        inner = call.expressions[0]
        while isinstance(inner, exp.Dot):
            inner = inner.expression
        return inner if isinstance(inner, exp.Func) else call
    return call


def _tables_given(call: exp.Expr) -> list[exp.Column]:
    """Return the tables among the arguments of a function, `f(input => TABLE(orders))` in the SQL standard and Trino.

    https://trino.io/docs/current/functions/table.html#calling-table-functions
    """
    listed = [one.expression if isinstance(one, exp.Kwarg) else one for one in getattr(call, "expressions", ())]
    calls = [one for one in listed if type(one) is exp.Anonymous and name_of_function(one) == "table"]
    return [one.expressions[0] for one in calls if len(one.expressions) == 1 and type(one.expressions[0]) is exp.Column]


def _as_table(column: exp.Column) -> exp.Table:
    """Return the table that a name in brackets means, which the parser takes for a column."""
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(column.parts), strict=False)))


def function_table(resolver: Resolver, call: exp.Expr, scope: Scope, node: exp.Expr) -> Relation:
    """A table function: its declared columns, else any column that is referenced, all from its arguments."""
    call = _inner_call(call)
    if (relation := _table_named_by(resolver, call, scope)) is not None:
        return relation.renamed(alias_columns(resolver, node))
    if name_of_function(call) in RUN_QUERIES:
        resolver.report(
            DiagnosticCode.DYNAMIC_SQL,
            Severity.WARNING,
            f"the query in the string argument of {name_of_function(call)} is not read",
            call,
            lasts=True,
        )
    value = _value_of_call(resolver, call, scope)
    rows = None if name_of_function(call) in _ONE_ROW else rows_made([value], call)
    generates = resolver.naming.dialect.exploded_columns is not None and not alias_columns(resolver, node)
    if generates and isinstance(call, _EXPLODES):
        pairs = generated_columns(resolver, call, scope, value)
    else:
        pairs = inlined_fields(resolver, call, scope)
    if pairs:
        relation = Relation([name for name, _ in pairs], [sources for _, sources in pairs], rows)
    elif isinstance(call, exp.Stack) and (columns := _stack(resolver, call, scope)):
        relation = Relation([f"col{position}" for position in range(len(columns))], columns)
    elif (relation := _declared_columns(resolver, call, value, scope)) is not None:
        relation.rows = rows
    elif (known := installed_rules().table_functions.get(name_of_function(call))) is not None:
        relation = Relation(list(known), [value for _ in known], rows)
    elif listed := columns_of_call(call, resolver.naming.dialect):
        ordinal = ["ordinality"] if node.args.get("ordinality") else []
        relation = Relation([*listed, *ordinal], [*(value for _ in listed), *({} for _ in ordinal)], rows)
    if relation is not None:
        return relation.renamed(alias_columns(resolver, node))
    return _function_of_unknown_columns(resolver, call, node, value, rows)


def _table_named_by(resolver: Resolver, call: exp.Expr, scope: Scope) -> Relation | None:
    """Return the table or file that a function's arguments name; None if they name neither."""
    if (files := files_read(resolver, call)) is not None:
        return files
    if resolver.naming.dialect.functions_read_tables and (found := _of_clickhouse(resolver, call, scope)) is not None:
        return found
    if name_of_function(call) == "stream" and len(call.expressions) == 1 and type(call.expressions[0]) is exp.Column:
        return resolver.table(_as_table(call.expressions[0]))  # Spark's STREAM(t)
    return None


def _value_of_call(resolver: Resolver, call: exp.Expr, scope: Scope) -> Sources:
    """Return the sources of a function's arguments: of an array's elements where it explodes one."""
    tables: list[exp.Column | exp.Table] = [*_tables_given(call)]
    given_as_tables = (one for one in call.iter_expressions() if isinstance(one, exp.Table))  # BigQuery's `TABLE t`
    tables.extend(one for one in given_as_tables if one.arg_key != "this" or _reads_this(call))
    for given in tables:
        resolver.table(given if isinstance(given, exp.Table) else _as_table(given))
        resolver.report(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            Severity.WARNING,
            "the columns of a table argument are not followed through the function",
            given,
            lasts=True,
        )
    argument = call.args.get("this")
    if isinstance(call, exp.Explode | exp.Posexplode | exp.Inline) and isinstance(argument, exp.Expr):
        exploded = argument.expression if isinstance(argument, exp.Kwarg) else argument
        return element_of(value_of(resolver, exploded, scope))
    value: Sources = {}
    if not _tables_given(call):
        resolver.evaluate(scope, call, TRANSFORMATION, value)
    return value


def _reads_this(call: exp.Expr) -> bool:
    """Return whether the first argument is a table, not a model."""
    return isinstance(call, exp.VectorSearch | exp.GapFill | exp.FeaturesAtTime | exp.AIForecast)


def _function_of_unknown_columns(
    resolver: Resolver, call: exp.Expr, node: exp.Expr, value: Sources, rows: RowSources | None
) -> Relation:
    """Return the relation of a function of which only an alias, its list of columns or its own name is known."""
    if paths_read(call) is not None:
        report_unknown_files(resolver, call)
    elif (
        type(call) is exp.Anonymous
        and not _tables_given(call)
        and not _reads_only_its_arguments(name_of_function(call))
    ):
        resolver.report(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.WARNING,
            f"the table function `{name_of_function(call)}` is not known: it may read tables",
            call,
            hint="a function in SQL is followed where the same input defines it; for others, add a rule",
            lasts=True,
        )
    names = alias_columns(resolver, node)
    if not names and isinstance(call, exp.Explode) and resolver.naming.dialect.flattens_to_six_columns:
        names = list(_FLATTENED)
    is_declared = bool(names) or name_of_function(call) in _ONE_COLUMN or isinstance(call, _ONE_COLUMN_TYPES)
    alias = node.args.get("alias")
    if not is_declared:
        names = [STAR]  # it may return one value or a table
    if not names and isinstance(alias, exp.TableAlias) and alias.this is not None:
        names = [resolver.identifiers.alias(alias.this)]
    if not names:
        written = call.meta.get("name") or getattr(call, "name", "") or _NAMES_OF_TYPES.get(type(call), call.key)
        written = "range" if call.args.get("is_end_exclusive") else written
        names = [str(written).lower()]
    return FunctionTable(names, value, rows, declared=is_declared)


def _of_clickhouse(resolver: Resolver, call: exp.Expr, scope: Scope) -> Relation | None:
    """Return the table or files that one of ClickHouse's table functions reads; None for any other function.

    `remote('host', 'db', 't')`, `remote('host', db.t)`, `cluster('c', view(SELECT …))`. A table elsewhere has the name
    that it has there. https://clickhouse.com/docs/sql-reference/table-functions
    """
    function, given = name_of_function(call), list(getattr(call, "expressions", ()))
    if function in PATHS_AT and isinstance(path := path_of_function(call), exp.Literal):
        return resolver.location(path.name)
    place = NAMES_AT.get(function)
    if (
        place is None
        and function not in UNNAMED_FUNCTIONS
        and function not in PATHS_AT
        and function not in FILE_READERS
    ):
        return None
    if place is not None and given[place : place + 1]:
        inner = given[place]
        if isinstance(inner, exp.Anonymous) and name_of_function(inner) == "view" and len(inner.expressions) == 1:
            return resolver.relation(inner.expressions[0], scope)
        if isinstance(inner, exp.Func) and place:
            return function_table(resolver, inner, scope, inner)
        if (named := table_of_function(call)) is not None:
            return resolver.table(named)
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"the table that {function} reads is not known: its arguments do not name it",
        call,
        lasts=True,
    )
    return FunctionTable([function], {}, None, declared=False)


def _stack(resolver: Resolver, call: exp.Expr, scope: Scope) -> list[Sources]:
    """`stack(2, 'a', a, 'b', b)`: two rows of two columns, each from every second value; none if unreadable."""
    rows, values = call.this, call.expressions
    if not isinstance(rows, exp.Literal) or not rows.name.isdigit() or not int(rows.name):
        return []
    width = -(-len(values) // int(rows.name))
    columns: list[Sources] = [{} for _ in range(width)]
    for position, value in enumerate(values):
        resolver.evaluate(scope, value, IDENTITY, columns[position % width])
    return columns


def _declared_columns(resolver: Resolver, call: exp.Expr, value: Sources, scope: Scope) -> Relation | None:
    """Return the columns that OPENJSON … WITH, JSON_TABLE and XMLTABLE declare, each from its own path."""
    definitions: list[tuple[exp.Expr, list[str]]] = []
    document: Sources = {}
    if isinstance(call, exp.JSONTable | exp.OpenJSON):
        root = json_keys(call.args.get("path")) or []
        schema = call.args.get("schema")
        listed = schema.expressions if schema is not None else call.expressions
        definitions = list(_flatten(listed if schema is not None or isinstance(call, exp.OpenJSON) else [], root))
        document = value_of(resolver, call.this, scope)
    elif isinstance(call, exp.XMLTable):
        definitions = [(definition, []) for definition in call.args.get("columns") or []]
    if not definitions:
        return None
    names: list[str] = []
    columns: list[Sources] = []
    for definition, root in definitions:
        identifier = definition.this
        if not isinstance(identifier, exp.Identifier):
            continue
        names.append(resolver.identifiers.column(identifier))
        path = definition.args.get("path")
        # Without a path the column's name is the key (Oracle's JSON_TABLE, T-SQL's OPENJSON).
        keys = json_keys(path) if path is not None else [identifier.name]
        if definition.args.get("ordinality"):
            columns.append({})
        elif document and keys is not None and (root or keys):
            found: Sources = {}
            absorb(found, resolver.field(document, [*root, *keys]), TRANSFORMATION, identifier)
            columns.append(found)
        else:
            columns.append(value)
    return Relation(names, columns)


def _flatten(definitions: list[exp.Expr], root: list[str]) -> Iterator[tuple[exp.Expr, list[str]]]:
    """Yield JSON_TABLE's columns and the keys that lead to their part of the document, those of NESTED PATH too."""
    for definition in definitions:
        nested = definition.args.get("nested_schema")
        if nested is not None:
            yield from _flatten(nested.expressions, [*root, *(json_keys(definition.args.get("path")) or [])])
        else:
            yield definition, root

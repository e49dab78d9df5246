"""The items of FROM: tables and CTEs, sub-queries, VALUES, LATERAL, UNNEST and other table functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.plugins import installed_rules
from lineage.sql.resolve.relations import (
    STAR,
    BaseTable,
    Composite,
    Elements,
    FunctionTable,
    Relation,
    RenamedStar,
    Rows,
    RowSources,
    Sources,
    absorb,
)
from lineage.sql.resolve.resolver import Resolver, relation_rule
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.exploded import generated_columns, inlined_fields
from lineage.sql.resolve.rules.function_arguments import RUN_QUERIES
from lineage.sql.resolve.rules.nested import element_of, json_keys
from lineage.sql.resolve.rules.order_by import order_output
from lineage.sql.resolve.rules.pivots import pivot_relation
from lineage.sql.resolve.rules.select_list import value_of
from lineage.sql.resolve.rules.table_functions import columns_of_call
from lineage.sql.resolve.scope import Scope
from lineage.sql.resolve.struct_fields import fields_of
from lineage.sql.resolve.transformation_codes import IDENTITY, JOIN, TRANSFORMATION

_FILE_READERS = frozenset(
    ("read_files", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_text", "read_blob",
     "delta_scan", "iceberg_scan", "parquet_scan", "read_avro", "s3", "gcs", "hdfs", "url")
)  # fmt: skip

_PATHS_AT = {
    **dict.fromkeys(("file", "cosn", "oss", "iceberg", "icebergs3", "icebergazure", "deltalake", "deltalakes3",
                     "hudi"), 0),
    **dict.fromkeys(("s3cluster", "gcscluster", "urlcluster", "hdfscluster", "filecluster", "icebergcluster",
                     "icebergs3cluster", "deltalakecluster", "deltalakes3cluster", "hudicluster"), 1),
    **{"azureblobstorage": 2, "azureblobstoragecluster": 3},
}  # fmt: skip
"""ClickHouse's functions that read files, and the index of the argument with their path."""

_NAMES_AT = {
    "remote": 1, "remotesecure": 1, "cluster": 1, "clusterallreplicas": 1, "mysql": 1, "postgresql": 1, "mongodb": 1,
    "odbc": 1, "jdbc": 1, "dictionary": 0,
}  # fmt: skip
"""ClickHouse's functions that read a table named by their arguments, and the index of the name's first argument."""

_UNNAMED = frozenset(("merge", "redis", "sqlite", "executable", "input", "loop", "ytsaurus", "arrowflight"))
"""ClickHouse's functions that read something their arguments do not name: tables matching a pattern, a queue."""

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
"""Table functions with one column, named after the function or its alias."""


def _alias_columns(resolver: Resolver, node: exp.Expr) -> list[str]:
    """Return the column names of an alias, `AS t(a, b)`."""
    alias = node.args.get("alias")
    if type(alias) is not exp.TableAlias:
        return []
    columns = alias.args.get("columns")
    if not columns:
        return []
    return [resolver.identifiers.alias(c.this if isinstance(c, exp.ColumnDef) else c) for c in columns]


@relation_rule(exp.Table)
def table(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """A table, a CTE of that name, a staged file, or a function called as a table."""
    assert isinstance(node, exp.Table)
    args = node.args
    named = args.get("this")
    if type(named) is exp.Identifier:
        if named.args.get("quoted"):
            location = _file_named(resolver, node)
            if location is not None:
                return reshape(
                    resolver, node, resolver.location(location).renamed(_alias_columns(resolver, node)), scope
                )
        cte = scope.ctes.get(resolver.identifiers.column(named)) if scope.ctes and args.get("db") is None else None
        relation = cte if cte is not None else resolver.table(node)
    elif isinstance(named, exp.Parameter) or (type(named) is exp.Dot and _is_long_name(resolver, node, scope)):
        relation = resolver.table(node)
    elif isinstance(named, exp.Var | exp.Literal):
        relation = resolver.location(named.name)
    elif node.args.get("rows_from"):
        relation = _rows_from(resolver, node.args["rows_from"], scope)
    else:
        return function_table(resolver, args["this"], scope, node)
    alias = args.get("alias")
    if alias is not None and alias.args.get("columns"):
        relation = _rename_by_alias(resolver, node, relation)
    return reshape(resolver, node, relation, scope) if args.get("pivots") else relation


def _rename_by_alias(resolver: Resolver, node: exp.Expr, relation: Relation) -> Relation:
    """Return a relation with the columns that its alias lists; over a star, report that each may be any column."""
    listed = _alias_columns(resolver, node)
    renamed = relation.renamed(listed)
    if not listed or not relation.is_open or STAR not in (name for name, _ in relation.columns()):
        return renamed
    behind = [relation] if isinstance(relation, BaseTable) else relation.opens
    tables = [item.name for item in behind if isinstance(item, BaseTable)]
    alias, code = node.args["alias"], DiagnosticCode.UNRESOLVED_STAR

    def report() -> None:
        resolver.report(
            code,
            Severity.WARNING,
            f"the columns that the alias renames are unknown: no schema of {', '.join(tables) or 'the table'}",
            alias,
            hint="give the table's DDL or a JSON schema with --catalog, or ingest what creates it",
            lasts=True,
        )
        resolver.unresolved_name(code, STAR, alias, tables, nearest=False)

    return RenamedStar(renamed, report)


_PATH_FORMATS = frozenset(("parquet", "csv", "json", "orc", "avro", "delta", "text", "binaryfile", "iceberg"))


def _file_named(resolver: Resolver, node: exp.Expr) -> str | None:
    """Return the path that a quoted name is: DuckDB's `FROM 'a.parquet'`, Spark's `` FROM parquet.`/a` ``."""
    name = node.args["this"]
    text = name.this
    if not name.args.get("quoted") or not ("/" in text or "." in text):
        return None
    dialect, schema = resolver.naming.dialect, node.args.get("db")
    if dialect.reads_files_by_string and schema is None:
        start = name.meta.get("start")
        return text if start is not None and resolver.text[start : start + 1] == "'" else None
    if dialect.reads_files_by_format and schema is not None and schema.name.lower() in _PATH_FORMATS:
        return str(text)
    return None


def _is_long_name(resolver: Resolver, node: exp.Expr, scope: Scope) -> bool:
    """Return whether more than three parts are a table's name (`server.db.schema.t`), not a path into a column."""
    first = node.args["catalog"] if node.args.get("catalog") is not None else node.this
    is_name = all(isinstance(part, exp.Identifier) for part in node.this.flatten())
    return is_name and isinstance(first, exp.Identifier) and scope.item(resolver.identifiers.alias(first)) is None


def _rows_from(resolver: Resolver, functions: list[exp.Expr], scope: Scope) -> Relation:
    """PostgreSQL's `ROWS FROM (f(…), g(…))`: the functions' columns side by side."""
    made = [resolver.relation(function, scope) for function in functions]
    rows = RowSources()
    rows.inputs.extend(relation.rows for relation in made if relation.rows is not None)
    pairs = [pair for relation in made for pair in relation.columns()]
    return Relation([name for name, _ in pairs], [sources for _, sources in pairs], rows if rows.inputs else None)


@relation_rule(exp.TableFromRows)
def table_from_rows(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`TABLE(f(…))`: the function's rows, as a table."""
    return reshape(resolver, node, function_table(resolver, node.this, scope, node), scope)


def reshape(resolver: Resolver, node: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """Return a relation with the columns that its alias lists, and its PIVOT and UNPIVOT applied."""
    for pivot in node.args.get("pivots") or ():
        relation = pivot_relation(resolver, pivot, relation, scope)
    return relation


@relation_rule(exp.Subquery)
def subquery(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`(query) AS t(a, b)`, `(query) ORDER BY a LIMIT 1`."""
    inner = scope_with_ctes(resolver, node, scope) if node.args.get("with_") else scope
    body = node.this
    if isinstance(body, exp.Table | exp.Subquery) and body.args.get("joins"):  # (a JOIN b USING (i)) AS j
        body = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=body.copy())))
    relation = order_output(resolver, node, resolver.relation(body, inner), inner)
    return reshape(resolver, node, _rename_by_alias(resolver, node, relation), scope)


@relation_rule(exp.Paren)
def parentheses(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`(x)` is x."""
    return resolver.relation(node.this, scope)


@relation_rule(exp.Values)
def values(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`VALUES (a, b), (c, d)`: each column of every row."""
    columns: list[Sources] = []
    for row in node.expressions:
        for position, value in enumerate(row.expressions if isinstance(row, exp.Tuple) else [row]):
            if position == len(columns):
                columns.append({})
            resolver.evaluate(scope, value, IDENTITY, columns[position])
    names = [f"column{position + 1}" for position in range(len(columns))]
    relation = order_output(resolver, node, Relation(names, columns), scope)
    return relation.renamed(_alias_columns(resolver, node))


@relation_rule(exp.Lateral)
def lateral(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """LATERAL: a sub-query or function that sees the relations to its left; Hive's LATERAL VIEW."""
    inner = node.this
    if isinstance(inner, exp.Query):
        return resolver.relation(inner, scope).renamed(_alias_columns(resolver, node))
    return function_table(resolver, inner, scope, node)


@relation_rule(exp.Unnest)
def unnest(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`UNNEST(a, b) WITH ORDINALITY AS t(x, y, n)`: one column per array; the ordinal has no source."""
    names = _alias_columns(resolver, node)
    columns = [element_of(value_of(resolver, array, scope)) for array in node.expressions]
    alias = node.args.get("alias")
    offset = node.args.get("offset")
    if len(columns) == 1 and resolver.naming.dialect.unnests_rows:
        own = names[0] if names else resolver.identifiers.alias(alias.this) if alias and alias.this else None
        return _elements(resolver, columns[0], node, scope, own, [resolver.identifiers.alias(offset)] if offset else [])
    if resolver.naming.dialect.unnests_fields:
        return _unnest_fields(resolver, node, scope, columns, names)
    if not names and alias is not None and alias.this is not None:
        names = [resolver.identifiers.alias(alias.this)]
    if offset:
        names = [*names[: len(columns)], *(["ordinality"] if offset is True else [resolver.identifiers.alias(offset)])]
        columns.append(Composite({}))
    while len(names) > len(columns):  # an array of rows has several columns
        columns.append(columns[0] if columns else Composite({}))
    names += ["unnest"] * (len(columns) - len(names))
    rows = _rows_made([*columns], node)
    return Relation(names, [*columns], rows)


def _elements(
    resolver: Resolver, element: Composite, node: exp.Expr, scope: Scope, alias: str | None, offset: list[str]
) -> Relation:
    """BigQuery's UNNEST: its columns are the fields of the elements if these are structs, and its alias is an element.

    https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#unnest_operator
    """
    rows = _rows_made([element], node)
    names = _field_names(resolver, element)
    if names:
        fields = [scope.field(element, [name]) for name in names]
        return Rows([*names, *offset], [*fields, *({} for _ in offset)], rows, element).under(alias)
    if names is not None or (element.fields is None and element.whole is not None and not _is_stored(element)):
        return Relation([alias or "f0_", *offset], [element, *({} for _ in offset)], rows)
    made = Elements(element, rows, scope.field, alias)
    made.names, made.sources = [*made.names, *offset], [*made.sources, *({} for _ in offset)]
    return made


def _is_stored(element: Composite) -> bool:
    """Return whether an array is a column of a table, or a part of one: only a schema tells what it consists of."""
    value: Sources = element
    while isinstance(value, Composite) and value.fields is None and value.whole is not None:
        value = value.whole
    return any(effect == IDENTITY for _, effect in value)


def _field_names(resolver: Resolver, element: Composite) -> tuple[str, ...] | None:
    """Return the fields of an array's elements: none if they are not structs, None if that is not known."""
    if element.fields is not None:
        return None if STAR in element.fields else tuple(element.fields)
    return fields_of(resolver, element)


def _unnest_fields(
    resolver: Resolver, node: exp.Expr, scope: Scope, elements: list[Composite], names: list[str]
) -> Relation:
    """Trino's UNNEST: an array of rows has a column for each field, a map one for the key and one for the value.

    https://trino.io/docs/current/sql/select.html#unnest
    """
    rows = _rows_made([*elements], node)
    found: list[str] = []
    sources: list[Sources] = []
    for position, element in enumerate(elements):
        fields = _field_names(resolver, element)
        if fields:
            found += fields
            sources += (scope.field(element, [name]) for name in fields)
        elif fields is None and len(elements) == 1:
            if not names and _is_stored(element):
                return Elements(element, rows, scope.field)
            # It may be an array of rows or a map: any column may be from any part.
            width = max(1, len(names))
            found += [f"_col{position + number}" for number in range(width)]
            sources += [element] * width
        else:
            found.append(f"_col{position}")
            sources.append(element)
    if offset := node.args.get("offset"):
        found.append("ordinality" if offset is True else resolver.identifiers.alias(offset))
        sources.append({})
    while len(names) > len(found):
        found.append("")
        sources.append(sources[0] if sources else {})
    return Relation(found, sources, rows).renamed(names)


def _rows_made(values: list[Sources], mention: exp.Expr) -> RowSources | None:
    """Return the influences on a function's number of rows: its arguments, whichever of its columns are read."""
    rows = RowSources()
    for value in values:
        absorb(rows.own, value, JOIN, mention)
    return rows if rows.own else None


def _inner_call(call: exp.Expr) -> exp.Expr:
    """Return the function within Trino's `TABLE(catalog.schema.f(…))`, which the parser keeps as a call of TABLE."""
    if type(call) is exp.Anonymous and _function_name(call) == "table" and len(call.expressions) == 1:
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
    calls = [one for one in listed if type(one) is exp.Anonymous and _function_name(one) == "table"]
    return [one.expressions[0] for one in calls if len(one.expressions) == 1 and type(one.expressions[0]) is exp.Column]


def _as_table(column: exp.Column) -> exp.Table:
    """Return the table that a name in brackets means, which the parser takes for a column."""
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(column.parts), strict=False)))


def function_table(resolver: Resolver, call: exp.Expr, scope: Scope, node: exp.Expr) -> Relation:
    """A table function: its declared columns, else any column that is referenced, all from its arguments."""
    call = _inner_call(call)
    if (found := _table_named_by(resolver, call, scope)) is not None:
        return found.renamed(_alias_columns(resolver, node))
    if _function_name(call) in RUN_QUERIES:
        resolver.report(
            DiagnosticCode.DYNAMIC_SQL,
            Severity.WARNING,
            f"the query in the string argument of {_function_name(call)} is not read",
            call,
            lasts=True,
        )
    value = _value_of_call(resolver, call, scope)
    rows = None if _function_name(call) in _ONE_ROW else _rows_made([value], call)
    generates = resolver.naming.dialect.exploded_columns is not None and not _alias_columns(resolver, node)
    if generates and isinstance(call, _EXPLODES):
        pairs = generated_columns(resolver, call, scope, value)
    else:
        pairs = inlined_fields(resolver, call, scope)
    if pairs:
        found = Relation([name for name, _ in pairs], [sources for _, sources in pairs], rows)
    elif isinstance(call, exp.Stack) and (columns := _stack(resolver, call, scope)):
        found = Relation([f"col{position}" for position in range(len(columns))], columns)
    elif (found := _declared_columns(resolver, call, value, scope)) is not None:
        found.rows = rows
    elif (known := installed_rules().table_functions.get(_function_name(call))) is not None:
        found = Relation(list(known), [value for _ in known], rows)
    elif listed := columns_of_call(call, resolver.naming.dialect):
        ordinal = ["ordinality"] if node.args.get("ordinality") else []
        found = Relation([*listed, *ordinal], [*(value for _ in listed), *({} for _ in ordinal)], rows)
    if found is not None:
        return found.renamed(_alias_columns(resolver, node))
    return _function_of_unknown_columns(resolver, call, node, value, rows)


def _table_named_by(resolver: Resolver, call: exp.Expr, scope: Scope) -> Relation | None:
    """Return the table or file that a function's arguments name; None if they name neither."""
    if (location := _file_read(call)) is not None:
        return resolver.location(location)
    if resolver.naming.dialect.has_remote_functions and (found := _of_clickhouse(resolver, call, scope)) is not None:
        return found
    if _function_name(call) == "stream" and len(call.expressions) == 1 and type(call.expressions[0]) is exp.Column:
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
    if type(call) is exp.Anonymous and not _tables_given(call) and not _reads_only_its_arguments(_function_name(call)):
        resolver.report(
            DiagnosticCode.UNKNOWN_TABLE,
            Severity.WARNING,
            f"the table function `{_function_name(call)}` is not known: it may read tables",
            call,
            hint="a function in SQL is followed where the same input defines it; for others, add a rule",
            lasts=True,
        )
    names = _alias_columns(resolver, node)
    if not names and isinstance(call, exp.Explode) and resolver.naming.dialect.flattens_to_six_columns:
        names = list(_FLATTENED)
    is_declared = bool(names) or _function_name(call) in _ONE_COLUMN or isinstance(call, _ONE_COLUMN_TYPES)
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
    function, given = _function_name(call), list(getattr(call, "expressions", ()))
    if function in _PATHS_AT and isinstance(path := path_of_function(call), exp.Literal):
        return resolver.location(path.name)
    place = _NAMES_AT.get(function)
    if place is None and function not in _UNNAMED and function not in _PATHS_AT and function not in _FILE_READERS:
        return None
    if place is not None and given[place : place + 1]:
        inner = given[place]
        if isinstance(inner, exp.Anonymous) and _function_name(inner) == "view" and len(inner.expressions) == 1:
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


def table_of_function(call: exp.Expr) -> exp.Table | None:
    """Return the table that one of ClickHouse's functions names: it is read, or written (`INSERT INTO FUNCTION`)."""
    function, given = _function_name(call), list(getattr(call, "expressions", ()))
    place = _NAMES_AT.get(function)
    parts = _table_named(function, given, place) if place is not None and len(given) > place else []
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))) if parts else None


def path_of_function(call: exp.Expr) -> exp.Expr | None:
    """Return the argument with the path of the files that one of ClickHouse's functions reads or writes."""
    return next(iter(list(getattr(call, "expressions", ()))[_PATHS_AT.get(_function_name(call), 0) :]), None)


def _table_named(function: str, given: list[exp.Expr], place: int) -> list[exp.Identifier]:
    """Return the parts of the table's name among the arguments of a function; an empty tuple if a part is missing."""
    options = {one.this.name.lower(): one.expression for one in given if isinstance(one, exp.EQ)}
    if options:  # of a named collection
        listed = [options[name] for name in ("database", "db", "schema", "table", "collection") if name in options]
        whole = "table" in options or "collection" in options
        return [part for one in listed for part in _parts_of(one)] if whole else []
    first = _parts_of(given[place])
    if len(first) > 1 or (function == "dictionary" and first):
        return first
    second = _parts_of(given[place + 1]) if len(given) > place + 1 else []
    if len(first) != 1 or len(second) != 1:
        return []
    schema = _parts_of(given[5])[:1] if function == "postgresql" and len(given) > 5 else []
    return [*first, *schema, *second]


def _parts_of(node: exp.Expr) -> list[exp.Identifier]:
    """Return the parts of a name, written as `db.t` or as the string 'db.t'; none if it is neither."""
    if isinstance(node, exp.Column):
        return [part for part in node.parts if isinstance(part, exp.Identifier)]
    if isinstance(node, exp.Literal) and node.is_string and node.name:
        return [exp.to_identifier(part, quoted=True) for part in node.name.split(".", 1) if part]
    return []


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


def _function_name(call: exp.Expr) -> str:
    return str(call.this if isinstance(call, exp.Anonymous) else call.key).lower()


def _file_read(call: exp.Expr) -> str | None:
    """Return the path that a function such as `read_parquet('s3://…')` reads."""
    is_reader = isinstance(call, exp.ReadCSV | exp.ReadParquet) or (
        isinstance(call, exp.Anonymous) and str(call.this).lower() in _FILE_READERS
    )
    if not is_reader:
        return None
    first = next(iter(call.args.get("expressions") or ()), call.args.get("this"))
    if isinstance(call, exp.ReadCSV):
        first = call.this
    if isinstance(first, exp.Array) and len(first.expressions) == 1:
        first = first.expressions[0]
    return first.name if isinstance(first, exp.Literal) else None


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
            absorb(found, scope.field(document, [*root, *keys]), TRANSFORMATION, identifier)
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

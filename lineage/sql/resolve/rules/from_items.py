"""The items of FROM: tables and CTEs, sub-queries, VALUES and LATERAL."""

from __future__ import annotations

import re

from sqlglot import exp

from lineage.sql.resolve.identifiers import FILE_FORMATS
from lineage.sql.resolve.relations import (
    Relation,
    RowSources,
    Sources,
)
from lineage.sql.resolve.resolver import Resolver, relation_rule
from lineage.sql.resolve.rules.aliased_columns import alias_columns, rename_by_alias
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.function_tables import function_table
from lineage.sql.resolve.rules.order_by import order_output
from lineage.sql.resolve.rules.pivots import pivot_relation
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import IDENTITY


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
                    resolver, node, resolver.location(location).renamed(alias_columns(resolver, node)), scope
                )
        cte = scope.ctes.get(resolver.identifiers.column(named)) if scope.ctes and args.get("db") is None else None
        relation = cte if cte is not None else resolver.table(node)
    elif isinstance(named, exp.Parameter) or (type(named) is exp.Dot and _is_long_name(resolver, node, scope)):
        relation = resolver.table(node)
    elif isinstance(named, exp.Var | exp.Literal):
        relation = resolver.location(named.name)
    elif node.args.get("rows_from"):
        relation = _rows_from(resolver, node, scope)
    else:
        return function_table(resolver, args["this"], scope, node)
    alias = args.get("alias")
    if alias is not None and alias.args.get("columns"):
        relation = rename_by_alias(resolver, node, relation)
    return reshape(resolver, node, relation, scope) if args.get("pivots") else relation


_DATA_FILE = re.compile(r"://|\.(?:parquet|csv|tsv|json|jsonl|ndjson|xlsx)(?:\.(?:gz|zst|zstd|bz2))?$", re.IGNORECASE)
"""https://duckdb.org/docs/stable/data/overview: names by which DuckDB reads a file in place of a table."""


def _file_named(resolver: Resolver, node: exp.Expr) -> str | None:
    """Return the path that a quoted name is: DuckDB's `FROM 'a.parquet'`, Spark's `` FROM parquet.`/a` ``."""
    name = node.args["this"]
    text = name.this
    if not name.args.get("quoted") or not ("/" in text or "." in text):
        return None
    dialect, schema = resolver.naming.dialect, node.args.get("db")
    if dialect.reads_files_by_format:  # what has a slash is a path in any statement: `Identifiers.table_parts`
        return str(text) if "/" not in text and schema is not None and schema.name.lower() in FILE_FORMATS else None
    start = name.meta.get("start")
    if start is None or schema is not None:
        return None
    if resolver.text[start : start + 1] == "'":  # SQLite's tables may be named so, without a slash
        return str(text) if dialect.reads_files_by_string or "/" in text else None
    # DuckDB's catalog keeps `'a.csv'` as `"a.csv"`, which is a table where there is one of this name.
    may_be_file = dialect.reads_files_by_string and _DATA_FILE.search(text)
    return str(text) if may_be_file and not resolver.knows_table(node) else None


def _is_long_name(resolver: Resolver, node: exp.Expr, scope: Scope) -> bool:
    """Return whether more than three parts are a table's name (`server.db.schema.t`), not a path into a column."""
    first = node.args["catalog"] if node.args.get("catalog") is not None else node.this
    is_name = all(isinstance(part, exp.Identifier) for part in node.this.flatten())
    return is_name and isinstance(first, exp.Identifier) and scope.item(resolver.identifiers.alias(first)) is None


def _rows_from(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """PostgreSQL's `ROWS FROM (f(…), g(…))`: the functions' columns side by side, and WITH ORDINALITY the number."""
    made = [resolver.relation(function, scope) for function in node.args["rows_from"]]
    rows = RowSources()
    rows.inputs.extend(relation.rows for relation in made if relation.rows is not None)
    pairs = [pair for relation in made for pair in relation.columns()]
    if node.args.get("ordinality"):
        pairs.append(("ordinality", {}))
    return Relation([name for name, _ in pairs], [sources for _, sources in pairs], rows if rows.inputs else None)


@relation_rule(exp.TableFromRows)
def table_from_rows(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`TABLE(f(…))`: the function's rows, as a table."""
    return reshape(resolver, node, function_table(resolver, node.this, scope, node), scope)


def reshape(resolver: Resolver, node: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """Return a relation with the columns that its alias lists, and its PIVOT and UNPIVOT applied."""
    alias = node.args.get("alias")
    named = alias.this if alias is not None else node.args.get("this")
    before = resolver.identifiers.alias(named) if isinstance(named, exp.Identifier) else ""
    for pivot in node.args.get("pivots") or ():
        relation = pivot_relation(resolver, pivot, relation, scope, before)
    return relation


@relation_rule(exp.Subquery)
def subquery(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """`(query) AS t(a, b)`, `(query) ORDER BY a LIMIT 1`."""
    inner = scope_with_ctes(resolver, node, scope) if node.args.get("with_") else scope
    body = node.this
    if isinstance(body, exp.Table | exp.Subquery) and body.args.get("joins"):  # (a JOIN b USING (i)) AS j
        body = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=body.copy())))
    relation = order_output(resolver, node, resolver.relation(body, inner), inner)
    return reshape(resolver, node, rename_by_alias(resolver, node, relation), scope)


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
    prefix, first = resolver.naming.dialect.values_columns
    names = [f"{prefix}{position}" for position in range(first, first + len(columns))]
    relation = order_output(resolver, node, Relation(names, columns), scope)
    return relation.renamed(alias_columns(resolver, node))


@relation_rule(exp.Lateral)
def lateral(resolver: Resolver, node: exp.Expr, scope: Scope) -> Relation:
    """LATERAL: a sub-query or function that sees the relations to its left; Hive's LATERAL VIEW."""
    inner = node.this
    if isinstance(inner, exp.Query):
        return resolver.relation(inner, scope).renamed(alias_columns(resolver, node))
    if isinstance(inner, exp.Unnest) and node.args.get("alias") is not None:
        return resolver.relation(exp.Unnest(**{**inner.args, "alias": node.args["alias"]}), scope)
    return function_table(resolver, inner, scope, node)

"""CREATE VIEW, CREATE TABLE AS and CREATE TABLE with columns; Spark's CACHE TABLE."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from lineage.catalog.ddl import schema_columns
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.dialect import Dialect
from lineage.model.names import plain_name
from lineage.model.statement import ColumnSchema, DatasetKind
from lineage.sql.parse.object_types import type_named_by
from lineage.sql.resolve.relations import BaseTable, Relation, TableRows
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.statements.computed import computed_columns
from lineage.sql.resolve.statements.dictionary import create_dictionary
from lineage.sql.resolve.statements.files import view_of_files
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.query import rows_of
from lineage.sql.resolve.structs.struct_fields import structured_type
from lineage.sql.resolve.targets import is_temporary


@statement_rule(exp.Create)
def create(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what a CREATE defines. What is not a table or view (a schema, an index, …) has no lineage."""
    kind = (tree.args.get("kind") or "").upper()
    named = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    properties = tree.args.get("properties")
    listed = properties.expressions if properties is not None else []
    if kind == "DICTIONARY" and isinstance(named, exp.Table):
        return create_dictionary(resolver, tree, named, listed)
    if kind not in ("TABLE", "VIEW", "DYNAMIC TABLE", "STREAMING TABLE", "MODEL") or not isinstance(named, exp.Table):
        _report_cloned(resolver, tree, kind)
        return Outcome(f"CREATE_{kind.replace(' ', '_')}" if kind else "CREATE")
    outcome = _create(resolver, tree, named, kind, listed)
    schema: tuple[ColumnSchema, ...] = ()
    has_unknown_type = False
    if isinstance(tree.this, exp.Schema):
        schema = schema_columns(tree.this, resolver.naming.dialect, resolver.text)
    else:
        has_unknown_type = _report_unknown_type(resolver, named)
    body = _body(tree)
    if not isinstance(body, exp.Query | exp.Table | exp.Values):
        if kind != "VIEW" or not view_of_files(resolver, outcome, [column.name for column in schema], listed):
            _report_rows(resolver, body, listed, named, kind)
        outcome.schema = schema or _like(resolver, tree, listed)
        _inherit(resolver, outcome, listed)
        _compute(resolver, outcome, tree)
        return outcome
    _name_operation(resolver, outcome, tree, kind, listed)
    if kind == "VIEW" and resolver.naming.dialect.views_prefer_own_schema:
        resolver.own_schema = resolver.identifiers.table_parts(named)[:-1]
    query = _as_query(body)
    relation = resolver.relation(query, scope_with_ctes(resolver, tree, resolver.new_scope()))
    if resolver.naming.dialect.create_as_adds_columns and kind == "TABLE":
        # The query's columns are added to the defined ones, or merged with those of the same name:
        # https://dev.mysql.com/doc/refman/8.4/en/create-table-select.html
        _name_columns(resolver, outcome, relation, [], tree)
        defined = tuple(column for column in schema if column.name not in outcome.names)
        outcome.schema = (*defined, *outcome.schema) if outcome.schema else ()
        return outcome
    names = [column.name for column in schema]
    if kind == "TABLE" and resolver.naming.dialect.created_column_prefix is not None and query.find(exp.From):
        names = names or _created_names(relation.names, query, resolver.naming.dialect)
    _name_columns(resolver, outcome, relation, names, tree)
    if has_unknown_type:
        outcome.schema = ()
    return outcome


def _body(tree: exp.Expr) -> exp.Expr | None:
    """Return what the rows come from: a query, or the table that is cloned."""
    clone = tree.args.get("clone")
    return clone.this if clone is not None and isinstance(clone.this, exp.Table) else tree.args.get("expression")


def _as_query(body: exp.Query | exp.Table | exp.Values) -> exp.Expr:
    if isinstance(body.unnest(), exp.Pivot):  # DuckDB's AS (PIVOT t ON …)
        return _all_of(exp.Subquery(this=body.unnest()))
    return _all_of(body) if isinstance(body, exp.Table) else body  # CLONE t, AS TABLE t


def _compute(resolver: Resolver, outcome: Outcome, tree: exp.Expr) -> None:
    """Read the columns that a table computes from its others."""
    if isinstance(tree.this, exp.Schema) and outcome.target is not None:
        own = BaseTable(outcome.target, dict.fromkeys(c.name for c in outcome.schema), resolver.source)
        computed_columns(resolver, outcome, tree.this.expressions, own)


def _name_operation(
    resolver: Resolver, outcome: Outcome, tree: exp.Expr, kind: str, properties: list[exp.Expr]
) -> None:
    """Name what creates a table or view from rows."""
    if kind == "TABLE":
        outcome.operation = "CREATE_TABLE_AS" if tree.args.get("clone") is None else "CREATE_TABLE_CLONE"
    elif any(isinstance(item, exp.MaterializedProperty) for item in properties):
        outcome.operation = "CREATE_MATERIALIZED_VIEW"
        if [token.text.upper() for token in resolver.tokens[:2]] == ["ALTER", "TABLE"]:
            resolver.report(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                Severity.WARNING,
                f"{outcome.target} may fill another table (TO), which MODIFY QUERY does not name",
                tree.this,
                hint="define the view anew with CREATE MATERIALIZED VIEW … TO, or read the column at that table",
            )


def _report_unknown_type(resolver: Resolver, named: exp.Table) -> bool:
    """Report `CREATE TABLE t OF type`, `CREATE VIEW v OF type`, whose columns are those of a type that is not known."""
    typed = type_named_by(resolver.tokens)
    if typed is not None:
        resolver.report(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            Severity.WARNING,
            f"the columns are the attributes of the type {typed.text}, which this text does not define once",
            named,
            hint="define the type in the same text, or list the columns",
        )
    return typed is not None


def _create(resolver: Resolver, tree: exp.Expr, named: exp.Table, kind: str, properties: list[exp.Expr]) -> Outcome:
    """Return an outcome with the dataset that a CREATE makes, without columns."""
    outcome = Outcome(f"CREATE_{kind.replace(' ', '_')}", resolver.naming.made(resolver.name(named)), defines=True)
    if isinstance(tree, exp.Create) and is_temporary(tree, resolver.naming.dialect):
        outcome.target, outcome.target_kind = plain_name(outcome.target or ""), DatasetKind.TEMPORARY
    elif kind == "VIEW":
        outcome.target_kind = DatasetKind.VIEW
    if (to := next((item.this for item in properties if isinstance(item, exp.ToTableProperty)), None)) is not None:
        outcome.target, outcome.target_kind = resolver.name(to), DatasetKind.TABLE  # ClickHouse: the view only fills it
    return outcome


def _created_names(names: Sequence[str], body: exp.Expr, dialect: Dialect) -> list[str]:
    """Return the names of a table's columns: Hive's optimizer removes the underscore of the names that it generates.

    PlanModifierForASTConv.renameTopLevelSelectInResultSchema; a query without FROM is not optimized. A star keeps the
    names that a sub-query has.
    """
    generated = re.compile(rf"{dialect.unnamed_column_prefix}(\d+)")
    query = body.unnest()
    items = query.expressions if isinstance(query, exp.Select) else None

    def created(name: str) -> str:
        found = generated.fullmatch(name)
        place = int(found[1]) if found else 0
        if found is None or (items is not None and (place >= len(items) or _is_named(items[place]))):
            return name
        return f"{dialect.created_column_prefix}{place}"

    return [created(name) for name in names]


def _is_named(item: exp.Expr) -> bool:
    return isinstance(item, exp.Alias | exp.Column | exp.Star)


def _all_of(source: exp.Expr) -> exp.Select:
    """Return `SELECT * FROM source`; the star has the position of the source's name."""
    star = exp.Star()
    if isinstance(name := source.this, exp.Identifier):
        star.meta.update(name.meta)
    return exp.Select(expressions=[star], from_=exp.From(this=source.copy()))


def _report_rows(
    resolver: Resolver, body: exp.Expr | None, properties: list[exp.Expr], named: exp.Expr, kind: str
) -> None:
    """Report rows that come from something that is not read.

    DuckDB's AS SUMMARIZE t, PostgreSQL's AS EXECUTE p, BigQuery's view AS REPLICA OF t, Spark's view USING jdbc.
    """
    executed = next((item for item in properties if isinstance(item, exp.ExecuteAsProperty)), None)
    found = body if isinstance(body, exp.Expr) else executed
    if found is not None:
        word = "EXECUTE" if found is executed else found.key.upper()
        message = f"no rule reads what this CREATE takes its rows from ({word})"
        resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, named)
    elif kind in ("VIEW", "DYNAMIC TABLE"):
        message = "no rule reads what this view takes its rows from: it has no query"
        resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message, named)


def _report_cloned(resolver: Resolver, tree: exp.Expr, kind: str) -> None:
    """Report a cloned schema or database: https://docs.snowflake.com/en/sql-reference/sql/create-clone"""
    if kind in ("SCHEMA", "DATABASE") and (clone := tree.args.get("clone")) is not None:
        resolver.report(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            Severity.WARNING,
            f"every table of the {kind.lower()} is cloned: these tables are not in the lineage",
            clone,
            hint="read the lineage of a cloned table at the table that it was cloned from",
        )


def _inherit(resolver: Resolver, outcome: Outcome, properties: list[exp.Expr]) -> None:
    """PostgreSQL's PARTITION OF p and INHERITS (p): the table has p's columns, and its rows are p's rows, too.

    Rows that are written to p may be in its partitions, while no INSERT into p fills a table that inherits.
    https://www.postgresql.org/docs/current/ddl-inherit.html
    """
    named = [item.this for item in properties if isinstance(item, exp.PartitionedOfProperty)]
    partitioned = [item.this if isinstance(item, exp.Schema) else item for item in named]
    parents = [one for item in properties if isinstance(item, exp.InheritsProperty) for one in item.expressions]
    inherited: dict[str, ColumnSchema] = {}
    is_open = False
    for parent in (*partitioned, *parents):
        if not isinstance(parent, exp.Table) or outcome.target is None:
            continue
        name, known = resolver.name(parent), resolver.relation(parent, resolver.new_scope())
        names = [column for column, _ in known.columns()]
        own = BaseTable(outcome.target, dict.fromkeys(names), resolver.source, TableRows(outcome.target))
        outcome.others.append(Outcome("INSERT", name, names, [own.infer(column) for column in names], rows_of(own)))
        if parent in partitioned:
            sources = [sources for _, sources in known.columns()]
            outcome.others.append(Outcome("INSERT", outcome.target, names, sources, rows_of(known)))
        if known.is_open:
            is_open = True
            resolver.report(
                DiagnosticCode.UNRESOLVED_STAR,
                Severity.WARNING,
                f"the columns that {name} passes on are unknown",
                parent,
                hint="give the table's DDL or a JSON schema with --catalog, or ingest what creates it",
            )
        inherited.update((column, ColumnSchema(column)) for column in names if not known.is_open)
    if partitioned or parents:
        if outcome.target_kind is DatasetKind.TEMPORARY:
            message = f"rows that later statements add to a table above or below {outcome.target} are not followed"
            resolver.report(DiagnosticCode.UNSUPPORTED_SYNTAX, Severity.WARNING, message)
        inherited.update((column.name, column) for column in outcome.schema)
        outcome.schema = () if is_open else tuple(inherited.values())


def _like(resolver: Resolver, tree: exp.Expr, properties: list[exp.Expr]) -> tuple[ColumnSchema, ...]:
    """CREATE TABLE … LIKE s: the columns of s, none of its rows."""
    inside = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    for item in (*properties, *inside):
        if isinstance(item, exp.LikeProperty) and isinstance(item.this, exp.Table):
            _, model = resolver.look_up(resolver.identifiers.table_parts(item.this))
            return () if model.is_open else tuple(ColumnSchema(name) for name, _ in model.columns())
    return ()


@statement_rule(exp.Cache)
def cache(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Spark's CACHE TABLE t AS query defines a temporary view."""
    body = tree.args.get("expression")
    if body is None or not isinstance(tree.this, exp.Table):
        return Outcome("CACHE")
    outcome = Outcome("CREATE_VIEW", resolver.name(tree.this), defines=True, target_kind=DatasetKind.TEMPORARY)
    _name_columns(resolver, outcome, resolver.relation(body, resolver.new_scope()), [], tree)
    return outcome


def _name_columns(resolver: Resolver, outcome: Outcome, relation: Relation, listed: list[str], tree: exp.Expr) -> None:
    """Name the query's columns by the list, which may be shorter (PostgreSQL)."""
    pairs = list(relation.columns())
    if len(listed) > len(pairs) and not relation.is_open:
        resolver.report(
            DiagnosticCode.COLUMN_COUNT_MISMATCH,
            Severity.ERROR,
            f"the number of columns named is {len(listed)}, the query has {len(pairs)}",
            tree.this,
        )
    renamed = Relation([n for n, _ in pairs], [s for _, s in pairs], relation.rows, relation.opens).renamed(listed)
    if resolver.repeated_name_mark is not None:
        renamed = renamed.with_distinct_names(resolver.repeated_name_mark)
    outcome.names, outcome.columns = renamed.names, renamed.sources
    outcome.rows = rows_of(relation)
    outcome.relation = renamed
    if not renamed.is_open:
        outcome.schema = tuple(
            ColumnSchema(name, structured_type(resolver, sources) if resolver.naming.dialect.fields_by_dot else None)
            for name, sources in zip(renamed.names, renamed.sources, strict=True)
        )

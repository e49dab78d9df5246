"""ClickHouse's CREATE DICTIONARY: a table that is filled from its SOURCE, column by column of the same name.

https://clickhouse.com/docs/sql-reference/statements/create/dictionary
"""

from __future__ import annotations

from sqlglot import exp

from lineage.catalog.ddl import schema_columns
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.names import split_name
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.outcome import Outcome

__all__ = ["create_dictionary"]


def create_dictionary(resolver: Resolver, tree: exp.Expr, named: exp.Table, properties: list[exp.Expr]) -> Outcome:
    """Return what a CREATE DICTIONARY defines. Only a table of the same server is followed; others are reported."""
    outcome = Outcome("CREATE_DICTIONARY", resolver.naming.made(resolver.name(named)), defines=True)
    if isinstance(tree.this, exp.Schema):
        outcome.schema = schema_columns(tree.this, resolver.naming.dialect)
    source = next((one for one in properties if type(one) is exp.DictProperty and one.name.upper() == "SOURCE"), None)
    if source is None or str(source.args.get("kind")).upper() == "NULL":
        return outcome
    settings = {one.this.name.upper(): one.args["value"] for one in source.args.get("settings") or ()}
    if str(source.args["kind"]).upper() != "CLICKHOUSE" or "TABLE" not in settings or "WHERE" in settings:
        resolver.report(
            DiagnosticCode.DYNAMIC_SQL,
            Severity.WARNING,
            "what fills the dictionary is not followed: its SOURCE is a query, a condition or another system",
            named,
            lasts=True,
        )
    if "TABLE" not in settings or "QUERY" in settings or str(source.args["kind"]).upper() != "CLICKHOUSE":
        return outcome
    parts = [settings["DB"].name] if "DB" in settings else []
    parts += [part for part, _ in split_name(settings["TABLE"].name)]
    names = (exp.to_identifier(part, quoted=True) for part in reversed(parts))
    relation = resolver.table(exp.Table(**dict(zip(("this", "db", "catalog"), names, strict=False))))
    for column in outcome.schema:
        found = relation.find(column.name) or (relation.infer(column.name) if relation.is_open else None)
        outcome.names.append(column.name)
        outcome.columns.append(dict.fromkeys(found or {}, tree.this))
    if relation.rows is not None:
        outcome.rows = dict.fromkeys(relation.rows.own, tree.this)
    return outcome

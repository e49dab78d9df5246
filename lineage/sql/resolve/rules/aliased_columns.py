"""The columns that an alias in FROM lists: `AS t(a, b)`."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import (
    STAR,
    BaseTable,
    Relation,
    RenamedStar,
)
from lineage.sql.resolve.resolver import Resolver

__all__ = ["alias_columns", "rename_by_alias"]


def alias_columns(resolver: Resolver, node: exp.Expr) -> list[str]:
    """Return the column names of an alias, `AS t(a, b)`."""
    alias = node.args.get("alias")
    if type(alias) is not exp.TableAlias:
        return []
    columns = alias.args.get("columns")
    if not columns:
        return []
    return [resolver.identifiers.alias(c.this if isinstance(c, exp.ColumnDef) else c) for c in columns]


def rename_by_alias(resolver: Resolver, node: exp.Expr, relation: Relation) -> Relation:
    """Return a relation with the columns that its alias lists; over a star, report that each may be any column."""
    listed = alias_columns(resolver, node)
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

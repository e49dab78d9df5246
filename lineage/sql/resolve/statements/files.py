"""LOAD DATA and EXPORT DATA: tables loaded from and written to files; INSERT into a directory or a file."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from lineage.model.statement import DatasetKind
from lineage.sql.resolve.relations import STAR, Relation, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.ctes import scope_with_ctes
from lineage.sql.resolve.rules.functions_naming_tables import path_of_function
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.query import rows_of
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["columns_filled", "file_written", "load", "view_of_files", "written_to_file"]


@statement_rule(exp.LoadData)
def load_data(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Hive's `LOAD DATA INPATH 'p' INTO TABLE t`, BigQuery's `LOAD DATA INTO t (a INT64) FROM FILES (uris = […])`.

    The mapping of the file's columns to the table's is known from the file only.
    """
    named = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if not isinstance(named, exp.Table):
        return Outcome("LOAD_DATA")
    target, known = resolver.look_up(resolver.identifiers.table_parts(named))
    outcome = Outcome("LOAD_DATA", target)
    listed: list[str] = []
    if isinstance(tree.this, exp.Schema):
        items = (item.this if isinstance(item, exp.ColumnDef) else item for item in tree.this.expressions)
        listed = [resolver.identifiers.target_column(item) for item in items]
    places = [(place.name, place) for place in _locations(tree)]
    load(resolver, outcome, listed or columns_filled(resolver, tree, known), places)
    if tree.args.get("temp"):  # BigQuery's LOAD DATA INTO TEMP TABLE creates it
        outcome.defines, outcome.target_kind, outcome.relation = True, DatasetKind.TEMPORARY, outcome.addition()
    return outcome


def load(resolver: Resolver, outcome: Outcome, columns: list[str], files: Iterable[tuple[str, exp.Expr]]) -> None:
    """Fill columns of the target from files: which column of a file goes where is known from the file only.

    Without columns the target is filled as a whole: those that are read of it later are the file's.
    """
    total: Sources = {}
    for path, place in files:
        whole = resolver.location(path)
        absorb(total, dict(whole.columns())[STAR], IDENTITY, place)
        outcome.opens += [] if columns else [whole]
    outcome.names += columns or [STAR]
    outcome.columns += [dict(total) for _ in columns or [STAR]]


def view_of_files(resolver: Resolver, outcome: Outcome, columns: list[str], properties: Iterable[exp.Expr]) -> bool:
    """Fill Spark's temporary view USING a format from the path in its OPTIONS; return whether these have one."""
    options = [one for item in properties if isinstance(item, exp.OptionsProperty) for one in item.expressions]
    paths = [one.args["value"] for one in options if one.name.lower() == "path"]
    if paths:
        load(resolver, outcome, columns, [(path.name, path) for path in paths])
        outcome.relation = outcome.addition()
    return bool(paths)


def columns_filled(resolver: Resolver, tree: exp.Expr, known: Relation) -> list[str]:
    """Return the columns that a load without a column list fills: those of the table, if they are known."""
    if known.is_open:
        return []
    partition = tree.args.get("partition")
    given = partition.find_all(exp.Column) if isinstance(partition, exp.Expr) else ()
    fixed = {resolver.identifiers.target_column(column) for column in given}
    return [name for name, _ in known.columns() if name not in fixed]


@statement_rule(exp.Export)
def export_data(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """BigQuery's `EXPORT DATA OPTIONS (uri = 'gs://…') AS query`."""
    places = _locations(tree)
    return written_to_file(resolver, "EXPORT_DATA", places[0].name if places else None, tree.this, resolver.new_scope())


def file_written(target: exp.Expr) -> str | None:
    """Return the path that an INSERT writes instead of a table: a directory, ClickHouse's `FUNCTION s3('…')`."""
    if isinstance(target, exp.Directory):
        return str(target.this.name)
    if isinstance(target, exp.Anonymous):
        first = path_of_function(target)
        return str(first.name) if isinstance(first, exp.Literal) else str(target.name)
    return None


def written_to_file(resolver: Resolver, operation: str, path: str | None, query: exp.Expr, scope: Scope) -> Outcome:
    """Return the outcome of writing a query to a file: the query's columns with their names."""
    relation = resolver.relation(query, scope_with_ctes(resolver, query.parent or query, scope))
    pairs = list(relation.columns())
    return Outcome(
        operation,
        path,
        [name for name, _ in pairs],
        [sources for _, sources in pairs],
        rows_of(relation),
        DatasetKind.FILE,
    )


def _locations(tree: exp.Expr) -> list[exp.Expr]:
    """Return the literals with file names: those of INPATH, or of the options uri and uris."""
    inpath = tree.args.get("inpath")
    if isinstance(inpath, exp.Literal):
        return [inpath]
    found: list[exp.Expr] = []
    for key in ("files", "options"):
        options = tree.args.get(key)
        for option in options.expressions if isinstance(options, exp.Expr) else ():
            if isinstance(option, exp.Property) and option.name.lower() in ("uri", "uris"):
                value = option.args["value"]
                found += value.expressions if isinstance(value, exp.Array) else [value]
    return found

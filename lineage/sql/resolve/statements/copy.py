"""COPY: a table loaded from files or written to files; in Snowflake also through a query."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import DatasetKind
from lineage.sql.resolve.relations import Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.files import columns_filled, load
from lineage.sql.resolve.statements.insert import target_columns
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.query import rows_of
from lineage.sql.resolve.transformation_codes import IDENTITY

_STREAMS = frozenset(("STDIN", "STDOUT", "PROGRAM"))
"""COPY's sources and targets that are not datasets, PostgreSQL: https://www.postgresql.org/docs/current/sql-copy.html"""

_BY_NAME = frozenset(("databricks", "spark"))
"""COPY INTO pairs the columns by name: https://docs.databricks.com/sql/language-manual/delta-copy-into.html"""


@statement_rule(exp.Copy)
def copy(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what a COPY writes: a table from a file, or a file from a table or query."""
    places = _places(tree)
    inner = tree.this.this if isinstance(tree.this, exp.Schema | exp.Subquery) else tree.this
    if not tree.args.get("kind"):
        listed_only = isinstance(tree.this, exp.Schema) and isinstance(inner, exp.Table)
        return _unload(resolver, _selected(tree.this) if listed_only else inner, places)
    if not isinstance(inner, exp.Table):
        return Outcome("COPY")
    if not isinstance(inner.this, exp.Identifier):  # COPY INTO @stage FROM (query | table)
        written = Outcome("COPY", inner.this.name, target_kind=DatasetKind.FILE)
        return _from_relation(resolver, written, places[0]) if places else written
    target, known = resolver.look_up(resolver.identifiers.table_parts(inner))
    outcome = Outcome("COPY", target)
    listed: list[str] = []
    if isinstance(tree.this, exp.Schema):
        listed = [resolver.identifiers.target_column(column) for column in tree.this.expressions]
    for place in places:
        query = place.this if isinstance(place, exp.Subquery) else place
        if isinstance(query, exp.Query):
            relation = resolver.relation(query, resolver.new_scope())
            outcome.rows = rows_of(relation)
            by_position = listed or any(option.name.upper() == "POSITION" for option in tree.args.get("params") or ())
            by_name = resolver.naming.dialect.name in _BY_NAME and not by_position
            pairs = list(relation.columns()) if by_name else target_columns(resolver, tree, relation, known, target)
            for name, sources in pairs:
                placed: Sources = {}
                absorb(placed, sources, IDENTITY, place)
                outcome.names.append(name)
                outcome.columns.append(placed)
        elif _is_stream(place):
            outcome.names += listed
            outcome.columns += [{} for _ in listed]
            if place.name.upper() == "PROGRAM":
                message = "the rows come from a program: what it reads is not known"
                resolver.report(DiagnosticCode.UNSUPPORTED_STATEMENT, Severity.WARNING, message, place)
        else:
            load(resolver, outcome, listed or columns_filled(resolver, tree, known), [(_path(place), place)])
    return outcome


def _places(tree: exp.Expr) -> list[exp.Expr]:
    """Return the files or the query; behind Databricks' BY POSITION they are parsed as an option."""
    places = [place for place in tree.args.get("files") or () if isinstance(place, exp.Expr)]
    if [place.name.upper() for place in places if type(place) is exp.Identifier] == ["BY"]:
        options = [option for option in tree.args.get("params") or () if option.name.upper() == "FROM"]
        places = [option.expression for option in options if option.expression is not None]
    return places


def _unload(resolver: Resolver, inner: exp.Expr, places: list[exp.Expr]) -> Outcome:
    path = _path(places[0]) if places and not _is_stream(places[0]) else None
    outcome = Outcome("COPY", path, target_kind=DatasetKind.FILE)
    return _from_relation(resolver, outcome, inner)


def _selected(named: exp.Schema) -> exp.Select:
    """Return the query that `COPY t (a, b) TO …` stands for."""
    columns = [exp.Column(this=one.this if isinstance(one, exp.ColumnDef) else one) for one in named.expressions]
    return exp.Select(expressions=columns, from_=exp.From(this=named.this))


def _from_relation(resolver: Resolver, outcome: Outcome, source: exp.Expr) -> Outcome:
    relation = resolver.relation(source, resolver.new_scope())
    pairs = list(relation.columns())
    outcome.names, outcome.columns = [name for name, _ in pairs], [sources for _, sources in pairs]
    outcome.rows = rows_of(relation)
    return outcome


def _is_stream(place: exp.Expr) -> bool:
    return type(place) is exp.Identifier and not place.args.get("quoted") and place.name.upper() in _STREAMS


def _path(place: exp.Expr) -> str:
    return place.this.name if isinstance(place, exp.Table) else place.name

"""COPY: a table loaded from files or written to files; in Snowflake also through a query."""

from __future__ import annotations

from sqlglot import exp

from lineage.model.statement import DatasetKind
from lineage.sql.resolve.relations import STAR, Relation, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.statements.outcome import Outcome, statement_rule
from lineage.sql.resolve.statements.query import rows_of
from lineage.sql.resolve.transformation_codes import IDENTITY

_STREAMS = frozenset(("STDIN", "STDOUT", "PROGRAM"))
"""COPY's sources and targets that are not datasets, PostgreSQL: https://www.postgresql.org/docs/current/sql-copy.html"""


@statement_rule(exp.Copy)
def copy(resolver: Resolver, tree: exp.Expr) -> Outcome:
    """Return what a COPY writes: a table from a file, or a file from a table or query."""
    places = [place for place in tree.args.get("files") or () if isinstance(place, exp.Expr)]
    inner = tree.this.this if isinstance(tree.this, exp.Schema | exp.Subquery) else tree.this
    if not tree.args.get("kind"):
        return _unload(resolver, inner, places)
    if not isinstance(inner, exp.Table):
        return Outcome("COPY")
    if not isinstance(inner.this, exp.Identifier):  # COPY INTO @stage FROM (query | table)
        written = Outcome("COPY", inner.this.name, target_kind=DatasetKind.FILE)
        return _from_relation(resolver, written, places[0]) if places else written
    outcome = Outcome("COPY", resolver.existing_name(inner))
    listed: list[str] = []
    if isinstance(tree.this, exp.Schema):
        listed = [resolver.identifiers.target_column(column) for column in tree.this.expressions]
    for place in places:
        query = place.this if isinstance(place, exp.Subquery) else place
        if isinstance(query, exp.Query):
            relation = resolver.relation(query, resolver.new_scope()).renamed(listed)
            outcome.rows = rows_of(relation)
        else:
            # The mapping of the file's columns to the table's is known from the file only.
            columns = {} if _is_stream(place) else dict(resolver.location(_path(place)).columns())[STAR]
            names = listed or ([STAR] if columns else [])
            relation = Relation(names, [columns for _ in names])
        for name, sources in relation.columns():
            placed: Sources = {}
            absorb(placed, sources, IDENTITY, place)
            outcome.names.append(name)
            outcome.columns.append(placed)
    return outcome


def _unload(resolver: Resolver, inner: exp.Expr, places: list[exp.Expr]) -> Outcome:
    path = _path(places[0]) if places and not _is_stream(places[0]) else None
    outcome = Outcome("COPY", path, target_kind=DatasetKind.FILE)
    return _from_relation(resolver, outcome, inner)


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

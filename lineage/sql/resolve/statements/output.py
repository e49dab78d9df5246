"""T-SQL's OUTPUT … INTO: the changed rows are written to a second table.

https://learn.microsoft.com/sql/t-sql/queries/output-clause-transact-sql
"""

from __future__ import annotations

from sqlglot import exp

from lineage.model.names import split_name
from lineage.sql.resolve.relations import Relation, Sources
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.select_list import project
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.statements.outcome import Outcome
from lineage.sql.resolve.targets import into_parts
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["output_into"]


def output_into(
    resolver: Resolver, tree: exp.Expr, target: str, scope: Scope, conditions: Sources, outcome: Outcome
) -> None:
    """Add to an outcome what its OUTPUT clause writes: columns before (`deleted`) and after (`inserted`) the change.

    `conditions` determine which rows were changed, and so which are written.
    """
    returning = tree.args.get("returning")
    if returning is None:
        return
    into = returning.args.get("into")
    if isinstance(into, exp.Func) and into._meta and "start" in into._meta:  # `INTO log (a)` is parsed as the function
        name = resolver.text[into._meta["start"] : into._meta["end"] + 1]
        into = exp.Anonymous(this=name, expressions=list(into.iter_expressions()))
    if not isinstance(into, exp.Identifier | exp.Anonymous | exp.Table):
        return
    _, changed = resolver.look_up([part for part, _ in split_name(target)])
    seen = resolver.new_scope(scope.ctes)
    seen.items = dict(scope.items)
    seen.prefixed = {"inserted": changed, "deleted": changed}
    projection = project(resolver, exp.Select(expressions=returning.expressions), seen)
    full, known = resolver.look_up(into_parts(into, resolver.identifiers, resolver.naming.dialect))
    names = [resolver.identifiers.target_column(column) for column in into.expressions]
    if not names and not known.is_open:
        names = [column for column, _ in known.columns()]
    written = Relation(projection.names, projection.sources).renamed(names[: len(projection.names)])
    outcome.others.append(
        Outcome(
            outcome.operation,
            full,
            list(written.names),
            list(written.sources),
            {key: place for key, place in conditions.items() if key[1] != IDENTITY},
        )
    )

"""Window functions: the argument is the value; PARTITION BY and ORDER BY are WINDOW references. Named windows too."""

from __future__ import annotations

from sqlglot import exp

from lineage.sql.resolve.relations import Sources
from lineage.sql.resolve.resolver import Resolver, Stack, expression_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.transformation_codes import COMPOSE, WINDOW


@expression_rule(exp.Window)
def window(_: Resolver, scope: Scope, node: exp.Expr, effect: int, stack: Stack, __: Sources) -> None:
    """`f(x) OVER (base PARTITION BY p ORDER BY o)` and `f(x) OVER name`."""
    influence = COMPOSE[effect][WINDOW]
    keys: list[exp.Expr] = []
    current: exp.Expr | None = node
    met: set[str] = set()
    while current is not None:
        args = current.args
        keys.extend(args.get("partition_by") or ())
        if order := args.get("order"):
            keys.extend(key.this for key in order.expressions)
        if spec := args.get("spec"):
            keys.extend(
                bound for bound in (spec.args.get("start"), spec.args.get("end")) if isinstance(bound, exp.Expr)
            )
        named = args.get("alias")
        name = scope.resolver.identifiers.alias(named) if isinstance(named, exp.Identifier) else None
        if name is None or name in met:
            break
        met.add(name)
        current = _definition(scope, name)
    for key in reversed(keys):
        stack.append((key, influence))
    stack.append((node.this, effect))


def _definition(scope: Scope, name: str) -> exp.Expr | None:
    for around in scope.chain():
        if name in around.windows:
            return around.windows[name]
    return None

"""Who sees the plain value by the body of a masking policy or function: simple forms of CASE and IF only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from lineage.sql.resolve.calls.functions import FunctionEffects
from lineage.sql.resolve.transformation_codes import STEPS

__all__ = ["PolicyBody", "UNKNOWN_BODY", "body_of"]

_CURRENT_ROLE = frozenset(("CURRENT_ROLE", "CURRENTROLE", "CURRENT_AVAILABLE_ROLES"))
_IS_IN_ROLE = frozenset(("IS_ROLE_IN_SESSION", "IS_ACCOUNT_GROUP_MEMBER", "IS_MEMBER", "IS_DATABASE_ROLE_IN_SESSION"))


class PolicyBody(NamedTuple):
    """The roles that see the value, and whether these are all."""

    roles: tuple[str, ...] = ()
    is_known: bool = True


UNKNOWN_BODY = PolicyBody((), False)


def body_of(tree: exp.Expr | None, value: str, functions: FunctionEffects) -> PolicyBody:
    """Return who sees the value of the parameter `value` by an expression: `CASE WHEN role THEN value ELSE … END`.

    A branch hides the value if it does not have it, or only within a function that masks (a hash).
    """
    branches = list(_branches(tree)) if tree is not None else []
    if not branches:
        return UNKNOWN_BODY
    roles: list[str] = []
    for condition, shown in branches:
        if not _shows(shown, value, functions):
            continue
        found = _roles(condition) if condition is not None else None
        if found is None:
            return UNKNOWN_BODY
        roles += found
    return PolicyBody(tuple(dict.fromkeys(roles)))


def _branches(tree: exp.Expr) -> Iterator[tuple[exp.Expr | None, exp.Expr]]:
    """Yield conditions with what they lead to; the last one has none. Nothing is yielded of other forms."""
    tree = tree.unnest()
    if isinstance(tree, exp.Case) and tree.this is None:
        for one in tree.args.get("ifs") or ():
            yield one.this, one.args["true"]
        yield None, tree.args.get("default") or exp.Null()
    elif isinstance(tree, exp.If):
        yield tree.this, tree.args["true"]
        yield None, tree.args.get("false") or exp.Null()
    else:
        yield None, tree


def _shows(tree: exp.Expr, value: str, functions: FunctionEffects) -> bool:
    """Return whether an expression has the value outside of all functions that mask it."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Column) and node.name.lower() == value.lower():
            return True
        if isinstance(node, exp.Func):
            known = isinstance(node, exp.Anonymous)
            effect = functions.of_name(node.name) if known else functions.of_type(type(node))
            if STEPS[effect].masking:
                continue
        stack += node.iter_expressions()
    return False


def _roles(condition: exp.Expr) -> list[str] | None:
    """Return the roles of which one is enough for a condition; None if it is anything else."""
    condition = condition.unnest()
    if isinstance(condition, exp.Or):
        left, right = _roles(condition.left), _roles(condition.right)
        return None if left is None or right is None else [*left, *right]
    if isinstance(condition, exp.In) and _is_current_role(condition.this):
        listed = condition.expressions
        return [one.name for one in listed] if listed and all(_is_text(one) for one in listed) else None
    if isinstance(condition, exp.EQ):
        for role, text in ((condition.left, condition.right), (condition.right, condition.left)):
            if _is_current_role(role) and _is_text(text):
                return [text.name]
            if _member_of(role) is not None and isinstance(text, exp.Boolean) and text.this:
                return _member_of(role)
        return None
    return _member_of(condition)


def _member_of(tree: exp.Expr) -> list[str] | None:
    if isinstance(tree, exp.Anonymous) and tree.name.upper() in _IS_IN_ROLE and len(tree.expressions) == 1:
        [role] = tree.expressions
        return [role.name] if _is_text(role) else None
    return None


def _is_current_role(tree: exp.Expr) -> bool:
    name = tree.name if isinstance(tree, exp.Anonymous) else tree.sql_name() if isinstance(tree, exp.Func) else ""
    return name.upper() in _CURRENT_ROLE


def _is_text(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and tree.is_string

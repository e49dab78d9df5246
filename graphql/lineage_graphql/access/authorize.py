"""Refusing who lacks a role."""

from __future__ import annotations

from collections.abc import Collection

from lineage_graphql.access.roles import Caller, Role, TokenProblem
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["require", "require_any", "unauthenticated"]

_HINTS = {
    TokenProblem.MISSING: "send the header `Authorization: Bearer TOKEN`",
    TokenProblem.INVALID: "it may have been revoked, or be of another service: ask for another",
    TokenProblem.EXPIRED: "ask for another",
    TokenProblem.UNCHECKED: "try again later",
}


def require(caller: Caller | TokenProblem, role: Role) -> Caller:
    """Return the caller, who has the role.

    Raises:
        RefusedError: it is not known who asks (UNAUTHENTICATED), or they lack the role (FORBIDDEN).
    """
    return require_any(caller, (role,))


def require_any(caller: Caller | TokenProblem, allowed: Collection[Role]) -> Caller:
    """Return the caller, who has one of these roles.

    Raises:
        RefusedError: it is not known who asks (UNAUTHENTICATED), or they lack all of the roles (FORBIDDEN).
    """
    if isinstance(caller, TokenProblem):
        raise unauthenticated(caller)
    if caller.roles.isdisjoint(allowed):
        names = " or ".join(sorted(allowed))
        raise RefusedError(ErrorCode.FORBIDDEN, f"this needs the role {names}", "ask for a token with it", role=names)
    return caller


def unauthenticated(problem: TokenProblem) -> RefusedError:
    """Return the refusal of a request of which it is not known who sends it; `token` says why."""
    token = problem.name.lower()
    return RefusedError(ErrorCode.UNAUTHENTICATED, problem.value, _HINTS[problem], token=token)

"""Authorization by role."""

from __future__ import annotations

from collections.abc import Collection

from lineage_graphql.access.roles import Caller, Role, TokenProblem
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["require", "require_any", "unauthenticated"]

_HINTS = {
    TokenProblem.MISSING: "send the header `Authorization: Bearer TOKEN`",
    TokenProblem.INVALID: "it may be revoked or issued for another service: request a new one",
    TokenProblem.EXPIRED: "request a new one",
    TokenProblem.UNCHECKED: "try again later",
}


def require(caller: Caller | TokenProblem, role: Role) -> Caller:
    """Return the caller if they have the role.

    Raises:
        RefusedError: the caller is not authenticated (UNAUTHENTICATED) or lacks the role (FORBIDDEN).
    """
    return require_any(caller, (role,))


def require_any(caller: Caller | TokenProblem, allowed: Collection[Role]) -> Caller:
    """Return the caller if they have one of these roles.

    Raises:
        RefusedError: the caller is not authenticated (UNAUTHENTICATED) or lacks all of the roles (FORBIDDEN).
    """
    if isinstance(caller, TokenProblem):
        raise unauthenticated(caller)
    if caller.roles.isdisjoint(allowed):
        names = " or ".join(sorted(allowed))
        raise RefusedError(ErrorCode.FORBIDDEN, f"this needs the role {names}", "request such a token", role=names)
    return caller


def unauthenticated(problem: TokenProblem) -> RefusedError:
    """Return the refusal of an unauthenticated request; the extension `token` gives the reason."""
    token = problem.name.lower()
    return RefusedError(ErrorCode.UNAUTHENTICATED, problem.value, _HINTS[problem], token=token)

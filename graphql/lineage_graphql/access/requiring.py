"""Refusing who lacks a role."""

from __future__ import annotations

from lineage_graphql.access.roles import Caller, Role
from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["require"]


def require(caller: Caller | None, role: Role) -> Caller:
    """Return the caller, who has the role.

    Raises:
        RefusedError: nobody is known to ask (UNAUTHENTICATED), or they lack the role (FORBIDDEN).
    """
    if caller is None:
        raise RefusedError(
            ErrorCode.UNAUTHENTICATED, "a token is needed", "send the header `Authorization: Bearer TOKEN`"
        )
    if role not in caller.roles:
        raise RefusedError(
            ErrorCode.FORBIDDEN, f"this needs the role {role}", "ask for a token with it", role=str(role)
        )
    return caller

"""Roles, and what each may do. Neo4j's Community edition has none, so the service holds them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ANYBODY", "Caller", "Role", "TokenProblem"]


class Role(StrEnum):
    """What a caller may do; one may have several."""

    READER = "reader"
    """Ask questions."""
    INGESTER = "ingester"
    """Send lineage: OpenLineage events, batches of another process."""
    STEWARD = "steward"
    """Ask questions; describe, assert, retire, prune."""
    ADMIN = "admin"
    """All of it."""


_IMPLIED = {
    Role.READER: {Role.READER},
    Role.INGESTER: {Role.INGESTER},
    Role.STEWARD: {Role.STEWARD, Role.READER},
    Role.ADMIN: set(Role),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks; `name` is None where nobody has to say so. Roles are those granted, and those that they imply."""

    name: str | None
    granted: frozenset[Role]

    @property
    def roles(self) -> frozenset[Role]:
        """All roles, implied ones too."""
        return frozenset(role for granted in self.granted for role in _IMPLIED[granted])


class TokenProblem(StrEnum):
    """Why it is not known who asks."""

    MISSING = "a token is needed"
    INVALID = "the token is not valid here"
    EXPIRED = "the token has expired"
    UNCHECKED = "the token cannot be checked: the OpenID provider does not answer"


ANYBODY = Caller(None, frozenset({Role.ADMIN}))
"""The caller where no access is set up: on loopback, or with --insecure."""

"""Roles and their permissions. Neo4j's Community edition has no roles, so the service implements them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ANYBODY", "Caller", "Role", "TokenProblem"]


class Role(StrEnum):
    """What a caller may do. A caller may have several roles."""

    READER = "reader"
    """Query."""
    INGESTER = "ingester"
    """Ingest: OpenLineage events, batches of other processes."""
    STEWARD = "steward"
    """Query; describe, assert, retire, prune."""
    ADMIN = "admin"
    """Everything."""


_IMPLIED = {
    Role.READER: {Role.READER},
    Role.INGESTER: {Role.INGESTER},
    Role.STEWARD: {Role.STEWARD, Role.READER},
    Role.ADMIN: set(Role),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller; `name` is None if authentication is off."""

    name: str | None
    granted: frozenset[Role]

    @property
    def roles(self) -> frozenset[Role]:
        """The granted roles and those they imply."""
        return frozenset(role for granted in self.granted for role in _IMPLIED[granted])


class TokenProblem(StrEnum):
    """Why a caller is not authenticated."""

    MISSING = "a token is required"
    INVALID = "the token is not valid here"
    EXPIRED = "the token has expired"
    UNCHECKED = "the token cannot be checked: the OpenID provider does not answer"


ANYBODY = Caller(None, frozenset({Role.ADMIN}))
"""The caller if authentication is off: on loopback, or with --insecure."""

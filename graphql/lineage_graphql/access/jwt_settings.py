"""Settings of authentication by JWT; apart, since what reads tokens is loaded only where it is used."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["JwtSettings"]


class JwtSettings(BaseModel):
    """The required issuer and audience, and the claim that holds roles (dots separate nested claims)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str
    audience: str
    roles_claim: str = "roles"
    jwks_url: str | None = None
    """URL of the keys; by default taken from the issuer's `/.well-known/openid-configuration`."""

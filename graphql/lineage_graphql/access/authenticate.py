"""Authentication by the header `Authorization`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.jwt_settings import JwtSettings
from lineage_graphql.access.roles import ANYBODY, Caller, TokenProblem
from lineage_graphql.settings import Settings

if TYPE_CHECKING:
    from lineage_graphql.access.jwt import JwtAuthenticator

__all__ = ["Authenticator"]

_MAX_TOKEN = 16_384


class Authenticator:
    """Authenticates callers by API token or JWT; fetching the keys for JWTs may block on the network."""

    def __init__(self, settings: Settings) -> None:
        self._anybody = None if settings.secured else ANYBODY
        self._tokens = TokenFile(settings.tokens) if settings.tokens else None
        self._jwts = _jwts(settings.oidc) if settings.oidc else None

    def caller(self, authorization: str | None) -> Caller | TokenProblem:
        """Return the caller that the header `Authorization` authenticates, or why it does not.

        Raises:
            TokenFileError: the token file cannot be read.
        """
        if self._anybody is not None:
            return self._anybody
        scheme, _, token = (authorization or "").strip().partition(" ")
        token = token.strip()
        if scheme.casefold() != "bearer" or not token:
            return TokenProblem.MISSING
        if len(token) > _MAX_TOKEN:
            return TokenProblem.INVALID
        if token.count(".") == 2 and self._jwts is not None:
            return self._jwts.caller(token)
        return self._tokens.caller(token) if self._tokens is not None else TokenProblem.INVALID


def _jwts(settings: JwtSettings) -> JwtAuthenticator:
    from lineage_graphql.access.jwt import JwtAuthenticator  # noqa: PLC0415  with cryptography, only where it is used

    return JwtAuthenticator(settings)

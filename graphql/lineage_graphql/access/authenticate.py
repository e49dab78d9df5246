"""Authentication by the header `Authorization`."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from lineage_graphql.access.access_tokens import TokenFile, TokenFileError
from lineage_graphql.access.jwt_settings import JwtSettings
from lineage_graphql.access.roles import ANYBODY, Caller, TokenProblem
from lineage_graphql.settings import Settings

if TYPE_CHECKING:
    from lineage_graphql.access.jwt import JwtAuthenticator

__all__ = ["Authenticator"]

_MAX_TOKEN = 16_384
_ACCEPTED = 10_000
"""JWTs that are remembered as good."""


class Authenticator:
    """Authenticates callers by API token or JWT; fetching the keys for JWTs may block on the network."""

    def __init__(self, settings: Settings) -> None:
        self._anybody = None if settings.secured else ANYBODY
        self._tokens = TokenFile(settings.tokens) if settings.tokens else None
        self._jwts = _jwts(settings.oidc) if settings.oidc else None
        self._accepted: OrderedDict[bytes, None] = OrderedDict()

    def caller(self, authorization: str | None) -> Caller | TokenProblem:
        """Return the caller that the header `Authorization` authenticates, or why it does not.

        Raises:
            TokenFileError: the token file cannot be read.
        """
        if self._anybody is not None:
            return self._anybody
        token = _bearer(authorization)
        if not token:
            return TokenProblem.MISSING
        if len(token) > _MAX_TOKEN:
            return TokenProblem.INVALID
        if self._jwts is not None and _is_jwt(token):
            caller = self._jwts.caller(token)
            if isinstance(caller, Caller):
                self._accepted[_digest(token)] = None
                if len(self._accepted) > _ACCEPTED:
                    self._accepted.popitem(last=False)
            return caller
        return self._tokens.caller(token) if self._tokens is not None else TokenProblem.INVALID

    def known_token(self, authorization: str | None) -> bytes | None:
        """Return the digest of a token that can be seen to be good without asking anyone; None of any other.

        An API token is looked up. A JWT must have been accepted before: checking a new one may mean fetching keys.
        """
        token = _bearer(authorization)
        if self._anybody is not None or not token or len(token) > _MAX_TOKEN:
            return None
        digest = _digest(token)
        if self._jwts is not None and _is_jwt(token):
            return digest if digest in self._accepted else None
        try:
            good = self._tokens is not None and isinstance(self._tokens.caller(token), Caller)
        except TokenFileError:  # the request itself says so
            good = False
        return digest if good else None


def _bearer(authorization: str | None) -> str:
    """Return the token of the header; nothing if it has another scheme."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def _is_jwt(token: str) -> bool:
    return token.count(".") == 2


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()  # no token is kept


def _jwts(settings: JwtSettings) -> JwtAuthenticator:
    from lineage_graphql.access.jwt import JwtAuthenticator  # noqa: PLC0415  with cryptography, only where it is used

    return JwtAuthenticator(settings)

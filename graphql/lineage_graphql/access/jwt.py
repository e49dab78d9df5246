"""Authentication by JWTs of an OpenID provider: signature, issuer, audience, times, and a claim with roles."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt

from lineage_graphql.access.jwt_settings import JwtSettings
from lineage_graphql.access.roles import Caller, Role, TokenProblem

__all__ = ["JwtAuthenticator"]

_LOGGER = logging.getLogger(__name__)
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY_SECONDS = 30
_SECONDS_BETWEEN_FAILURES = 5.0


class JwtAuthenticator:
    """Authenticates callers by JWT. Keys are fetched with the first token, and again for an unknown key id."""

    def __init__(self, settings: JwtSettings) -> None:
        self._settings = settings
        self._keys: jwt.PyJWKClient | None = None
        self._failed_at = float("-inf")

    def caller(self, token: str) -> Caller | TokenProblem:
        """Return the caller that a token authenticates, or why it does not."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in _ALGORITHMS:
                return TokenProblem.INVALID
            claims = jwt.decode(
                token,
                self._key_client().get_signing_key_from_jwt(token),
                algorithms=_ALGORITHMS,
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWKClientConnectionError as error:
            _LOGGER.warning("the keys of %s cannot be fetched: %s", self._settings.issuer, error)
            return TokenProblem.UNCHECKED
        except jwt.PyJWTError as error:
            _LOGGER.info("a JWT was refused: %s", error)
            # The signature was valid: it is checked before the times.
            return TokenProblem.EXPIRED if isinstance(error, jwt.ExpiredSignatureError) else TokenProblem.INVALID
        return Caller(str(claims["sub"]), frozenset(_roles(claims, self._settings.roles_claim)))

    def _key_client(self) -> jwt.PyJWKClient:
        if self._keys is None:
            if time.monotonic() - self._failed_at < _SECONDS_BETWEEN_FAILURES:
                raise jwt.PyJWKClientConnectionError("it failed a moment ago")
            try:
                url = self._settings.jwks_url or self._discover()
            except jwt.PyJWKClientConnectionError:
                self._failed_at = time.monotonic()
                raise
            self._keys = jwt.PyJWKClient(url, cache_keys=True, lifespan=300, timeout=5)
        return self._keys

    def _discover(self) -> str:
        """Return the URL of the keys (OpenID Connect Discovery 1.0, section 4)."""
        url = self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration"
        # Fetched by the same client as the keys, so that proxies and certificates are handled alike.
        document = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=5).fetch_data()
        found = document.get("jwks_uri") if isinstance(document, Mapping) else None
        if not isinstance(found, str) or urlsplit(found).scheme not in ("http", "https"):
            raise jwt.PyJWKClientConnectionError(f"{url} has no jwks_uri")
        return found


def _roles(claims: Mapping[str, Any], path: str) -> Iterable[Role]:
    value: Any = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    names = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    known = {**{str(role): role for role in Role}, **{f"lineage:{role}": role for role in Role}}
    return [known[name] for name in names if isinstance(name, str) and name in known]

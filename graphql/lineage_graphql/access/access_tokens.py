"""API tokens with their roles and expiry in a file, which holds hashes of the tokens only."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import platformdirs
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from lineage_graphql.access.roles import Caller, Role, TokenProblem

__all__ = ["TokenFile", "TokenFileError", "TokenRecord", "default_token_path"]

_PREFIX = "lineage_"


class TokenFileError(Exception):
    """The token file cannot be read or is invalid."""


class TokenRecord(BaseModel):
    """A stored token: `id` is part of the token, `hash` is the SHA-256 of its secret part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    roles: tuple[Role, ...]
    hash: str
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None

    def valid_at(self, at: datetime) -> bool:
        """Return whether the token has not expired at this time."""
        return self.expires_at is None or at < self.expires_at


class _Records(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tokens: list[TokenRecord] = []


def default_token_path() -> Path:
    """Return the default token file: `LINEAGE_TOKENS`, else a file in the user's configuration folder."""
    return Path(os.environ.get("LINEAGE_TOKENS") or platformdirs.user_config_path("lineage") / "tokens.json")


class TokenFile:
    """A token file, reread whenever it changes, so that revoking a token takes effect at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._by_id: dict[str, TokenRecord] = {}

    def records(self) -> list[TokenRecord]:
        """Return all tokens, oldest first.

        Raises:
            TokenFileError: the file cannot be read.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._by_id = None, {}
            return []
        except OSError as error:
            raise TokenFileError(f"{self.path}: {error.strerror}") from error
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._by_id = {record.id: record for record in self._read().tokens}
            self._stamp = stamp
        return list(self._by_id.values())

    def create(self, name: str, roles: Iterable[Role], expires_at: datetime | None = None) -> tuple[str, TokenRecord]:
        """Return a new token, which cannot be recovered later, and its stored record.

        Raises:
            TokenFileError: the file cannot be read or written.
        """
        identity, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        record = TokenRecord(
            id=identity,
            name=name,
            roles=tuple(sorted(set(roles))),
            hash=_hash(secret),
            created_at=datetime.now(UTC).replace(microsecond=0),
            expires_at=expires_at,
        )
        self._write([*self.records(), record])
        return f"{_PREFIX}{identity}_{secret}", record

    def revoke(self, identity: str) -> bool:
        """Remove the token with an id; return whether it existed.

        Raises:
            TokenFileError: the file cannot be read or written.
        """
        records = self.records()
        kept = [record for record in records if record.id != identity]
        if len(kept) < len(records):
            self._write(kept)
        return len(kept) < len(records)

    def caller(self, token: str) -> Caller | TokenProblem:
        """Return the caller that a token authenticates, or why it does not.

        Raises:
            TokenFileError: the file cannot be read.
        """
        self.records()
        identity, _, secret = token.removeprefix(_PREFIX).partition("_")
        record = self._by_id.get(identity) if token.startswith(_PREFIX) else None
        # An unknown id takes as long as a wrong secret.
        matches = hmac.compare_digest(record.hash if record else _hash(""), _hash(secret))
        if record is None or not matches:
            return TokenProblem.INVALID
        if not record.valid_at(datetime.now(UTC)):
            return TokenProblem.EXPIRED
        return Caller(record.name, frozenset(record.roles))

    def _read(self) -> _Records:
        try:
            return _Records.model_validate_json(self.path.read_bytes())
        except (OSError, ValidationError) as error:
            raise TokenFileError(f"{self.path} is not a token file: {error}") from error

    def _write(self, records: list[TokenRecord]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Atomic: readers see either the old file or the new one. mkstemp restricts it to its owner.
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".tokens-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_Records(tokens=records).model_dump_json(indent=2))
            Path(temporary).replace(self.path)
        except OSError as error:
            raise TokenFileError(f"{self.path} cannot be written: {error.strerror}") from error


def _hash(secret: str) -> str:
    # The secret has 256 random bits: a slow hash adds nothing.
    return hashlib.sha256(secret.encode()).hexdigest()

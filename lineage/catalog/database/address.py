"""The address of a database: a URI, whose password is never printed, logged or stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from lineage.catalog.database.errors import DatabaseAddressError

__all__ = ["DatabaseAddress", "is_database_address"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*://")
_POSTGRES = frozenset(("postgres", "postgresql", "pgsql"))
_PUBLIC_PARAMETERS = frozenset(
    ("application_name", "connect_timeout", "dbname", "host", "hostaddr", "options", "port", "role", "schema",
     "service", "sslmode", "target_session_attrs", "user", "warehouse")
)  # fmt: skip
"""Parameters of an address that are no secrets."""
_HIDDEN = "***"


def is_database_address(text: str) -> bool:
    """Return whether a text is a database's address, not a file's path.

    >>> is_database_address("postgresql://db/shop"), is_database_address("schemas/shop.sql")
    (True, False)
    """
    return _SCHEME.match(text) is not None


@dataclass(frozen=True, slots=True, repr=False)
class DatabaseAddress:
    """A database's URI. Its text is without password and parameters; `uri` is for the driver only.

    >>> address = DatabaseAddress.parse("postgresql://me:se%20cret@db.example:5433/shop?sslmode=require")
    >>> str(address), address.is_postgres, address.redact('no entry for "me", password se cret')
    ('postgresql://me@db.example:5433/shop', True, 'no entry for "me", password ***')
    """

    uri: str

    @classmethod
    def parse(cls, text: str) -> DatabaseAddress:
        """Return an address.

        Raises:
            DatabaseAddressError: the text is not a URI.
        """
        address = cls(text.strip())
        if not is_database_address(address.uri):
            raise DatabaseAddressError(
                "this is not the address of a database", "an example: postgresql://user@host:5432/database"
            )
        try:
            _ = urlsplit(address.uri).port
        except ValueError as error:
            hint = "characters such as `@`, `/` and `#` in a password are written with `%`: `%40`, `%2F`, `%23`"
            raise DatabaseAddressError("the address of the database is malformed", hint) from error
        return address

    @property
    def scheme(self) -> str:
        """The database product, and the driver if it is named (`mysql+pymysql`), in lower case."""
        return self.uri.partition("://")[0].lower()

    @property
    def product(self) -> str:
        """The database product, as the address names it."""
        return self.scheme.partition("+")[0]

    @property
    def is_postgres(self) -> bool:
        """Whether it is a PostgreSQL's."""
        return self.product in _POSTGRES

    def __str__(self) -> str:
        parts = urlsplit(self.uri)
        host = parts.netloc.rpartition("@")[2]
        user = f"{parts.username}@" if parts.username else ""
        return f"{self.scheme}://{user}{host}{parts.path}"

    @property
    def without_secrets(self) -> str:
        """The address with those of its parameters that are no secrets."""
        pieces = urlsplit(self.uri).query.split("&")
        return "?".join(
            (str(self), "&".join(one for one in pieces if one.partition("=")[0].lower() in _PUBLIC_PARAMETERS))
        )

    def __repr__(self) -> str:
        return f"DatabaseAddress({str(self)!r})"

    def redact(self, text: str) -> str:
        """Return a message of a driver without the secrets of the address."""
        text = text.replace(self.uri, str(self))
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text

    def _secrets(self) -> set[str]:
        parts = urlsplit(self.uri)
        user_info = parts.netloc.rpartition("@")[0]
        secrets = {user_info.partition(":")[2]}
        for piece in parts.query.split("&"):
            name, _, value = piece.partition("=")
            if name.lower() not in _PUBLIC_PARAMETERS:
                secrets.add(value)
        secrets |= {value for name, value in parse_qsl(parts.query) if name.lower() not in _PUBLIC_PARAMETERS}
        return {secret for one in secrets for secret in (one, unquote(one)) if secret}

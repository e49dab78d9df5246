"""A session with a PostgreSQL server, through psycopg: https://www.psycopg.org/psycopg3/docs/

The session of an ingest is one read-only transaction, so that all queries see the same state of the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError, DriverMissingError

__all__ = ["PostgresRejectionError", "PostgresSession", "postgres_session"]

_CONNECT_SECONDS = 15
_OLDEST = 120_000
"""PostgreSQL 12: the first with generated columns."""
_ROWS_AT_ONCE = 10_000
_LOCK_WAIT = "10s"
"""For how long a query may wait for a table that somebody changes at the moment."""


class PostgresRejectionError(DatabaseError):
    """The server rejected a statement; `condition` is psycopg's name of the error, such as `UndefinedTable`."""

    def __init__(self, message: str, condition: str = "") -> None:
        super().__init__(message)
        self.condition = condition


class PostgresSession:
    """An open session. Its transaction ends without effect."""

    def __init__(self, connection: Any, address: DatabaseAddress) -> None:
        self._connection = connection
        self._address = address
        self._cursors = 0

    @property
    def namespace(self) -> str:
        """The OpenLineage namespace of the server; `localhost` if it is reached by a socket."""
        info = self._connection.info
        host = info.host if info.host and not info.host.startswith(("/", "@")) else "localhost"
        return f"postgres://{host}:{info.port}"

    @property
    def database(self) -> str:
        """The name of the database."""
        return str(self._connection.info.dbname)

    @property
    def version(self) -> int:
        """The server's version number, such as 160004."""
        return int(self._connection.info.server_version)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Raises:
            PostgresRejectionError: the server rejects it; the transaction can go on.
            DatabaseUnreachableError: the connection is lost.
        """
        with self._savepoint(), self._connection.cursor() as cursor:
            cursor.execute(query, parameters or None)
            return list(cursor.fetchall()) if cursor.description is not None else []

    def single(self, statement: str) -> None:
        """Run one statement. The protocol refuses a text with several.

        Raises:
            PostgresRejectionError: the server rejects it; the transaction can go on.
            DatabaseUnreachableError: the connection is lost.
        """
        with self._savepoint(), self._connection.cursor(binary=True) as cursor:
            cursor.execute(statement)

    def stream(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query with many, without keeping them.

        Raises:
            PostgresRejectionError: the server rejects it; the transaction can go on.
            DatabaseUnreachableError: the connection is lost.
        """
        self._cursors += 1
        with self._savepoint(), self._connection.cursor(f"lineage_{self._cursors}") as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(query, parameters or None)
            yield from cursor

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        import psycopg  # noqa: PLC0415  an extra

        try:
            with self._connection.transaction():
                yield
        except psycopg.OperationalError as error:
            if self._connection.broken:
                raise DatabaseUnreachableError(f"{self._address}: the connection is lost") from None
            raise PostgresRejectionError(self._message(error), type(error).__name__) from None
        except psycopg.Error as error:
            raise PostgresRejectionError(self._message(error), type(error).__name__) from None

    def _message(self, error: Any) -> str:
        """Return the server's message; details are left out, because they may quote rows."""
        text = error.diag.message_primary or str(error).partition("\n")[0]
        return self._address.redact(text)


@contextmanager
def postgres_session(address: DatabaseAddress, *, read_only: bool = True) -> Iterator[PostgresSession]:
    """Yield a session in one transaction, which is rolled back at the end.

    Raises:
        DriverMissingError: psycopg is not installed.
        DatabaseUnreachableError: there is no connection.
        DatabaseError: the server is older than PostgreSQL 12.
    """
    try:
        import psycopg  # noqa: PLC0415  an extra
    except ImportError as error:
        hint = "pip install '.[databases]' in a checkout of lineage"
        raise DriverMissingError("reading a PostgreSQL database needs psycopg", hint) from error
    uri = f"postgresql://{address.uri.partition('://')[2]}"
    try:
        connection = psycopg.connect(uri, connect_timeout=_CONNECT_SECONDS, application_name="lineage")
    except psycopg.ProgrammingError:
        hint = "an example: postgresql://user@host:5432/database"
        raise DatabaseUnreachableError(f"{address}: the address is malformed", hint) from None
    except psycopg.Error as error:
        reason = address.redact(str(error)).strip()
        hint = "check host, port, database, user, and the password (PGPASSWORD, or ~/.pgpass)"
        raise DatabaseUnreachableError(f"{address}: {reason}", hint) from None
    try:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = read_only
        session = PostgresSession(connection, address)
        if session.version < _OLDEST:
            hint = "give the schemas as files (--catalog), and ingest the query log"
            raise DatabaseError(f"{address}: the server is older than PostgreSQL 12", hint)
        connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")  # begins the transaction
        yield session
    finally:
        if not connection.closed:
            connection.rollback()
            connection.close()

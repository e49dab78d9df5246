"""A database of a real PostgreSQL, made for one test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

__all__ = ["NAMESPACE", "ServedDatabase", "new_database"]

NAMESPACE = "postgres://warehouse:5432"


@dataclass(frozen=True, slots=True)
class ServedDatabase:
    """Its name, and the address of its server by TCP."""

    name: str
    host: str
    port: str
    user: str = "postgres"

    @property
    def uri(self) -> str:
        """Its address, with a password that the server does not ask for."""
        return f"postgresql://{self.user}:s3cr%23t@{self.host}:{self.port}/{self.name}"

    def run(self, sql: str) -> None:
        """Run statements."""
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(sql)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Return the rows of a query."""
        with psycopg.connect(self.uri, autocommit=True) as connection:
            return connection.execute(sql).fetchall()


@contextmanager
def new_database(port: str) -> Iterator[ServedDatabase]:
    """Create a database, and drop it at the end of the block."""
    server = ServedDatabase("postgres", "127.0.0.1", port)
    name = f"wh_{secrets.token_hex(4)}"
    server.run(f"CREATE DATABASE {name}")
    try:
        yield ServedDatabase(name, server.host, port)
    finally:
        server.run(f"DROP DATABASE {name} WITH (FORCE)")

"""A connection to PostgreSQL by the C library of its wheel: https://www.postgresql.org/docs/current/libpq.html"""

from __future__ import annotations

import ctypes
from pathlib import Path

from tests.soundness.experiment import RejectedError

__all__ = ["Libpq"]

_FAILED = (5, 7)
"""PGRES_BAD_RESPONSE and PGRES_FATAL_ERROR."""


class Libpq:
    """One connection, over the server's socket."""

    def __init__(self, binaries: Path, home: Path) -> None:
        self._library = ctypes.CDLL(str(binaries / "lib" / "libpq.so.5"))
        for name in ("PQconnectdb", "PQexec"):
            getattr(self._library, name).restype = ctypes.c_void_p
        for name in ("PQgetvalue", "PQresultErrorMessage", "PQerrorMessage"):
            getattr(self._library, name).restype = ctypes.c_char_p
        described = f"host={home} user=postgres dbname=postgres".encode()
        self._connection = ctypes.c_void_p(self._library.PQconnectdb(described))
        if self._library.PQstatus(self._connection):
            raise RuntimeError(self._library.PQerrorMessage(self._connection).decode())

    def run(self, text: str) -> list[str]:
        """Run a text; return the first column of the last result.

        Raises:
            RejectedError: the server does not accept it.
        """
        result = ctypes.c_void_p(self._library.PQexec(self._connection, text.encode()))
        try:
            if self._library.PQresultStatus(result) in _FAILED:
                message = self._library.PQresultErrorMessage(result).decode().splitlines()
                raise RejectedError(message[0].removeprefix("ERROR:").strip())
            rows = range(self._library.PQntuples(result))
            return [self._library.PQgetvalue(result, row, 0).decode() for row in rows]
        finally:
            self._library.PQclear(result)

    def close(self) -> None:
        self._library.PQfinish(self._connection)

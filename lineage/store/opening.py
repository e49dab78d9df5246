"""Open a store by its address."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit, urlunsplit

from lineage.store.errors import StoreUnreachableError
from lineage.store.protocol import GraphStore

__all__ = ["DEFAULT_PATH", "open_store"]

DEFAULT_PATH = "lineage.db"

_SCHEMES = frozenset(f"{name}{security}" for name in ("bolt", "neo4j") for security in ("", "+s", "+ssc"))
_SERVICES = frozenset({"http", "https"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def open_store(
    address: str | Path | None = None,
    *,
    read_only: bool = False,
    user: str | None = None,
    password: str | None = None,
) -> GraphStore:
    """Return the store at an address: a path, `bolt://…` or `neo4j://…`, or `http://…` of a running service.

    The default address is `LINEAGE_STORE`, else `./lineage.db`. User and password of Neo4j come from the arguments,
    else the address, else `LINEAGE_NEO4J_USER` and `LINEAGE_NEO4J_PASSWORD`, else the server that `lineage neo4j
    start` runs. The token of a service is `password`, else `LINEAGE_TOKEN`.

    Raises:
        StoreUnreachableError: nothing answers, it is locked, or access is refused; see the subclasses.
        StoreSchemaError: a newer version of this program wrote the graph.
    """
    address = address or os.environ.get("LINEAGE_STORE") or DEFAULT_PATH
    scheme, separator, _ = str(address).partition("://")
    # Stores are imported when they are opened, so that other commands start faster.
    if not separator or isinstance(address, Path):
        from lineage.store.graph.store import CypherStore  # noqa: PLC0415
        from lineage.store.sqlite import SqliteBackend  # noqa: PLC0415

        return CypherStore(SqliteBackend(Path(address).expanduser(), read_only=read_only))
    if scheme in _SERVICES:
        from lineage.store.remote import RemoteStore  # noqa: PLC0415

        return cast("GraphStore", RemoteStore(str(address), password, read_only=read_only))
    if scheme not in _SCHEMES:
        raise StoreUnreachableError(
            f"unknown kind of store: {scheme}://",
            "use a path, bolt://HOST:PORT or neo4j://HOST:PORT, or http://HOST:PORT of a running service",
        )
    return _open_neo4j(address, read_only=read_only, user=user, password=password)


def _open_neo4j(address: str, *, read_only: bool, user: str | None, password: str | None) -> GraphStore:
    if importlib.util.find_spec("neo4j") is None:
        raise StoreUnreachableError(
            f"{_without_login(address)} needs Neo4j's driver, which is not installed",
            "pip install '.[neo4j]' in a checkout of lineage",
        )
    # The driver is an optional extra.
    from lineage.store.graph.store import CypherStore  # noqa: PLC0415
    from lineage.store.neo4j.backend import Neo4jBackend  # noqa: PLC0415

    login = _login(address, user, password)
    return CypherStore(Neo4jBackend(_without_login(address), login, read_only=read_only))


def _without_login(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _login(address: str, user: str | None, password: str | None) -> tuple[str, str]:
    parts = urlsplit(address)
    user = user or (unquote(parts.username) if parts.username else os.environ.get("LINEAGE_NEO4J_USER"))
    if password is None:
        password = unquote(parts.password) if parts.password else os.environ.get("LINEAGE_NEO4J_PASSWORD")
    if password is None and parts.hostname in _LOOPBACK:
        from lineage.neo4j_server import ServerError, managed_server  # noqa: PLC0415

        try:
            server = managed_server()
        except ServerError as error:
            raise StoreUnreachableError(str(error), error.hint) from error
        if server is not None and urlsplit(server.bolt_uri).port == (parts.port or 7687):
            return server.user, server.password
    return user or "neo4j", password or ""

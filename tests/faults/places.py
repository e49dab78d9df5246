"""The two kinds of store that faults happen to: a file, and a Neo4j server of the matrix's own or of the tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lineage.neo4j_server import ManagedServer, ServerSettings, start_server
from lineage.neo4j_server.ports import free_port
from lineage.store import GraphStore, open_store
from lineage.store.moving import miscounted
from lineage.store.sqlite.maintenance import find_damage
from tests.neo4j_fixture import Neo4jAddress, short_lived_java
from tests.store.conftest import emptied

__all__ = ["EMBEDDED", "NEO4J", "Place", "Store"]

EMBEDDED, NEO4J = "embedded", "Neo4j"
_OF_THE_RUN = frozenset(("seconds", "observations", "observed_at"))
"""Properties that say how long an ingest took, and which of equal observations came together."""


@dataclass(frozen=True)
class Store:
    """A store: its address for commands, what they need in their environment, and how the matrix reads it."""

    address: str
    login: tuple[str, str] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The variables with user and password."""
        if self.login is None:
            return {}
        return dict(zip(("LINEAGE_NEO4J_USER", "LINEAGE_NEO4J_PASSWORD"), self.login, strict=True))

    def opened(self, *, read_only: bool = True) -> GraphStore:
        """Open it."""
        user, password = self.login or (None, None)
        return open_store(self.address, user=user, password=password, read_only=read_only)

    def graph(self, *, times: bool = True) -> list[str]:
        """Return what it holds, sorted; without times if those are of the clock."""
        with self.opened() as store:
            dump = store.dump()
        named = [(label, key, _plain(properties, times)) for label, key, properties in dump.nodes]
        tied = [(*ends, _plain(properties, times)) for *ends, properties in dump.relationships]
        return sorted(map(repr, (*named, *tied)))

    def damage(self) -> list[str]:
        """Return what `lineage store verify` finds wrong."""
        pages = [] if self.login else find_damage(Path(self.address))
        with_login = {**os.environ}
        os.environ.update(self.environment)
        try:
            return pages + miscounted(self.address, lambda *_: None)[1]
        finally:
            os.environ.clear()
            os.environ.update(with_login)


def _plain(properties: Mapping[str, Any], times: bool) -> dict[str, Any]:
    return {
        name: value
        for name, value in sorted(properties.items())
        if name not in _OF_THE_RUN and (times or not hasattr(value, "isoformat"))
    }


@dataclass
class Place:
    """Where stores of one kind are made: a folder of files, or a Neo4j; one that tests share has no `home`."""

    folder: Path
    server: Neo4jAddress | None = None
    home: Path | None = None
    _numbers: count[int] = field(default_factory=count)

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return NEO4J if self.server else EMBEDDED

    def new(self) -> Store:
        """Return an empty store. Of a server there is one: what was in it is gone."""
        if self.server is None:
            return Store(str(self.folder / f"store{next(self._numbers)}.db"))
        emptied(self.server)
        return self.there()

    def there(self, port: int | None = None) -> Store:
        """Return the server's store as it is, by another port if there is something in between."""
        assert self.server is not None
        uri = f"bolt://127.0.0.1:{port}" if port else self.server.uri
        return Store(uri, (self.server.user, self.server.password))

    @property
    def port(self) -> int:
        """Where the server answers."""
        assert self.server is not None
        return urlsplit(self.server.uri).port or 7687

    @classmethod
    def with_server(cls, folder: Path) -> Place:
        """Start a server of its own, which may be killed."""
        home = folder / "neo4j"
        server = _started(home, bolt_port=free_port(), http_port=free_port())
        return cls(folder, Neo4jAddress(server.bolt_uri, server.user, server.password), home)

    def pid(self) -> int:
        """Return the process of the server."""
        assert self.home is not None
        return _started(self.home).pid

    def start_again(self) -> None:
        """Start the server after it was killed."""
        assert self.home is not None
        _started(self.home)

    def close(self) -> None:
        """End the server that was started here."""
        if self.home is not None:
            os.kill(self.pid(), signal.SIGKILL)


def _started(home: Path, **ports: int) -> ManagedServer:
    """Start a server, or find the one that runs; without ports it has those of before."""
    with short_lived_java():
        return start_server(ServerSettings(heap="512m", page_cache="64m", **ports), home)

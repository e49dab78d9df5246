"""Keeps the live graph of a store in memory, and explores it while the store has the same state.

Each exploration asks the store for its version first, which is one small read. What has changed since the version in
memory is read again; where that is much, or not known, a thread does it, and the store itself is read meanwhile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from lineage.store.errors import StoreError
from lineage.store.exploring import View
from lineage.store.live_graph import LiveGraph, Version
from lineage.traversal.adjacency.explorer import ArrayExplorer
from lineage.traversal.adjacency.graph import AdjacencyGraph
from lineage.traversal.adjacency.graph_loading import load_graph
from lineage.traversal.adjacency.updating import OutOfStepError, updated

__all__ = ["KeptGraph", "VersionedStore"]

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
_AT_ONCE = 2_000
"""Changed tables and columns that a request reads again itself; it takes some milliseconds."""
_LOCK_SECONDS = 0.05
_LOOK_SECONDS = 1.0
"""Time between two looks at the store, so that what changes is known when it is asked for."""
_RETRY_SECONDS = 5.0
_REST = 5
"""The graph is loaded again after so many times the seconds that it took: it is large, or written all the time."""


class VersionedStore(Protocol):
    """The part of a store that is read; `GraphStore` documents it."""

    def graph_version(self) -> Version | None:
        """Return the version of the live graph; None while a commit is applied."""

    def live_graph(self, work: Callable[[LiveGraph], T], *, whole: bool = False) -> T:
        """Return the result of `work`, which reads the live graph."""


class _ManyChangesError(Exception):
    """More has changed than a request reads again."""


class KeptGraph:
    """The live graph of a store; `start` loads it in a thread, which `close` ends."""

    def __init__(self, store: VersionedStore) -> None:
        self._store = store
        self._graph: AdjacencyGraph | None = None
        self._updating = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._loaded_at, self._load_seconds = 0.0, 0.0

    @property
    def graph(self) -> AdjacencyGraph | None:
        """The version that is in memory, if one is."""
        return self._graph

    def start(self) -> None:
        """Load the graph in a thread, and keep it current."""
        self._thread = threading.Thread(target=self._keep, name="graph", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; the graph is given back."""
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._graph = None

    def load(self) -> None:
        """Load the graph.

        Raises:
            StoreError: the store could not be read.
        """
        with self._updating:
            self._load()

    def explorer(self, view: View) -> ArrayExplorer | None:
        """Return an explorer of the state that the store has now; None if the store itself must be read.

        Raises:
            StoreError: the store could not be read.
        """
        graph = self._graph
        if graph is None or view.as_of is not None:
            return None
        version = self._store.graph_version()
        if version is None:
            return None
        if graph.version != version:
            graph = self._caught_up(version)
        return None if graph is None else ArrayExplorer(graph, view)

    def _caught_up(self, version: Version) -> AdjacencyGraph | None:
        """Return the graph of this version or a later one; None if that takes a while."""
        if not self._updating.acquire(timeout=_LOCK_SECONDS):
            return None
        try:
            if self._graph is not None and self._graph.version != version:
                self._catch_up(_AT_ONCE)
        except (_ManyChangesError, StoreError):
            return None
        finally:
            self._updating.release()
            self._wake.set()
        return self._graph

    def _keep(self) -> None:
        while not self._closed:
            pause = _LOOK_SECONDS
            try:
                with self._updating:
                    pause = self._look()
            except StoreError as error:
                _LOGGER.warning("the graph is not kept in memory for now: %s", error)
                pause = _RETRY_SECONDS
            self._wake.wait(pause)
            self._wake.clear()

    def _look(self) -> float:
        """Load the graph or catch up with the store; return how long to wait."""
        if self._graph is None:
            rest = self._loaded_at + _REST * self._load_seconds - time.monotonic()
            if rest > 0:
                return rest
            self._load()
        elif self._graph.version != self._store.graph_version():
            self._catch_up()
        self._pack()
        return _LOOK_SECONDS

    def _load(self) -> None:
        began = time.monotonic()
        self._graph = None
        graph = self._store.live_graph(load_graph, whole=True)
        # On Neo4j it may have parts of later commits, until what has changed is read again.
        self._graph = self._store.live_graph(lambda live: _next_version(graph, live, None))
        self._loaded_at = time.monotonic()
        self._load_seconds = self._loaded_at - began
        if self._graph is not None:
            _LOGGER.info(
                "%d edges of the graph are in memory: %.1f s, %d MB",
                self._graph.edges,
                self._load_seconds,
                self._graph.bytes // 1_000_000,
            )

    def _catch_up(self, most: int | None = None) -> None:
        """Read again what has changed; if that is not known, nothing is kept."""
        graph = self._graph
        assert graph is not None
        self._graph = self._store.live_graph(lambda live: _next_version(graph, live, most))

    def _pack(self) -> None:
        graph = self._graph
        if graph is not None:
            packed = graph.packed()
            if packed is not graph:
                self._graph = packed


def _next_version(graph: AdjacencyGraph, live: LiveGraph, most: int | None) -> AdjacencyGraph | None:
    """Return the graph of a state of the store; None if it is not known what has changed.

    Raises:
        _ManyChangesError: it is more than `most` tables and columns.
    """
    keys = live.changed_since(graph.version)
    if keys is None:
        return None
    if most is not None and len(keys) > most:
        raise _ManyChangesError
    try:
        return updated(graph, live, keys)
    except OutOfStepError:
        return None

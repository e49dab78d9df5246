"""The state behind the language server that knows nothing of its protocol: the store, the settings of each file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lineage.catalog import Catalog, CatalogError
from lineage.model.dialect import Dialect
from lineage.model.files import Environment
from lineage.sql.budget import Budget
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.store.errors import StoreError
from lineage.store.opening import open_store
from lineage_editor.analysis import DocumentAnalysis
from lineage_editor.definition_places import paths_in_project
from lineage_editor.graph_answers import GraphAnswers
from lineage_editor.settings import EditorSettings

__all__ = ["EditorSession"]

T = TypeVar("T")
_RETRY_SECONDS = 30.0
_BUDGET = Budget(seconds=5)
_MAX_DOCUMENTS = 200


class EditorSession:
    """Reads documents and opens the store when it is first needed. Several threads may use it."""

    def __init__(self, settings: EditorSettings, note: Callable[[str], None] = lambda _: None) -> None:
        """Create a session; `note` tells the person what they should know, such as a store that does not open."""
        self.settings = settings
        self._note = note
        self._lock = threading.Lock()
        self._graph: GraphAnswers | None = None
        self._tried_at = float("-inf")
        self._mentioned: dict[str, frozenset[str]] = {}
        """The tables that a document mentioned when it was last read."""
        self._read: dict[str, DocumentAnalysis] = {}
        """The last analysis of each document."""
        self._files: dict[str, Catalog] = {}
        self.problem: str | None = None
        """Why the store is not open, if it should be."""

    def graph(self) -> GraphAnswers | None:
        """Return the open store; None without one. A store that could not be opened is tried again after a while."""
        with self._lock:
            address = self.settings.store_address
            if self._graph is not None or address is None or time.monotonic() - self._tried_at < _RETRY_SECONDS:
                return self._graph
            self._tried_at = time.monotonic()
            try:
                self._graph = GraphAnswers(open_store(address, read_only=True), self.settings.namespace)
            except StoreError as error:
                self._report(error)
            else:
                self.problem = None
            return self._graph

    def _report(self, error: StoreError) -> None:
        text = f"{error} ({error.hint})" if error.hint else str(error)
        if text != self.problem:
            self.problem = text
            self._note(f"lineage: {text}. Only the open files are known.")

    def asking(self, ask: Callable[[GraphAnswers | None], T]) -> T:
        """Return the answer of a question that takes the store; where the store fails, of the same without it."""
        graph = self.graph()
        try:
            answer = ask(graph)
        except StoreError as error:
            self._report(error)
            return ask(None)
        if graph is not None:
            self.problem = None
        return answer

    def options(self, path: str) -> ExtractionOptions:
        """Return how the names in a file are read: as the store read it, else by the settings."""
        own = self.settings
        known = self.asking(lambda graph: self._environment(graph, path)) or Environment("")
        dialect = own.dialect or known.dialect or self.asking(lambda graph: graph.common_dialect() if graph else None)
        return options_for(
            dialect or "ansi",
            namespace=own.namespace or known.namespace,
            default_database=own.default_database or known.default_database or None,
            default_schema=own.default_schema or known.default_schema or None,
            budget=_BUDGET,
        )

    @staticmethod
    def _environment(graph: GraphAnswers | None, path: str) -> Environment | None:
        return graph.environment(paths_in_project(Path(path))) if graph is not None and path else None

    def catalog(self, names: frozenset[str], dialect: Dialect) -> Catalog:
        """Return the schemas of some tables, from the store and the catalogs in the settings, which have precedence."""
        given = self._given(dialect)
        stored = self.asking(lambda graph: graph.catalog(names, dialect) if graph is not None else None)
        if stored is None or not len(stored):
            return given
        return Catalog((*stored, *given.given), dialect, given.sources)

    def _given(self, dialect: Dialect) -> Catalog:
        catalog = self._files.get(dialect.name)
        if catalog is None:
            try:
                catalog = Catalog.from_files(self.settings.catalogs, dialect.name)
            except CatalogError as error:
                self._note(f"lineage: {error}")
                catalog = Catalog((), dialect)
            self._files[dialect.name] = catalog
        return catalog

    def analyze(self, text: str, path: str, proceed: Callable[[], None] = lambda: None) -> DocumentAnalysis:
        """Return the analysis of a document, with the schemas of the tables that it mentions.

        `proceed` raises a cancellation once nobody needs it any more.
        """
        options = self.options(path)
        known = self._mentioned.get(path, frozenset())
        catalog = self.catalog(known, options.naming.dialect)
        analysis = DocumentAnalysis(text, options, catalog, path, proceed, self._read.get(path))
        for _ in range(2):  # what a star or a bare name means may become known with the schemas
            mentioned = frozenset(analysis.tables)
            if mentioned <= known:
                break
            known |= mentioned
            catalog = self.catalog(known, options.naming.dialect)
            if not len(catalog) and not catalog.sources:
                break
            analysis = DocumentAnalysis(text, options, catalog, path, proceed, analysis)
        if len(self._mentioned) > _MAX_DOCUMENTS:
            self._mentioned.clear()
            self._read.clear()
        self._mentioned[path] = known
        self._read[path] = analysis
        return analysis

    def known_catalog(self, path: str, options: ExtractionOptions, names: frozenset[str]) -> Catalog:
        """Return the schemas of the tables that a document mentioned when it was last read, and of others."""
        return self.catalog(self._mentioned.get(path, frozenset()) | names, options.naming.dialect)

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._graph is not None:
                self._graph.store.close()
                self._graph = None

"""A cache of parsed and validated GraphQL documents: clients send the same documents again and again."""

from __future__ import annotations

from threading import Lock

from cachetools import LRUCache
from graphql import DocumentNode

__all__ = ["DocumentCache"]


class DocumentCache(LRUCache[str, DocumentNode]):
    """Valid documents by text, bounded by the characters of all texts.

    A parsed document takes up to 300 bytes per character of its text.
    """

    def __init__(self, characters: int = 100_000) -> None:
        self._lock = Lock()
        super().__init__(characters, getsizeof=lambda document: len(document.loc.source.body) if document.loc else 0)

    def known(self, text: str) -> DocumentNode | None:
        """Return the document of a text, if it was kept."""
        with self._lock:
            return self.get(text)

    def keep(self, text: str, document: DocumentNode) -> None:
        """Add a document, unless it alone would displace many."""
        if len(text) <= self.maxsize // 10:
            with self._lock:
                self[text] = document

"""Programs ask the same documents again and again: those are parsed and validated once, and then known."""

from __future__ import annotations

from collections import OrderedDict

from graphql import DocumentNode

__all__ = ["KnownDocuments"]


class KnownDocuments:
    """Valid documents by their text, those that were asked for last; for the thread of one event loop.

    A document takes up to 300 bytes for each character of its text: their number is bounded by those.
    """

    def __init__(self, characters: int = 100_000) -> None:
        self._characters = characters
        self._held = 0
        self._documents: OrderedDict[str, DocumentNode] = OrderedDict()

    def find(self, text: str) -> DocumentNode | None:
        """Return the document of a text, if it is known."""
        found = self._documents.get(text)
        if found is not None:
            self._documents.move_to_end(text)
        return found

    def keep(self, text: str, document: DocumentNode) -> None:
        """Know a document from now on, unless it alone would take the place of many."""
        if text in self._documents or len(text) > self._characters // 10:
            return
        self._documents[text] = document
        self._held += len(text)
        while self._held > self._characters:
            self._held -= len(self._documents.popitem(last=False)[0])

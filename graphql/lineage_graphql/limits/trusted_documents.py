"""Trusted documents: if configured, callers can execute these documents only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphql import GraphQLError, GraphQLSchema, parse, validate

from lineage_graphql.errors import ErrorCode, RefusedError

__all__ = ["TrustedDocuments", "TrustedDocumentsError"]


class TrustedDocumentsError(Exception):
    """The trusted documents cannot be read, or one is not valid against the schema."""


class TrustedDocuments:
    """Documents by id, as build tools write them: a JSON object of ids and texts, or a folder of `.graphql` files."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._by_id = {**{_hash(text): text for text in texts.values()}, **texts}
        self._texts = frozenset(texts.values())

    @classmethod
    def read(cls, path: Path, schema: GraphQLSchema) -> TrustedDocuments:
        """Return the documents of a JSON file or a folder; in a folder the file name without suffix is the id.

        Raises:
            TrustedDocumentsError: they cannot be read, or one is not valid against the schema.
        """
        try:
            if path.is_dir():
                texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(path.glob("*.graphql"))}
            else:
                texts = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise TrustedDocumentsError(f"{path}: {error}") from error
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise TrustedDocumentsError(f"{path}: expected an object of ids and documents")
        if not texts:
            raise TrustedDocumentsError(f"{path}: there are no documents")
        for name, text in texts.items():
            try:
                errors = validate(schema, parse(text))
            except GraphQLError as error:
                errors = [error]
            if errors:
                raise TrustedDocumentsError(f"{path}: {name}: {errors[0].message}")
        return cls(texts)

    def text_of(self, query: str | None, extensions: Mapping[str, Any] | None) -> str:
        """Return the document of a request, given by id (`extensions.persistedQuery.sha256Hash`) or by text.

        Raises:
            RefusedError: it is not one of the trusted documents.
        """
        persisted = (extensions or {}).get("persistedQuery")
        name = persisted.get("sha256Hash") if isinstance(persisted, Mapping) else None
        if isinstance(name, str) and name in self._by_id:
            return self._by_id[name]
        if name is None and query in self._texts and query is not None:
            return query
        raise RefusedError(
            ErrorCode.UNTRUSTED_DOCUMENT,
            "this service accepts only its trusted documents",
            "give the id of one in extensions.persistedQuery.sha256Hash",
        )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

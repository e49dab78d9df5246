"""Programs ask the same documents again and again: those are parsed and validated once, and then known."""

from __future__ import annotations

from functools import lru_cache

from graphql import DocumentNode, GraphQLError, GraphQLSchema, parse, validate

__all__ = ["faults_of", "parsed"]

_DOCUMENTS = 256
_LONGEST = 20_000
"""In characters: together the documents that are kept take a few megabytes, whatever is sent."""


def parsed(text: str) -> DocumentNode:
    """Return the document that a text is.

    Raises:
        GraphQLSyntaxError: it is none.
    """
    return _parsed(text) if len(text) <= _LONGEST else parse(text)


def faults_of(text: str, schema: GraphQLSchema) -> list[GraphQLError]:
    """Return what is wrong with a document, by the schema.

    Raises:
        GraphQLSyntaxError: it is none.
    """
    return list(_faults(text, schema)) if len(text) <= _LONGEST else validate(schema, parse(text))


_parsed = lru_cache(_DOCUMENTS)(parse)


@lru_cache(_DOCUMENTS)
def _faults(text: str, schema: GraphQLSchema) -> tuple[GraphQLError, ...]:
    return tuple(validate(schema, _parsed(text)))

"""Read a GraphQL document within limits: count, parse, measure and validate it, before anything is run.

It is read in a thread of its own, one document at a time: several at once would take as long, and keep the event loop
from answering. Only a short document that was read before is not: handing it over takes longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    Lexer,
    OperationDefinitionNode,
    Source,
    TokenKind,
    parse,
    validate,
)
from graphql.validation.rules import overlapping_fields_can_be_merged

from lineage_graphql.access.authorize import require
from lineage_graphql.access.roles import Caller, Role, TokenProblem
from lineage_graphql.errors import RefusedError
from lineage_graphql.limits.document_cache import DocumentCache
from lineage_graphql.limits.query_cost import measure
from lineage_graphql.monitoring.metrics import COST
from lineage_graphql.settings import Limits

__all__ = ["SentDocument", "read_document"]

_THREAD = ThreadPoolExecutor(1, "documents")
_DOCUMENTS = DocumentCache()
_SHORT, _FEW = 2_000, 20
"""Characters and variables of a document that is read on the event loop."""
_SPLIT = "split it into several queries"


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document as a caller sent it."""

    text: str
    variables: Mapping[str, Any]
    operation: str | None
    caller: Caller | TokenProblem
    limits: Limits


async def read_document(
    sent: SentDocument, schema: GraphQLSchema, rules: Sequence[type[ASTValidationRule]]
) -> DocumentNode:
    """Return a document that is within its limits and valid.

    Raises:
        GraphQLError: it is not; the attribute `errors` has all errors.
    """
    known = _DOCUMENTS.known(sent.text)
    if known is not None and len(sent.text) <= _SHORT and len(sent.variables) <= _FEW:
        return _read(sent, schema, rules, known)
    return await asyncio.get_running_loop().run_in_executor(_THREAD, _read, sent, schema, rules, known)


class InvalidDocumentError(GraphQLError):
    """A document has several errors."""

    def __init__(self, errors: Sequence[GraphQLError]) -> None:
        super().__init__("the document is not valid")
        self.errors = errors


def _read(
    sent: SentDocument, schema: GraphQLSchema, rules: Sequence[type[ASTValidationRule]], known: DocumentNode | None
) -> DocumentNode:
    limits = sent.limits
    _check_variables(sent.variables, limits.variables)
    if known is None:
        _check_tokens(sent.text, limits.tokens)
    document = known or parse(sent.text)
    if _introspects(document):
        require(sent.caller, Role.READER)
    _check_measures(sent, document, schema)
    if known is None:
        _validate(document, schema, rules, limits.comparisons)
        _DOCUMENTS.keep(sent.text, document)
    return document


def _check_variables(variables: Mapping[str, Any], allowed: int) -> None:
    count, waiting = 0, [variables]
    while waiting:
        value: Any = waiting.pop()
        inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
        count += len(inner)
        if count > allowed:
            raise RefusedError.over_limit("variables", allowed, count, _SPLIT)
        waiting += inner
    unstorable = RefusedError.of_unstorable("variables", variables)
    if unstorable is not None:
        raise unstorable


def _check_tokens(text: str, allowed: int) -> None:
    """Check the number of tokens, counting no further than the limit; the parser reports syntax errors."""
    lexer = Lexer(Source(text))
    for _ in range(allowed + 1):
        if lexer.advance().kind is TokenKind.EOF:
            return
    raise RefusedError.over_limit("tokens", allowed, allowed + 1, _SPLIT)


def _check_measures(sent: SentDocument, document: DocumentNode, schema: GraphQLSchema) -> None:
    limits = sent.limits
    measures = measure(document, schema, sent.variables, sent.operation, limits.selections)
    COST.observe(measures.cost)
    for name, hint in (
        ("depth", _SPLIT),
        ("aliases", _SPLIT),
        ("cost", "request smaller pages (`first`), fewer hops (`maxHops`) or fewer nested lists"),
    ):
        if getattr(measures, name) > getattr(limits, name):
            raise RefusedError.over_limit(name, getattr(limits, name), getattr(measures, name), hint)


def _validate(
    document: DocumentNode, schema: GraphQLSchema, rules: Sequence[type[ASTValidationRule]], comparisons: int
) -> None:
    """Validate a document; the number of comparisons of fields with one response name is bounded."""
    # A comparison costs two units; the rule reads the attribute when it starts, and this is the only thread.
    overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = 2 * comparisons
    errors = validate(schema, document, rules)
    if [error.message for error in errors] == ["Validation aborted."]:
        hint = "select each field once, and spread fewer fragments"
        raise RefusedError.over_limit("comparisons", comparisons, comparisons + 1, hint)
    if errors:
        raise InvalidDocumentError(errors)


def _introspects(document: DocumentNode) -> bool:
    return any(
        isinstance(field, FieldNode) and field.name.value in ("__schema", "__type")
        for definition in document.definitions
        if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode)
        for field in _fields(definition)
    )


def _fields(node: OperationDefinitionNode | FragmentDefinitionNode) -> Iterator[object]:
    """Yield the selections of the root type; introspection occurs nowhere else."""
    waiting = list(node.selection_set.selections)
    while waiting:
        selected = waiting.pop()
        if isinstance(selected, InlineFragmentNode):
            waiting += selected.selection_set.selections
        else:
            yield selected

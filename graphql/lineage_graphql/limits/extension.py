"""The extension that enforces limits before a query runs, and translates its errors for clients."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from graphql import (
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
    validate,
)
from graphql import ExecutionResult as CoreResult
from strawberry.extensions import SchemaExtension
from strawberry.types import ExecutionContext, ExecutionResult

from lineage_graphql.access.authorize import require
from lineage_graphql.access.roles import Role
from lineage_graphql.context import Context
from lineage_graphql.errors import ErrorCode, RefusedError, client_error
from lineage_graphql.limits.document_cache import DocumentCache
from lineage_graphql.limits.query_cost import measure
from lineage_graphql.metrics import COST, REFUSALS

__all__ = ["WithinLimits"]

_LOGGER = logging.getLogger(__name__)
_DOCUMENTS = DocumentCache()


class WithinLimits(SchemaExtension):
    """Refuses documents above a limit or not trusted before execution; translates errors after it."""

    def on_operation(self) -> Iterator[None]:
        """Check the document's text before parsing; translate the errors of the operation afterwards."""
        execution = self.execution_context
        context: Context = execution.context
        self._refusal: RefusedError | None = None
        try:
            if context.documents is not None:
                execution.query = context.documents.text_of(execution.query, execution.operation_extensions)
            if execution.query:
                _check_tokens(execution.query, context.limits.tokens)
            unstorable = RefusedError.of_unstorable("variables", execution.variables or {})
            if unstorable is not None:
                raise unstorable
        except RefusedError as error:
            # All transports report validation errors, so the refusal is reported as one, of a valid document.
            self._refusal, execution.query = error, "{ __typename }"
        yield
        self._explain_all(execution.result)

    def on_parse(self) -> Iterator[None]:
        """Use the cached document; otherwise strawberry parses it."""
        self.execution_context.graphql_document = _DOCUMENTS.get(self.execution_context.query or "")
        yield

    def on_validate(self) -> Iterator[None]:
        """Refuse documents above a limit; validate the others unless they are cached."""
        execution = self.execution_context
        document, text = execution.graphql_document, execution.query or ""
        assert document is not None
        schema: GraphQLSchema = execution.schema._schema
        refusal = self._refusal or _closed(document, execution.context) or _beyond(document, schema, execution)
        if refusal is not None:
            execution.pre_execution_errors = [refusal]
        elif _DOCUMENTS.get(text) is document:
            execution.pre_execution_errors = []
        else:
            execution.pre_execution_errors = validate(schema, document, execution.validation_rules)
            if not execution.pre_execution_errors:
                _DOCUMENTS.keep(text, document)
        yield

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Translate the errors of one result of a subscription."""
        self._explain_all(result)
        yield

    def _explain_all(self, result: object) -> None:
        if isinstance(result, CoreResult | ExecutionResult) and result.errors:
            result.errors = [self._explain(error) for error in result.errors]

    def _explain(self, error: GraphQLError) -> GraphQLError:
        cause = error.original_error
        refused = client_error(cause if cause is not None else error)
        if refused is None and (cause is None or isinstance(cause, GraphQLError)):
            refused = RefusedError(ErrorCode.BAD_REQUEST, error.message)
        if refused is None:
            identity = self.execution_context.context.request_id
            _LOGGER.error("request %s failed", identity, exc_info=cause)
            refused = RefusedError(ErrorCode.INTERNAL, "internal error; see the service's log", request_id=identity)
        REFUSALS.labels(str(refused.code)).inc()
        return GraphQLError(
            refused.message,
            nodes=error.nodes,
            source=error.source,
            positions=error.positions,
            path=error.path,
            extensions=refused.extensions,
        )


def _closed(document: DocumentNode, context: Context) -> RefusedError | None:
    """Return the refusal of introspection by a caller without the role reader."""
    introspects = any(
        isinstance(field, FieldNode) and field.name.value in ("__schema", "__type")
        for definition in document.definitions
        if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode)
        for field in _fields(definition)
    )
    if not introspects:
        return None
    try:
        require(context.caller, Role.READER)
    except RefusedError as error:
        return error
    return None


def _fields(node: OperationDefinitionNode | FragmentDefinitionNode) -> Iterator[object]:
    """Yield the selections of the root type; introspection occurs nowhere else."""
    waiting = list(node.selection_set.selections)
    while waiting:
        selected = waiting.pop()
        if isinstance(selected, InlineFragmentNode):
            waiting += selected.selection_set.selections
        else:
            yield selected


def _beyond(document: DocumentNode, schema: GraphQLSchema, execution: ExecutionContext) -> RefusedError | None:
    found = measure(document, schema, execution.variables or {}, execution.operation_name)
    COST.observe(found.cost)
    limits = execution.context.limits
    for name, hint in (
        ("depth", "split it into several queries"),
        ("aliases", "split it into several queries"),
        ("cost", "request smaller pages (`first`), fewer hops (`maxHops`) or fewer nested lists"),
    ):
        if getattr(found, name) > getattr(limits, name):
            return RefusedError.over_limit(name, getattr(limits, name), getattr(found, name), hint)
    return None


def _check_tokens(text: str, allowed: int) -> None:
    """Check the number of tokens, counting no further than the limit.

    Raises:
        RefusedError: there are more.
    """
    lexer, count = Lexer(Source(text)), 0
    try:
        while lexer.advance().kind is not TokenKind.EOF:
            count += 1
            if count > allowed:
                raise RefusedError.over_limit("tokens", allowed, count, "split it into several queries")
    except GraphQLError as error:
        if isinstance(error, RefusedError):
            raise
        # Syntax errors are reported by the parser.

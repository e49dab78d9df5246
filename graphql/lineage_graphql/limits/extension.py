"""The extension that enforces limits before a query runs, and translates its errors for clients."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from graphql import ExecutionResult as CoreResult
from graphql import GraphQLError, parse
from strawberry.extensions import SchemaExtension
from strawberry.types import ExecutionResult

from lineage_graphql.access.authorize import unauthenticated
from lineage_graphql.access.roles import TokenProblem
from lineage_graphql.context import Context
from lineage_graphql.errors import ErrorCode, RefusedError, client_error
from lineage_graphql.limits.documents import InvalidDocumentError, SentDocument, read_document
from lineage_graphql.monitoring.metrics import REFUSALS

__all__ = ["WithinLimits"]

_LOGGER = logging.getLogger(__name__)
_VALID = "{ __typename }"


class WithinLimits(SchemaExtension):
    """Refuses documents of unknown callers, above a limit, or not trusted before execution; translates errors."""

    def on_operation(self) -> Iterator[None]:
        """Authenticate the caller and find the document's text; translate the errors of the operation afterwards."""
        execution, self._errors = self.execution_context, list[GraphQLError]()
        context: Context = execution.context
        try:
            if isinstance(context.caller, TokenProblem):
                raise unauthenticated(context.caller)
            if context.documents is not None:
                execution.query = context.documents.text_of(execution.query, execution.operation_extensions)
        except RefusedError as error:
            self._refuse([error])
        yield
        self._explain_all(execution.result)

    async def on_parse(self) -> AsyncIterator[None]:
        """Read the document in a thread."""
        execution = self.execution_context
        if not self._errors:
            context: Context = execution.context
            sent = SentDocument(
                execution.query or "",
                execution.variables or {},
                execution._provided_operation_name,
                context.caller,
                context.limits,
            )
            try:
                execution.graphql_document = await read_document(
                    sent, execution.schema._schema, execution.validation_rules
                )
            except InvalidDocumentError as error:
                self._refuse(error.errors)
            except GraphQLError as error:
                self._refuse([error])
        yield

    def on_validate(self) -> Iterator[None]:
        """Report the errors; documents without any are valid."""
        self.execution_context.pre_execution_errors = self._errors
        yield

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Translate the errors of one result of a subscription."""
        self._explain_all(result)
        yield

    def _refuse(self, errors: Sequence[GraphQLError]) -> None:
        """Have the errors reported as validation errors, which all transports do, of a valid document."""
        execution, self._errors = self.execution_context, list(errors)
        execution.query, execution.graphql_document, execution._provided_operation_name = _VALID, parse(_VALID), None

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

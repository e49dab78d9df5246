"""Errors of the service: a code for programs, a message, and a hint."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from graphql import GraphQLError

from lineage.model.text.json_values import find_unstorable
from lineage.store.errors import StoreError, StoreTimeoutError, StoreUnreachableError
from lineage.traversal import AmbiguousNameError, NameLookupError, UnknownNameError

__all__ = ["ErrorCode", "RefusedError", "client_error"]


_UNREACHABLE = "the store cannot be reached"


class ErrorCode(StrEnum):
    """The values of `extensions.code` of an error."""

    BAD_REQUEST = "BAD_REQUEST"
    """The request is not valid GraphQL, or not valid against this schema."""
    BAD_ARGUMENT = "BAD_ARGUMENT"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    AMBIGUOUS_NAME = "AMBIGUOUS_NAME"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    """`extensions` holds the limit's name (`limit`), its value (`allowed`) and the request's value (`value`)."""
    UNTRUSTED_DOCUMENT = "UNTRUSTED_DOCUMENT"
    TIMEOUT = "TIMEOUT"
    ABANDONED = "ABANDONED"
    """The client has closed the connection; only the log shows it."""
    OVERLOADED = "OVERLOADED"
    """Too many requests wait already. Nothing was done; send it again after a moment."""
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    INTERNAL = "INTERNAL"
    """A fault of the service. Its log has the details under the request id of `extensions`."""


class RefusedError(GraphQLError):
    """An expected error, returned to the client; `details` go into its extensions."""

    def __init__(self, code: ErrorCode, message: str, hint: str | None = None, **details: Any) -> None:
        extensions = {"code": str(code), **({"hint": hint} if hint else {}), **details}
        super().__init__(message, extensions=extensions)
        self.code = code
        self.hint = hint

    @classmethod
    def of_unstorable(cls, what: str, value: object) -> RefusedError | None:
        """Return the refusal of a JSON value that no store can hold; None if stores can."""
        found = find_unstorable(value)
        if found is None:
            return None
        pointer, reason = found
        message = f"{what}{pointer}: {reason}".encode(errors="backslashreplace").decode()
        return cls(ErrorCode.BAD_ARGUMENT, message, "send Unicode text")

    @classmethod
    def over_limit(cls, limit: str, allowed: float, value: float, hint: str) -> RefusedError:
        """Return the refusal of a request above a limit."""
        message = f"{limit} is {value:g}; at most {allowed:g} is allowed"
        return cls(ErrorCode.LIMIT_EXCEEDED, message, hint, limit=limit, allowed=allowed, value=value)


def client_error(error: BaseException) -> RefusedError | None:
    """Return the error as clients see it; None for an unexpected error."""
    match error:
        case RefusedError():
            return error
        case UnknownNameError():
            suggestions = list(error.suggestions)
            return RefusedError(ErrorCode.NOT_FOUND, str(error), error.hint, suggestions=suggestions)
        case AmbiguousNameError():
            candidates = list(error.candidates)
            return RefusedError(ErrorCode.AMBIGUOUS_NAME, str(error), error.hint, candidates=candidates)
        case NameLookupError():
            return RefusedError(ErrorCode.NOT_FOUND, str(error), error.hint)
        case TimeoutError() | StoreTimeoutError():
            return RefusedError(ErrorCode.TIMEOUT, "time limit exceeded", "request fewer hops or a smaller scope")
        case StoreUnreachableError():
            # The address is not disclosed to clients.
            what = f"the store cannot be reached: {error.server} does not answer" if error.server else _UNREACHABLE
            return RefusedError(ErrorCode.STORE_UNAVAILABLE, what, "try again later")
        case StoreError():
            return None
    return None

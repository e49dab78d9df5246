"""What every request passes: a request id, the refusal of foreign pages, limits on its body, security headers, the
access log, metrics, a span."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from contextvars import ContextVar

from opentelemetry import propagate
from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.http.foreign_pages import is_foreign, refusal_of_foreign
from lineage_graphql.http.problems import problem
from lineage_graphql.http.request_bodies import most_bytes
from lineage_graphql.limits.request_rate import RequestRate
from lineage_graphql.monitoring.metrics import REQUEST_SECONDS, REQUESTS
from lineage_graphql.monitoring.telemetry import current_span, tracer
from lineage_graphql.settings import Settings

__all__ = ["Guard", "request_id"]

_LOGGER = logging.getLogger("lineage_graphql.access")
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}

request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""Id of the current request, for logs."""


class _BodyError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Guard:
    """ASGI middleware around the application."""

    def __init__(self, app: ASGIApp, settings: Settings, authenticator: Authenticator) -> None:
        self._app = app
        self._limits = settings.limits
        self._rate = RequestRate(settings, authenticator.known_token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        identity = given if _SAFE_ID.fullmatch(given) else uuid.uuid4().hex
        request_id.set(identity)
        scope.setdefault("state", {})["request_id"] = identity
        if scope["type"] == "websocket" and is_foreign(headers):
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "websocket" and self._rate.seconds_to_wait(scope, headers):
            await send({"type": "websocket.close", "code": 1013})
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._http(scope, receive, send, identity)

    async def _http(self, scope: Scope, receive: Receive, send: Send, identity: str) -> None:
        began = time.perf_counter()
        status = 0

        async def answering(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identity
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        most = most_bytes(scope["path"], self._limits)
        # The time limit grows with the size limit.
        body = _Body(receive, most, self._limits.body_seconds * max(1.0, most / 10_000_000))
        headers = Headers(scope=scope)
        span = tracer.start_span(f"{scope['method']} request", propagate.extract(headers), SpanKind.SERVER)
        try:
            app = self._refusal(scope, headers) or self._app
            body.check_length(headers.get("content-length"))
            with current_span(span):
                await app(scope, body, answering)
        except _BodyError as error:
            if status == 0:
                await problem(error.status, str(error))(scope, receive, answering)
        except Exception:
            _LOGGER.exception("request %s failed", identity)
            if status == 0:
                await problem(500, "internal error; see the service's log")(scope, receive, answering)
        finally:
            seconds = time.perf_counter() - began
            route = _route(scope)
            span.update_name(f"{scope['method']} {route}")
            span.set_attributes({"http.response.status_code": status, "lineage.request_id": identity})
            span.end()
            REQUESTS.labels(route, str(status)).inc()
            REQUEST_SECONDS.labels(route).observe(seconds)
            _LOGGER.info(
                "%s %s %s %.1f ms",
                scope["method"],
                route,
                status,
                seconds * 1000,
                extra={"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)},
            )

    def _refusal(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """Return the refusal of a request that is not even looked at; None if there is none."""
        if foreign := refusal_of_foreign(scope["method"], scope["path"], headers):
            return foreign
        if seconds := self._rate.seconds_to_wait(scope, headers):
            hint = f"send it again in {seconds} s; the service allows {self._limits.rate:g} a second to each caller"
            return problem(429, "too many requests", hint, headers={"Retry-After": str(seconds)})
        return None


class _Body:
    """Receives a request's body within limits of size and time."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._ends = time.monotonic() + seconds
        self._seconds = seconds
        self._bytes = 0
        self._complete = False

    def check_length(self, length: str | None) -> None:
        if length is not None and (not length.isdecimal() or int(length) > self._most):
            raise _BodyError(413, f"the body is larger than {self._most:,} bytes")

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._ends - time.monotonic())):
                message = await self._receive()
        except TimeoutError as error:
            raise _BodyError(408, f"the body did not arrive within {self._seconds:g} seconds") from error
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._bytes > self._most:
                raise _BodyError(413, f"the body is larger than {self._most:,} bytes")
        return message


def _route(scope: Scope) -> str:
    """Return the route template of a request, or `other`: paths of callers must not become labels."""
    if "route" not in scope:
        return "other"
    declared = str(getattr(scope["route"], "path", ""))
    return declared if "{" in declared else str(scope["path"])

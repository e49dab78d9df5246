"""`/api/v1/lineage`: OpenLineage's HTTP API, for single events and batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from lineage.garbage_collection import seldom_collecting
from lineage.store.time_limit import time_limit
from lineage_graphql.access.authorize import require
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.event_writer import EventWriter
from lineage_graphql.http.openapi import BATCH_ANSWER, BATCH_BODY, EVENT_ANSWER, EVENT_BODY
from lineage_graphql.http.problems import problem, refusal_response
from lineage_graphql.http.request_bodies import read_body
from lineage_graphql.http.routes import DescribedRoute
from lineage_graphql.monitoring.metrics import EVENTS, INGEST_LAG
from lineage_graphql.service_state import ServiceState

if TYPE_CHECKING:
    from lineage_ingest.openlineage import EventIngest, EventOutcome

__all__ = ["openlineage_routes"]

_RESPONSES: dict[int, str] = {
    400: "Not a valid event.",
    401: "A token is required.",
    403: "The caller lacks a role, or the service is read-only.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "The caller sends more than the service allows. Send it again after `Retry-After`.",
    503: "The store cannot be reached or did not answer in time, or too many events wait. Send it again.",
    507: "The store's disk is full. Send it again later.",
}
_MAX_EVENTS = 10_000
_WRITING_SECONDS = 3_600.0


def openlineage_routes(state: ServiceState) -> list[BaseRoute]:
    """Return the routes. Accepted events are durable when they respond."""
    seconds, noted = state.settings.limits.seconds, state.readiness.note_answer

    @cache
    def ingest() -> EventIngest:
        # With the first event: it needs the extraction, and the service is to answer soon after its start.
        from lineage_ingest.openlineage import EventIngest  # noqa: PLC0415

        return EventIngest(state.store)

    def take(events: Sequence[object]) -> list[EventOutcome]:
        # Within a time limit, however long, a store that is down is not waited for.
        with time_limit(_WRITING_SECONDS), seldom_collecting():
            return ingest().take(events)

    writer = EventWriter(take, state.writers, seconds, noted)

    async def taken(events: Sequence[object]) -> list[EventOutcome]:
        outcomes = await writer.take(events)
        for one in outcomes:
            EVENTS.labels("accepted" if one.accepted else "refused").inc()
        newest = max((at for event in events if (at := _time_of(event)) is not None), default=None)
        if newest is not None:
            INGEST_LAG.set(max(0.0, (datetime.now(UTC) - newest).total_seconds()))
        return outcomes

    async def event(request: Request) -> Response:
        """Ingest one event: a RunEvent, DatasetEvent or JobEvent."""
        try:
            body = await _body(state, request)
        except RefusedError as error:
            return refusal_response(error)
        if not isinstance(body, dict):
            return problem(400, "an event is a JSON object", "send several to /api/v1/lineage/batch")
        [outcome] = await taken([body])
        if not outcome.accepted:
            return problem(400, _reason(outcome), outcome.hint)
        return JSONResponse({"status": "success", "warnings": list(outcome.warnings)})

    async def batch(request: Request) -> Response:
        """Ingest an array of events. Invalid ones are listed as `failed_events`; the others are stored."""
        try:
            body = await _body(state, request)
        except RefusedError as error:
            return refusal_response(error)
        if not isinstance(body, list):
            return problem(400, "a batch is a JSON array of events", "send one alone to /api/v1/lineage")
        if len(body) > _MAX_EVENTS:
            return problem(413, f"the batch has {len(body)} events; at most {_MAX_EVENTS} are allowed")
        return JSONResponse(_summary(await taken(body)))

    def route(path: str, endpoint: Any, body: dict[str, Any], answer: dict[str, Any]) -> DescribedRoute:
        responses: dict[int, str | dict[str, Any]] = {200: answer, **_RESPONSES}
        return DescribedRoute(path, endpoint, tag="openlineage", method="POST", responses=responses, body=body)

    return [
        route("/api/v1/lineage", event, EVENT_BODY, EVENT_ANSWER),
        route("/api/v1/lineage/batch", batch, BATCH_BODY, BATCH_ANSWER),
    ]


async def _body(state: ServiceState, request: Request) -> object:
    """Return the JSON of a body.

    Raises:
        RefusedError: the caller may not send events, or the body is not JSON.
    """
    require(await state.caller(request.headers.get("authorization")), Role.INGESTER)
    if state.settings.read_only:
        raise RefusedError(ErrorCode.FORBIDDEN, "this service is read-only", "it was started with --read-only")
    text = await read_body(request, state.settings.limits)
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "the body is not JSON") from error
    return body


def _summary(outcomes: list[EventOutcome]) -> dict[str, object]:
    """Return the outcome of a batch, in the format of OpenLineage's HTTP API."""
    failed = [one for one in outcomes if not one.accepted]
    # The specification defines these two values; `summary` has the counts.
    status = "partial_success" if failed else "success"
    return {
        "status": status,
        "summary": {
            "received": len(outcomes),
            "successful": len(outcomes) - len(failed),
            "failed": len(failed),
            "retriable": 0,
            "non_retriable": len(failed),
        },
        "failed_events": [
            {"index": one.index, "reason": _reason(one), "hint": one.hint, "retriable": False} for one in failed
        ],
        "warnings": [
            {"index": one.index, "problem": text} for one in outcomes if one.accepted for text in one.warnings
        ],
    }


def _reason(outcome: EventOutcome) -> str:
    return f"{outcome.pointer}: {outcome.reason}" if outcome.pointer else str(outcome.reason)


def _time_of(event: object) -> datetime | None:
    text = event.get("eventTime") if isinstance(event, dict) else None
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)

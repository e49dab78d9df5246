"""`/healthz`, `/readyz`, `/metrics`: for orchestration and monitoring."""

from __future__ import annotations

import os

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from lineage_graphql.access.authorize import require
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import RefusedError
from lineage_graphql.http.problems import refusal_response
from lineage_graphql.http.routes import DescribedRoute
from lineage_graphql.monitoring.ingest_ages import ingest_ages
from lineage_graphql.service_state import ServiceState

__all__ = ["operations_routes"]


def operations_routes(state: ServiceState) -> list[BaseRoute]:
    """Return the routes."""

    async def healthz(_: Request) -> JSONResponse:
        """Report that the process is alive."""
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> JSONResponse:
        """Report whether the store responds."""
        if not await state.readiness.is_ready():
            return JSONResponse({"status": "the store does not answer"}, 503)
        return JSONResponse({"status": "ready"})

    async def metrics(request: Request) -> Response:
        """Return the metrics for Prometheus; requires the role reader."""
        try:
            require(await state.caller(request.headers.get("authorization")), Role.READER)
        except RefusedError as error:
            return refusal_response(error)
        registry = REGISTRY
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry) + await ingest_ages(state), media_type=CONTENT_TYPE_LATEST)

    return [
        DescribedRoute("/healthz", healthz, tag="operations"),
        DescribedRoute("/readyz", readyz, tag="operations", responses={503: "The store does not answer."}),
        DescribedRoute(
            "/metrics",
            metrics,
            tag="operations",
            responses={
                200: {"description": "Prometheus's text format.", "content": {"text/plain": {"schema": {}}}},
                401: "A token is required.",
            },
        ),
    ]

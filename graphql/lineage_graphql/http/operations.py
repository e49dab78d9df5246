"""`/healthz`, `/readyz`, `/metrics`: for orchestration and monitoring."""

from __future__ import annotations

import os

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from lineage_graphql.access.authorize import require
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import RefusedError
from lineage_graphql.http.problems import refusal_response
from lineage_graphql.monitoring.ingest_ages import ingest_ages
from lineage_graphql.service_state import ServiceState

__all__ = ["operations_router"]


def operations_router(state: ServiceState) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["operations"])

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Report that the process is alive."""
        return {"status": "ok"}

    @router.get("/readyz", responses={503: {"description": "The store does not answer."}})
    async def readyz() -> JSONResponse:
        """Report whether the store responds."""
        if not await state.readiness.is_ready():
            return JSONResponse({"status": "the store does not answer"}, 503)
        return JSONResponse({"status": "ready"})

    @router.get("/metrics", responses={401: {"description": "A token is required."}})
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

    return router

"""The application: what `lineage serve` runs in each worker."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.telemetry import TelemetryConfig

from lineage import __version__
from lineage.store import GraphStore, open_store
from lineage.store.errors import StoreFullError, StoreTimeoutError, StoreUnreachableError
from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.http.docs_route import docs_router
from lineage_graphql.http.editor_route import editor_router
from lineage_graphql.http.graphql_route import graphql_router
from lineage_graphql.http.middleware import Guard
from lineage_graphql.http.openlineage_route import openlineage_router
from lineage_graphql.http.operations import operations_router
from lineage_graphql.http.problems import problem
from lineage_graphql.http.store_route import store_router
from lineage_graphql.limits.trusted_documents import TrustedDocuments
from lineage_graphql.schema.root import schema
from lineage_graphql.service_state import ServiceState
from lineage_graphql.settings import Settings

__all__ = ["make_app"]

_LOGGER = logging.getLogger(__name__)
# `Guard` creates the spans. FastAPI's own hold a URL's query string (a GraphQL document by GET) and exception messages.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def make_app(settings: Settings, store: GraphStore | None = None) -> FastAPI:
    """Return the application; it opens the store of the settings unless one is given.

    Raises:
        StoreError: the store cannot be opened.
        TrustedDocumentsError: the trusted documents cannot be read.
    """
    documents = None
    if settings.trusted_documents is not None:
        documents = TrustedDocuments.read(settings.trusted_documents, schema._schema)
    opened = store if store is not None else open_store(settings.store, read_only=settings.read_only)
    threads = ThreadPoolExecutor(settings.threads, "store")
    state = ServiceState(settings, opened, threads, Authenticator(settings), documents)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as ending:
            if store is None:
                ending.callback(opened.close)
            ending.callback(threads.shutdown, wait=True, cancel_futures=True)
            yield

    app = FastAPI(
        title="lineage",
        version=__version__,
        description="Column-level data lineage: GraphQL API and OpenLineage ingestion.",
        lifespan=lifespan,
        openapi_url=None,  # see `docs_router`
        docs_url=None,
        redoc_url=None,
        telemetry=_NO_TELEMETRY,
    )
    app.state.lineage = state

    @app.exception_handler(StoreUnreachableError)
    async def unreachable(_: Request, error: StoreUnreachableError) -> JSONResponse:
        _LOGGER.warning("the store cannot be reached: %s", error)
        return problem(503, "the store cannot be reached", "try again later", headers={"Retry-After": "5"})

    @app.exception_handler(StoreTimeoutError)
    async def late(_: Request, error: StoreTimeoutError) -> JSONResponse:
        _LOGGER.warning("the store did not answer in time: %s", error)
        hint = "send it again: ingestion is idempotent"
        return problem(503, "the store did not answer in time", hint, headers={"Retry-After": "5"})

    @app.exception_handler(StoreFullError)
    async def full(_: Request, error: StoreFullError) -> JSONResponse:
        _LOGGER.error("%s; %s", error, error.hint)
        return problem(507, "the store's disk is full", "free disk space and retry", headers={"Retry-After": "60"})

    @app.get("/", include_in_schema=False)
    async def start() -> RedirectResponse:
        """Redirect to the GraphQL endpoint."""
        return RedirectResponse("/graphql")

    app.include_router(docs_router(state, app))
    app.include_router(operations_router(state))
    app.include_router(graphql_router(state), prefix="/graphql")
    if state.offers_editor:
        app.include_router(editor_router())
    app.include_router(store_router(state))
    app.include_router(openlineage_router(state))
    if settings.on_loopback:
        # DNS rebinding: a page elsewhere can make a browser on this machine ask us under the page's own name.
        own = f"[{settings.host}]" if ":" in settings.host else settings.host
        names = ["localhost", "127.0.0.1", "[::1]", own]
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)
    app.add_middleware(Guard, settings=settings)  # outermost: it sees the requests that others refuse
    return app

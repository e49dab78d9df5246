"""The application: what `lineage serve` runs in each worker."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.telemetry import TelemetryConfig

from lineage import __version__
from lineage.store import GraphStore, open_store
from lineage.store.errors import StoreFullError, StoreTimeoutError, StoreUnreachableError
from lineage.traversal.adjacency import KeptGraph
from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.admission import Admission
from lineage_graphql.errors import RefusedError, client_error
from lineage_graphql.http.graphql_route import graphql_router
from lineage_graphql.http.middleware import Guard
from lineage_graphql.http.openlineage_route import openlineage_router
from lineage_graphql.http.operations import operations_router
from lineage_graphql.http.pages.docs_route import docs_router
from lineage_graphql.http.pages.editor_route import editor_router
from lineage_graphql.http.pages.explorer_route import explorer_router
from lineage_graphql.http.problems import problem, refusal_response
from lineage_graphql.http.store_route import store_router
from lineage_graphql.limits.trusted_documents import TrustedDocuments
from lineage_graphql.monitoring.readiness import Readiness
from lineage_graphql.schema.root import schema
from lineage_graphql.service_state import ServiceState
from lineage_graphql.settings import Settings

__all__ = ["make_app"]

_LOGGER = logging.getLogger(__name__)
_WRITERS = 4
"""Threads that write events. One is used, unless a database that hangs keeps it."""
_ENDING_SECONDS = 2.0
"""Maximum seconds to wait for the store at the end, after the requests had their time."""
# `Guard` creates the spans. FastAPI's own hold a URL's query string (a GraphQL document by GET) and exception messages.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def _end(state: ServiceState, close: Callable[[], None] | None) -> None:
    """Wait for the threads, then close the store."""
    for pool in (state.threads, state.writers, state.readiness.thread):
        pool.shutdown(wait=False, cancel_futures=True)
    for pool in (state.threads, state.writers, state.readiness.thread):
        pool.shutdown(wait=True)
    state.graph.close()
    if close is not None:
        close()


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
    threads, writers = ThreadPoolExecutor(settings.threads, "store"), ThreadPoolExecutor(_WRITERS, "writer")
    admission = Admission(settings.threads, settings.limits.waiting, settings.limits.seconds)
    readiness, graph = Readiness(opened), KeptGraph(opened)
    authenticator = Authenticator(settings)
    state = ServiceState(settings, opened, threads, writers, authenticator, documents, admission, readiness, graph)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        opened.explore_beside(graph)
        graph.start()
        yield
        ending = threading.Thread(target=_end, args=(state, opened.close if store is None else None), daemon=True)
        ending.start()
        await asyncio.to_thread(ending.join, None if store is not None else _ENDING_SECONDS)
        if ending.is_alive():
            # What is not committed was not acknowledged, and the store is as after a kill: nothing of it is stored.
            _LOGGER.warning("the store is still busy with a request; the process ends without it")
            logging.shutdown()
            os._exit(0)

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

    @app.exception_handler(RefusedError)
    async def refused(_: Request, error: RefusedError) -> JSONResponse:
        return refusal_response(error)

    @app.exception_handler(StoreUnreachableError)
    async def unreachable(_: Request, error: StoreUnreachableError) -> JSONResponse:
        _LOGGER.warning("the store cannot be reached: %s", error)
        said = client_error(error)
        return problem(503, said.message if said else "", "try again later", headers={"Retry-After": "5"})

    @app.exception_handler(StoreTimeoutError)
    async def late(_: Request, error: StoreTimeoutError) -> JSONResponse:
        _LOGGER.warning("the store did not answer in time: %s", error)
        hint = "send it again: ingestion is idempotent"
        return problem(503, "the store did not answer in time", hint, headers={"Retry-After": "5"})

    @app.exception_handler(StoreFullError)
    async def full(_: Request, error: StoreFullError) -> JSONResponse:
        _LOGGER.error("%s; %s", error, error.hint)
        return problem(507, "the store's disk is full", "free disk space and retry", headers={"Retry-After": "60"})

    if documents is None:
        app.include_router(explorer_router(offers_editor=state.offers_editor))
    else:

        @app.get("/", include_in_schema=False)
        async def start() -> RedirectResponse:
            """Redirect to the GraphQL endpoint: the explorer's documents are not among the trusted ones."""
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
    # Outermost: it sees the requests that others refuse.
    app.add_middleware(Guard, settings=settings, authenticator=authenticator)
    return app

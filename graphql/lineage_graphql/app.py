"""The application: what `lineage serve` runs in each worker."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute

from lineage.store import GraphStore, open_store
from lineage.traversal.adjacency import KeptGraph
from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.admission import Admission
from lineage_graphql.http.exception_handlers import EXCEPTION_HANDLERS
from lineage_graphql.http.graphql_route import graphql_routes
from lineage_graphql.http.middleware import Guard
from lineage_graphql.http.openlineage_route import openlineage_routes
from lineage_graphql.http.operations import operations_routes
from lineage_graphql.http.pages.docs_route import docs_routes
from lineage_graphql.http.pages.editor_route import editor_routes
from lineage_graphql.http.pages.explorer_route import explorer_routes
from lineage_graphql.http.routes import TemplateRoute
from lineage_graphql.http.store_route import store_routes
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


def _end(state: ServiceState, close: Callable[[], None] | None) -> None:
    """Wait for the threads, then close the store."""
    for pool in (state.threads, state.writers, state.readiness.thread):
        pool.shutdown(wait=False, cancel_futures=True)
    for pool in (state.threads, state.writers, state.readiness.thread):
        pool.shutdown(wait=True)
    state.graph.close()
    if close is not None:
        close()


def make_app(settings: Settings, store: GraphStore | None = None) -> Starlette:
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
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
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

    app = Starlette(
        routes=_routes(state),
        middleware=_middleware(settings, authenticator),
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=lifespan,
    )
    app.state.lineage = state
    return app


def _routes(state: ServiceState) -> list[BaseRoute]:
    described = [*operations_routes(state), *store_routes(state), *openlineage_routes(state)]
    pages = docs_routes(state, described)
    if state.documents is None:
        pages += explorer_routes(offers_editor=state.offers_editor)
    else:  # the explorer's documents are not among the trusted ones
        pages.append(TemplateRoute("/", _redirect_to_graphql))
    if state.offers_editor:
        pages += editor_routes()
    return [*graphql_routes(state), *described, *pages]


def _middleware(settings: Settings, authenticator: Authenticator) -> list[Middleware]:
    # Outermost: it sees the requests that others refuse.
    layers = [Middleware(Guard, settings=settings, authenticator=authenticator)]
    if settings.on_loopback:
        # DNS rebinding: a page elsewhere can make a browser on this machine ask us under the page's own name.
        own = f"[{settings.host}]" if ":" in settings.host else settings.host
        names = ["localhost", "127.0.0.1", "[::1]", own]
        layers.append(Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False))
    return layers


async def _redirect_to_graphql(_: Request) -> RedirectResponse:
    return RedirectResponse("/graphql")

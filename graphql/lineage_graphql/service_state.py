"""State that all routes of a worker share: settings, store, threads, authenticator."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lineage.store.protocol import GraphStore
from lineage.traversal.adjacency import KeptGraph
from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.access.roles import Caller, TokenProblem
from lineage_graphql.admission import Admission
from lineage_graphql.limits.trusted_documents import TrustedDocuments
from lineage_graphql.monitoring.readiness import Readiness
from lineage_graphql.settings import Settings

__all__ = ["ServiceState"]


@dataclass(frozen=True)
class ServiceState:
    """State that all routes of a worker share."""

    settings: Settings
    store: GraphStore
    threads: ThreadPoolExecutor
    writers: ThreadPoolExecutor
    """Threads that write events: they do not wait for reads."""
    authenticator: Authenticator
    documents: TrustedDocuments | None
    admission: Admission
    readiness: Readiness
    graph: KeptGraph
    """The graph in memory, for traversals of the present."""

    @property
    def offers_editor(self) -> bool:
        """Whether the editor is served: on loopback, unless only trusted documents are accepted."""
        return self.settings.on_loopback and self.documents is None

    async def caller(self, authorization: str | None) -> Caller | TokenProblem:
        """Return the caller that the header `Authorization` authenticates, or why it does not."""
        if not self.settings.secured:
            return self.authenticator.caller(None)
        return await asyncio.get_running_loop().run_in_executor(None, self.authenticator.caller, authorization)

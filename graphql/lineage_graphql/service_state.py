"""What all routes of a worker share: settings, the store, threads, callers."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lineage.store.protocol import GraphStore
from lineage_graphql.access.authenticate import Callers
from lineage_graphql.access.roles import Caller, TokenProblem
from lineage_graphql.limits.trusted_documents import TrustedDocuments
from lineage_graphql.settings import Settings

__all__ = ["ServiceState"]


@dataclass(frozen=True)
class ServiceState:
    """What all routes of a worker share."""

    settings: Settings
    store: GraphStore
    threads: ThreadPoolExecutor
    callers: Callers
    documents: TrustedDocuments | None

    @property
    def offers_editor(self) -> bool:
        """Whether browsers on this machine get an editor: not where only trusted documents are answered."""
        return self.settings.on_loopback and self.documents is None

    async def caller(self, authorization: str | None) -> Caller | TokenProblem:
        """Return who asks, by the header `Authorization`, or why that is not known."""
        if not self.settings.secured:
            return self.callers.caller(None)
        return await asyncio.get_running_loop().run_in_executor(None, self.callers.caller, authorization)

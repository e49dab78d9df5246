"""Whether the store answers: asked in a thread of its own, so that readiness does not wait behind requests."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lineage.store.errors import StoreError
from lineage.store.protocol import GraphStore

__all__ = ["Readiness"]

_LOGGER = logging.getLogger(__name__)
_SECONDS = 2.0


class Readiness:
    """Asks a store, one question at a time; a store that answers a request meanwhile is busy, not away."""

    def __init__(self, store: GraphStore) -> None:
        self.thread = ThreadPoolExecutor(1, "readiness")
        self._store = store
        self._question: asyncio.Future[Any] | None = None
        self._answered = asyncio.Event()

    def note_answer(self) -> None:
        """Note that the store has answered a request."""
        self._answered.set()

    async def is_ready(self) -> bool:
        """Return whether the store answers now."""
        if self._question is None or self._question.done():
            self._question = asyncio.get_running_loop().run_in_executor(self.thread, self._store.runs, 1)
        question = self._question
        self._answered.clear()
        answered = asyncio.create_task(self._answered.wait())
        done, _ = await asyncio.wait({question, answered}, timeout=_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        answered.cancel()
        if not done:
            _LOGGER.warning("not ready: the store does not answer in time")
        elif question in done and isinstance(error := question.exception(), StoreError):
            _LOGGER.warning("not ready: %s", error)
        else:
            return True
        return False

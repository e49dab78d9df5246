"""How many requests a caller may send: a token bucket for each API token or JWT, or address where none is needed."""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.types import Scope

from lineage_graphql.settings import Settings

__all__ = ["RequestRate"]

_BURST_SECONDS = 10
"""A caller that was silent may send as many requests at once as are allowed in this time; a page sends some at once."""
_LEAST_BURST = 10.0
_CALLERS = 10_000
"""Callers whose buckets are kept: the one that was silent longest is forgotten first, with a bucket that is full."""
_FREE = frozenset(("/healthz", "/readyz", "/metrics"))


class RequestRate:
    """Counts the requests of each caller of one worker."""

    def __init__(self, settings: Settings) -> None:
        self._rate = settings.limits.rate
        self._by_token = settings.secured
        self._burst = max(_LEAST_BURST, (self._rate or 0) * _BURST_SECONDS)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, scope: Scope, headers: Headers) -> int | None:
        """Return None and count the request if it may be answered, else the seconds until one may."""
        if self._rate is None or scope["path"] in _FREE:
            return None
        now, caller = time.monotonic(), self._caller(scope, headers)
        left, at = self._buckets.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        is_over = left < 1
        self._buckets[caller] = (left if is_over else left - 1, now)
        if len(self._buckets) > _CALLERS:
            self._buckets.popitem(last=False)
        return max(1, math.ceil((1 - left) / self._rate)) if is_over else None

    def _caller(self, scope: Scope, headers: Headers) -> bytes:
        _, _, token = headers.get("authorization", "").strip().partition(" ")
        if self._by_token and token.strip():
            return hashlib.sha256(token.strip().encode()).digest()  # no token is kept
        address, *_ = scope.get("client") or ("",)
        return str(address).encode()

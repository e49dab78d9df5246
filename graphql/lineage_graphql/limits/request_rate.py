"""How many requests a caller may send: a token bucket for each good API token or JWT, else for the address.

Tokens that are not known share the bucket of their address: guessing them is no way to get more, nor to fill memory.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import Scope

from lineage_graphql.settings import Settings

__all__ = ["RequestRate"]

_BURST_SECONDS = 10
"""A caller that was silent may send as many requests at once as are allowed in this time; a page sends some at once."""
_LEAST_BURST = 10.0
_CALLERS = 10_000
"""Callers whose buckets are kept: the one that was silent longest is forgotten first, with a bucket that is full."""
_NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one has all that begin like it."""
_FREE = frozenset(("/healthz", "/readyz", "/metrics"))


class RequestRate:
    """Counts the requests of each caller of one worker."""

    def __init__(self, settings: Settings, known_token: Callable[[str | None], bytes | None]) -> None:
        """`known_token` returns what tells a good token apart from others, by the header `Authorization`."""
        self._rate = settings.limits.rate
        self._known_token = known_token
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
        known = self._known_token(headers.get("authorization"))
        if known is not None:
            return known
        address, *_ = scope.get("client") or ("",)
        return _network(str(address)).encode()


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address  # a socket of this machine
    return str(ipaddress.ip_network((parsed, _NETWORK_BITS), strict=False)) if parsed.version == 6 else address

"""The client of a service's store: each call is one request, each thread has one connection."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

from lineage.model.batch import LineageBatch
from lineage.model.influence.transformations import EdgeKind
from lineage.store import errors
from lineage.store.errors import StoreAccessError, StoreError, StoreUnreachableError, StoreWriteError
from lineage.store.exploring import Explorer, View
from lineage.store.planning.chunking.chunks import BatchPart, Stage, whole_batch
from lineage.store.remote.explorer import RemoteExplorer
from lineage.store.remote.wire import BUSY, PATH, ROUTES_VERSION, Effect, methods
from lineage.store.values import AppliedChanges, Direction

__all__ = ["RemoteStore"]


T = TypeVar("T")

_BUSY_SECONDS = 60.0
"""How long a call is sent again that a busy service refuses."""
_SECONDS = 600.0
"""A batch may take as long as the service needs to store it."""
_LARGE = 100_000
_TOO_MANY = 429
_ERRORS = {name: getattr(errors, name) for name in errors.__all__}


class RemoteStore:
    """A `GraphStore` behind a service, which owns the database; `lineage.store.open_store` makes one."""

    def __init__(self, address: str, token: str | None = None, *, read_only: bool = False) -> None:
        """Connect, and see that there is such a service.

        The token is the first of: the one given, the address's password, `LINEAGE_TOKEN`.

        Raises:
            StoreUnreachableError: no service answers there, or it refuses the token (StoreAccessError).
        """
        parts = urlsplit(address)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "localhost", parts.port
        self._prefix = parts.path.rstrip("/") + PATH
        self._address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        given = unquote(parts.password) if parts.password else None
        self._token = token or given or os.environ.get("LINEAGE_TOKEN")
        self._read_only = read_only
        self._local = threading.local()
        self._connections: list[http.client.HTTPConnection] = []
        try:
            self._version = self._service_version()
        except StoreError:
            self.close()
            raise

    @property
    def address(self) -> str:
        """The address that `--store` takes."""
        return self._address

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema."""
        return self._version

    @property
    def last_session(self) -> int | None:
        """None: the service also writes for others."""
        return None

    @property
    def is_file(self) -> bool:
        """False: a service has many writers."""
        return False

    def apply(self, batch: LineageBatch | BatchPart) -> AppliedChanges:
        """Apply a batch, or a part as returned by `parts`, which is a whole batch.

        Raises:
            StoreError: the service could not be reached or could not store the batch; nothing is stored then.
        """
        if isinstance(batch, BatchPart):
            if batch.stages != frozenset(Stage) or batch.references is not None:
                raise StoreWriteError("a service accepts whole batches only")
            batch = batch.batch
        applied: AppliedChanges = self._call("apply", batch)
        return applied

    def parts(self, batch: LineageBatch) -> list[list[BatchPart]]:
        """Return the batch as a single part: the service decides how to store it."""
        return [[whole_batch(batch)]]

    def explore(
        self,
        work: Callable[[Explorer], T],
        direction: Direction,
        *,
        kinds: Collection[EdgeKind] = (EdgeKind.CONTRIBUTES, EdgeKind.REFERENCES),
        as_of: datetime | None = None,
        hops: int = 1,
        deadline: float | None = None,
    ) -> T:
        """Return the result of `work`, which explores the graph through the service, hop by hop."""
        return work(RemoteExplorer(self._call, View(direction, frozenset(kinds), as_of, hops, deadline)))

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
        while self._connections:
            self._connections.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Return any other method of the protocol, which calls the service."""
        if name not in methods():
            raise AttributeError(name)
        return partial(self._call, name)

    def _service_version(self) -> int:
        answer = json.loads(self._request("GET", "", None))
        if answer.get("routes") != ROUTES_VERSION:
            raise StoreUnreachableError(
                f"{self._address} runs another version of lineage-graph", "install the same version here"
            )
        return int(answer["schema_version"])

    def _call(self, name: str, *values: Any, **named: Any) -> Any:
        method = methods()[name]
        if self._read_only and method.effect is not Effect.READS:
            raise StoreWriteError(f"{self._address} was opened read-only")
        return method.returns.validate_json(self._request("POST", f"/{name}", method.to_json(*values, **named)))

    def _request(self, verb: str, path: str, body: bytes | None) -> bytes:
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None and len(body) > _LARGE:
            body, headers["Content-Encoding"] = zlib.compress(body, 1), "deflate"
        try:
            answer, content = self._send(verb, self._prefix + path, body, headers)
            ends = time.monotonic() + _BUSY_SECONDS
            while (pause := _pause_before_retry(answer)) is not None and time.monotonic() + pause < ends:
                time.sleep(pause)
                answer, content = self._send(verb, self._prefix + path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            raise StoreUnreachableError(
                f"no service answers at {self._address}: {error or type(error).__name__}",
                "is it running? `lineage serve` starts one",
            ) from error
        if answer.status != 200:
            raise self._error_from(answer.status, content)
        return content

    def _send(
        self, verb: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; retry once if a kept-alive connection turns out to be closed."""
        known: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if known is not None:
            try:
                return self._exchange(known, verb, path, body, headers)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                known.close()
        return self._exchange(self._connect(), verb, path, body, headers)

    @staticmethod
    def _exchange(
        connection: http.client.HTTPConnection, verb: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection.request(verb, path, body, headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def _connect(self) -> http.client.HTTPConnection:
        if self._secure:
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=_SECONDS, context=ssl.create_default_context()
            )
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)
        self._local.connection = made
        self._connections.append(made)
        return made

    def _error_from(self, status: int, content: bytes) -> StoreError:
        try:
            answer = json.loads(content)
            message, hint, kind = answer.get("error") or "", answer.get("hint"), answer.get("type")
        except (ValueError, AttributeError):
            message, hint, kind = "", None, None
        if status in (401, 403):
            return StoreAccessError(
                f"{self._address} refuses access: {message}", "set LINEAGE_TOKEN to a token with the required role"
            )
        if status == 404 and kind is None:
            return StoreUnreachableError(f"{self._address} is not a lineage service", "check the address")
        made = _ERRORS.get(kind or "", StoreUnreachableError if status in (408, 421, 502, 503, 504) else StoreError)
        error: StoreError = made(f"{self._address}: {message or f'HTTP {status}'}", hint)
        return error


def _pause_before_retry(answer: http.client.HTTPResponse) -> float | None:
    """Return the seconds after which a refused request is sent again; None if it was not refused for its time."""
    after = answer.getheader("Retry-After", "")
    if (answer.status == 503 and after == BUSY) or (answer.status == _TOO_MANY and after.isdecimal()):
        return float(after)
    return None

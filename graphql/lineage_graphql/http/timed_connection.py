"""HTTP connections that must send the head of a request in time: uvicorn waits for it without a limit."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["HEAD_SECONDS", "MAX_HEAD", "TimedConnection"]

HEAD_SECONDS = 10.0
"""Maximum seconds from the first byte of a request, or from the start of a connection, to the end of the headers."""
MAX_HEAD = 65_536
"""Maximum bytes of a request line and headers."""


class TimedConnection(HttpToolsProtocol):
    """A connection that is closed if a request's head is late or too large."""

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        self._end_wait()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data; close the connection if a head is too large."""
        super().data_received(data)
        if self._head_timer is None:
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a head."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """End the wait."""
        self._end_wait()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the rest of a body that the answer did not need: uvicorn waits for it without a limit."""
        super().on_response_complete()
        if self.cycle.response_complete and self.cycle.more_body:
            self._await_head()

    def _await_head(self) -> None:
        self._head_bytes = 0
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse, b"408 Request Timeout")

    def _end_wait(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: bytes) -> None:
        self._end_wait()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()

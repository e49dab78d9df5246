"""A way to a server that can be cut, or that swallows what it is given: outages that are real to the client."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

__all__ = ["Proxy", "proxied"]


class Proxy:
    """Forwards connections; `hang` keeps them open and forwards nothing, `cut` closes all and takes none."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._flows = threading.Event()
        self._flows.set()
        self._open = True
        self._cut_after: int | None = None
        self.carried = 0
        """Bytes that clients sent."""
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hang(self) -> None:
        """Forward nothing from now on."""
        self._flows.clear()

    def go_on(self) -> None:
        """Forward again."""
        self._open, self._cut_after = True, None
        self._flows.set()

    def cut(self) -> None:
        """Close what is open, and each new connection at once."""
        self._open = False
        self._close_all()

    def cut_after(self, carried: int) -> None:
        """Cut once clients have sent so many bytes; the last ones arrive."""
        self.carried, self._cut_after = 0, carried

    def close(self) -> None:
        """End for good."""
        self._flows.set()
        self._listener.close()
        self._close_all()

    def _close_all(self) -> None:
        while self._sockets:
            one = self._sockets.pop()
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self._open:
                client.close()
                continue
            try:
                server = socket.create_connection(self._target)
            except OSError:  # nothing listens there: to the client, too, it is as if nothing did
                client.close()
                continue
            self._sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                to_server = source is client
                threading.Thread(target=self._forward, args=(source, sink, to_server), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, to_server: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self._flows.wait()
                sink.sendall(data)
                self.carried += len(data) if to_server else 0
                if self._cut_after is not None and self.carried > self._cut_after:
                    self.cut()


@contextlib.contextmanager
def proxied(host: str, port: int) -> Iterator[Proxy]:
    """Yield a proxy to a server, closed with the block."""
    proxy = Proxy(host, port)
    try:
        yield proxy
    finally:
        proxy.close()

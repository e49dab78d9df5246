"""Checks that Kafka is reachable before Spark starts: Spark itself reports nothing for minutes."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from lineage_ingest.query_log.streaming.stream_input import StreamInputError

__all__ = ["BrokersUnreachableError", "wait_for_brokers"]

_CONNECT = 5.0
_PAUSE = 0.5
_NOTICE = 3.0


class BrokersUnreachableError(ConnectionError):
    """No broker accepted a connection in time."""


def wait_for_brokers(brokers: str, seconds: float, waiting: Callable[[str], None]) -> None:
    """Return once one of the brokers (`host:port,…`) accepts a connection; call `waiting` with a message if it is slow.

    Raises:
        BrokersUnreachableError: no broker accepted a connection within `seconds`.
        StreamInputError: an address has no port.
    """
    addresses = [_address(text.strip()) for text in brokers.split(",") if text.strip()]
    begun = time.monotonic()
    noticed = False
    while True:
        for address in addresses:
            left = begun + seconds - time.monotonic()
            try:
                socket.create_connection(address, timeout=min(_CONNECT, max(left, _PAUSE))).close()
            except OSError as error:
                reason = error.strerror or str(error) or type(error).__name__
            else:
                return
        passed = time.monotonic() - begun
        if passed >= seconds:
            raise BrokersUnreachableError(f"Kafka does not answer at {brokers} since {passed:.0f} s: {reason}")
        if not noticed and passed >= min(_NOTICE, seconds / 2):
            noticed = True
            waiting(f"Kafka does not answer at {brokers} ({reason}); trying until {seconds:g} s have passed")
        time.sleep(min(_PAUSE, seconds))


def _address(text: str) -> tuple[str, int]:
    # A listener address, such as `PLAINTEXT://host:9092`, is also accepted.
    host, colon, port = text.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdecimal():
        raise StreamInputError(f"{text!r} is not a broker: expected HOST:PORT")
    return host.strip("[]"), int(port)

"""Choose the ports that a local server listens on."""

from __future__ import annotations

import socket

from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.settings import HOST

__all__ = ["choose_port", "free_port", "is_free"]


def is_free(port: int) -> bool:
    """Return whether nothing listens on the loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # A port with connections in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a free port, chosen by the operating system."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port


def choose_port(what: str, wanted: int | None, remembered: int | None, usual: int) -> int:
    """Return the wanted port, else the one used before, else the default, else any free port.

    Raises:
        ServerSetupError: the wanted port is in use (`what` names its protocol).
    """
    if wanted is not None:
        if not is_free(wanted):
            raise ServerSetupError(
                f"port {wanted} for {what} is taken by another program",
                "give another, or none to take a free one",
            )
        return wanted
    for port in (remembered, usual):
        if port is not None and is_free(port):
            return port
    return free_port()

"""What managing a local server raises.

StoreError
├── ServerSetupError              Java, Maven or a port is missing, or what was asked cannot be
└── StoreUnreachableError
    └── ServerStartError          the server was started and did not come up, or could not be stopped
"""

from __future__ import annotations

from lineage.store.errors import StoreError, StoreUnreachableError

__all__ = ["ServerSetupError", "ServerStartError"]


class ServerSetupError(StoreError):
    """Something that the server needs is missing on this machine, or what was asked for cannot be had."""


class ServerStartError(StoreUnreachableError):
    """The server did not come up, or could not be stopped; where it wrote a log, the message has its end."""

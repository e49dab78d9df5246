"""What managing a local server raises.

ServerError
├── ServerSetupError    Java, Maven or a port is missing, or what was asked cannot be
└── ServerStartError    the server was started and did not come up, or could not be stopped
"""

from __future__ import annotations

__all__ = ["ServerError", "ServerSetupError", "ServerStartError"]


class ServerError(Exception):
    """Something about a local server; `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class ServerSetupError(ServerError):
    """Something that the server needs is missing on this machine, or what was asked for cannot be had."""


class ServerStartError(ServerError):
    """The server did not come up, or could not be stopped; where it wrote a log, the message has its end."""

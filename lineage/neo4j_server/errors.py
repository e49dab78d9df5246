"""The errors of managing a local server.

ServerError
├── ServerSetupError    Java, Maven or a port is missing, or a setting is not available
└── ServerStartError    the server did not start, or could not be stopped
"""

from __future__ import annotations

__all__ = ["ServerError", "ServerSetupError", "ServerStartError"]


class ServerError(Exception):
    """An error of a local server; `hint` suggests a remedy."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class ServerSetupError(ServerError):
    """A prerequisite of the server is missing on this machine, or a requested setting is not available."""


class ServerStartError(ServerError):
    """The server did not start, or could not be stopped; the message ends with the tail of its log, if any."""

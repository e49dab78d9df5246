"""Run the service: check settings, set up logs and tracing, start workers, shut down gracefully."""

from __future__ import annotations

import errno
import gc
import json
import logging
import os
import signal
import socket
import sys
import tempfile
from datetime import UTC, datetime
from typing import Any

import uvicorn
from starlette.applications import Starlette

from lineage.model.text.visible_text import VisibleFormatter
from lineage.store import open_store
from lineage_graphql.app import make_app
from lineage_graphql.http.middleware import request_id
from lineage_graphql.http.timed_connection import TimedConnection
from lineage_graphql.monitoring.telemetry import set_up_tracing
from lineage_graphql.settings import Settings

__all__ = ["AddressError", "UnsafeSettingsError", "check", "make_worker", "serve", "server_options"]

UNREACHABLE = 3
_SETTINGS = "LINEAGE_SERVE_SETTINGS"


class UnsafeSettingsError(Exception):
    """The settings are unsafe or contradictory; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class AddressError(Exception):
    """The service cannot listen on the address; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def check(settings: Settings) -> None:
    """Check the combination of settings.

    Raises:
        UnsafeSettingsError: other machines can connect without authentication.
    """
    if not settings.on_loopback and not settings.secured and not settings.insecure:
        raise UnsafeSettingsError(
            f"other machines can connect to {settings.host} without authentication",
            "create tokens (`lineage token create NAME --role reader`) and give --auth, or give --oidc-issuer, "
            "or listen on 127.0.0.1; --insecure disables authentication",
        )


def serve(settings: Settings) -> None:
    """Run the service until SIGINT or SIGTERM; running requests then have `grace_seconds` to finish.

    Raises:
        UnsafeSettingsError: see `check`.
        AddressError: the port is in use, or the address is not available.
        StoreError: the store cannot be opened.
    """
    check(settings)
    options = server_options(settings)
    _check_address(settings)
    set_up_logs(settings)
    set_up_tracing()
    if settings.workers == 1:
        server = uvicorn.Server(uvicorn.Config(_make(settings), **options))
        # uvicorn raises the signal again after a graceful shutdown, which would end the process with an error.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run()
        if not server.started:
            sys.exit(UNREACHABLE)
        return
    # Each worker opens the store itself. Open it once here, to report errors and to migrate it.
    open_store(settings.store).close()
    with tempfile.TemporaryDirectory(prefix="lineage-metrics-") as folder:
        os.environ |= {_SETTINGS: settings.model_dump_json(), "PROMETHEUS_MULTIPROC_DIR": folder}
        uvicorn.run("lineage_graphql.serving:make_worker", factory=True, workers=settings.workers, **options)


def server_options(settings: Settings) -> dict[str, Any]:
    """Return uvicorn's options for the settings."""
    return {
        "host": settings.host,
        "port": settings.port,
        "http": TimedConnection,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": settings.grace_seconds,
        "timeout_keep_alive": 30,
        "ws_max_size": settings.limits.body_bytes,
        "lifespan": "on",
    }


def _check_address(settings: Settings) -> None:
    """Check that the service can listen on the address, before the store is opened.

    Raises:
        AddressError: the address is in use or not available.
    """
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        if error.errno == errno.EADDRINUSE:
            hint = "stop the other program, or choose a port with --port (0 selects a free one)"
            raise AddressError(f"{where} is in use by another program", hint) from error
        raise AddressError(f"cannot listen on {where}: {error.strerror}", "see --host and --port") from error


def make_worker() -> Starlette:
    """Return the application of a worker process, with the settings from the environment."""
    settings = Settings.model_validate_json(os.environ[_SETTINGS])
    set_up_logs(settings)
    set_up_tracing()
    return _make(settings)


def _make(settings: Settings) -> Starlette:
    """Return the application, with the garbage collector tuned.

    A traversal allocates tens of thousands of lists and no cycles: collecting took a tenth of its time.
    """
    app = make_app(settings)
    gc.freeze()  # without a collection before: it would take longer than what it frees is worth
    gc.set_threshold(20_000, 10, 10)
    return app


def set_up_logs(settings: Settings) -> None:
    """Log to standard error, one line per record, as text or JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if settings.log_format == "json" else _TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # These log what callers sent, or duplicate our lines.
    for name in ("strawberry.execution", "neo4j", "mcp", "httpx"):
        logging.getLogger(name).setLevel(logging.WARNING)


class _TextFormatter(VisibleFormatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s [%(request_id)s] %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        record.request_id = request_id.get()
        return super().format(record)


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
        }
        entry |= {name: getattr(record, name) for name in ("method", "route", "status", "ms") if hasattr(record, name)}
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)

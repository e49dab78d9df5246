"""Runs the service: checks of its settings, logs, one worker or several, a graceful end."""

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
from fastapi import FastAPI

from lineage.model.visible_text import VisibleFormatter
from lineage.store import open_store
from lineage_graphql.app import make_app
from lineage_graphql.http.middleware import request_id
from lineage_graphql.settings import Settings
from lineage_graphql.telemetry import set_up_tracing

__all__ = ["AddressError", "UnsafeSettingsError", "check", "make_worker", "serve"]

UNREACHABLE = 3
_SETTINGS = "LINEAGE_SERVE_SETTINGS"


class UnsafeSettingsError(Exception):
    """The settings would leave the graph open to strangers, or cannot work; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class AddressError(Exception):
    """The address cannot be listened on; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def check(settings: Settings) -> None:
    """Check what the settings mean together.

    Raises:
        UnsafeSettingsError: others could connect and nobody has to say who they are; or several processes are to
            own an embedded store.
    """
    if not settings.on_loopback and not settings.secured and not settings.insecure:
        raise UnsafeSettingsError(
            f"at {settings.host} others can connect, and nobody has to say who they are",
            "make tokens (`lineage token create NAME --role reader`) and give --auth, or --oidc-issuer; "
            "or listen on 127.0.0.1; --insecure does it all the same",
        )
    if settings.workers > 1 and not settings.read_only and "://" not in (settings.store or ""):
        raise UnsafeSettingsError(
            "an embedded store has one owner: several workers cannot share it",
            "leave --workers at 1, only read (--read-only), or use Neo4j (--store bolt://…)",
        )


def serve(settings: Settings) -> None:
    """Run the service until it has to end (SIGINT, SIGTERM); requests under way have `grace_seconds`.

    Raises:
        UnsafeSettingsError: see `check`.
        AddressError: the port is in use, or not this machine's to listen on.
        StoreError: the store cannot be opened.
    """
    check(settings)
    options: dict[str, Any] = {
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": settings.grace_seconds,
        "timeout_keep_alive": 30,
        "h11_max_incomplete_event_size": 65_536,
        "ws_max_size": settings.limits.body_bytes,
        "lifespan": "on",
    }
    _see_that_port_is_free(settings)
    set_up_logs(settings)
    set_up_tracing()
    if settings.workers == 1:
        server = uvicorn.Server(uvicorn.Config(_made(settings), **options))
        # Having ended gracefully it raises the signal again, which would end the process as if it had failed.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run()
        if not server.started:
            sys.exit(UNREACHABLE)
        return
    # Each worker opens the store by itself: first see whether it can be opened at all, and is up to date.
    open_store(settings.store).close()
    with tempfile.TemporaryDirectory(prefix="lineage-metrics-") as folder:
        os.environ |= {_SETTINGS: settings.model_dump_json(), "PROMETHEUS_MULTIPROC_DIR": folder}
        uvicorn.run("lineage_graphql.serving:make_worker", factory=True, workers=settings.workers, **options)


def _see_that_port_is_free(settings: Settings) -> None:
    """See that the address can be listened on, before the store is opened.

    Raises:
        AddressError: it cannot.
    """
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        if error.errno == errno.EADDRINUSE:
            hint = "end the other program, or choose another port with --port (0 takes a free one)"
            raise AddressError(f"{where} is in use by another program", hint) from error
        raise AddressError(f"{where} cannot be listened on: {error.strerror}", "see --host and --port") from error


def make_worker() -> FastAPI:
    """Return the application of one of several workers, which get the settings from the environment."""
    settings = Settings.model_validate_json(os.environ[_SETTINGS])
    set_up_logs(settings)
    set_up_tracing()
    return _made(settings)


def _made(settings: Settings) -> FastAPI:
    """Return the application; the collector of cycles leaves alone what stays for good, and looks seldom.

    A traversal makes some ten thousand lists and no cycles: looking for some took a tenth of its time.
    """
    app = make_app(settings)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    return app


def set_up_logs(settings: Settings) -> None:
    """Write logs to the standard error, a line each: for people, or as JSON for programs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_AsJson() if settings.log_format == "json" else _AsText())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # Their lines hold what callers sent, or repeat ours.
    for name in ("strawberry.execution", "neo4j", "mcp", "httpx"):
        logging.getLogger(name).setLevel(logging.WARNING)


class _AsText(VisibleFormatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s [%(request_id)s] %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        record.request_id = request_id.get()
        return super().format(record)


class _AsJson(logging.Formatter):
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

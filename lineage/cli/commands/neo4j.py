"""`lineage neo4j`: start, stop and inspect a local Neo4j server, without Docker."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from lineage.neo4j_server import (
    ManagedServer,
    ServerError,
    ServerHome,
    ServerSettings,
    ServerStartError,
    default_home,
    server_status,
    start_server,
    stop_server,
)
from lineage.neo4j_server.jars import Report
from lineage.neo4j_server.release import VERSION

__all__ = ["app"]

app = typer.Typer(name="neo4j", no_args_is_help=True)

_WRONG_USE, _UNREACHABLE = 2, 3


class _Format(StrEnum):
    TABLE = "table"
    JSON = "json"


_Home = Annotated[
    Path | None,
    typer.Option(
        "--home", help="Folder of the server and its data. Default: LINEAGE_NEO4J_HOME, else the user's data folder."
    ),
]
_FormatOption = Annotated[_Format, typer.Option("--format", help="Output format.")]


@app.callback()
def neo4j() -> None:
    """Run a local Neo4j server, without Docker.

    Example: lineage neo4j start, then lineage neo4j status
    """


@app.command()
def start(
    home: _Home = None,
    bolt_port: Annotated[int | None, typer.Option(help="Bolt port. Default: a free port.")] = None,
    http_port: Annotated[int | None, typer.Option(help="HTTP port of Neo4j Browser. Default: a free port.")] = None,
    heap: Annotated[str, typer.Option(help="Heap size.")] = "512m",
    page_cache: Annotated[str, typer.Option(help="Page cache size.")] = "256m",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for the server to answer.")] = 120.0,
    output: _FormatOption = _Format.TABLE,
) -> None:
    """Start Neo4j, on the loopback address.

    The first start downloads it. A server that is already running is left alone.

    Example: lineage neo4j start --heap 1g --page-cache 512m
    """
    begun = time.monotonic()
    with _errors_as_exit_codes(), _progress() as report:
        settings = ServerSettings(heap, page_cache, bolt_port, http_port)
        server = start_server(settings, home, timeout=timeout, report=report)
    if output is _Format.JSON:
        _print_json(_facts(server))
        return
    _print_pairs(f"Neo4j {VERSION} answers after {time.monotonic() - begun:.1f} s", _facts(server))
    typer.echo(f"Use it with --store {server.bolt_uri} or LINEAGE_STORE={server.bolt_uri}")


@app.command()
def stop(
    home: _Home = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait before killing the process.")] = 60.0,
) -> None:
    """Stop Neo4j. Its data is kept.

    Example: lineage neo4j stop
    """
    with _errors_as_exit_codes():
        stopped = stop_server(home, timeout=timeout)
    typer.echo("Neo4j is stopped" if stopped else f"Neo4j is not running in {home or default_home()}")


@app.command()
def status(home: _Home = None, output: _FormatOption = _Format.TABLE) -> None:
    """Show the addresses, memory and disk use of Neo4j.

    Exits with 3 if it is not running or does not answer.

    Example: lineage neo4j status --format json
    """
    with _errors_as_exit_codes():
        neo4j_status = server_status(home)
    if neo4j_status is None:
        if output is _Format.JSON:
            _print_json({"running": False, "home": str(home or default_home())})
        else:
            typer.echo(f"Neo4j is not running in {home or default_home()}; start it with `lineage neo4j start`")
        raise typer.Exit(_UNREACHABLE)
    facts = {
        "running": True,
        "responding": neo4j_status.responding,
        **_facts(neo4j_status.server),
        "memory_bytes": neo4j_status.memory_bytes,
        "store_bytes": neo4j_status.store_bytes,
    }
    if output is _Format.JSON:
        _print_json(facts)
    else:
        answers = "is running" if neo4j_status.responding else "is running but does not answer"
        taken = {"memory": _megabytes(neo4j_status.memory_bytes), "store": _megabytes(neo4j_status.store_bytes)}
        _print_pairs(f"Neo4j {VERSION} {answers}", _facts(neo4j_status.server) | taken)
    if not neo4j_status.responding:
        raise typer.Exit(_UNREACHABLE)


@contextmanager
def _errors_as_exit_codes() -> Iterator[None]:
    try:
        yield
    except ServerError as error:
        # A message with log lines has its hint on a separate line.
        gap = "\n" if "\n" in str(error) else "; "
        typer.echo(f"error: {error}{gap}{error.hint}" if error.hint else f"error: {error}", err=True)
        raise typer.Exit(_UNREACHABLE if isinstance(error, ServerStartError) else _WRONG_USE) from error


@contextmanager
def _progress() -> Iterator[Report]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: typer.echo(text, err=True)
        return
    with console.status("") as line:
        yield lambda text: line.update(escape(text))


def _facts(server: ManagedServer) -> dict[str, Any]:
    return {
        "bolt": server.bolt_uri,
        "browser": server.browser_uri,
        "user": server.user,
        "password_file": str(ServerHome(server.home).credentials),
        "home": str(server.home),
        "pid": server.pid,
    }


def _print_pairs(title: str, pairs: dict[str, Any]) -> None:
    typer.echo(title)
    for name, value in pairs.items():
        typer.echo(f"  {name.replace('_', ' '):<14} {value}")


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, indent=2))


def _megabytes(count: int | None) -> str:
    return "unknown" if count is None else f"{count / 1e6:.0f} MB"

"""`lineage neo4j start|stop|status`: a real Neo4j on this machine, for those who have no Docker."""

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

app = typer.Typer(name="neo4j", help="Run a real Neo4j on this machine, without Docker.", no_args_is_help=True)

_WRONG_USE, _UNREACHABLE = 2, 3


class _Format(StrEnum):
    TABLE = "table"
    JSON = "json"


_Home = Annotated[
    Path | None,
    typer.Option("--home", help="Folder of the server's data; else LINEAGE_NEO4J_HOME, else the user's data folder."),
]
_FormatOption = Annotated[_Format, typer.Option("--format", help="How to print.")]


@app.command()
def start(
    home: _Home = None,
    bolt_port: Annotated[int | None, typer.Option(help="Port for Bolt; else a free one.")] = None,
    http_port: Annotated[int | None, typer.Option(help="Port for the Browser; else a free one.")] = None,
    heap: Annotated[str, typer.Option(help="Memory for queries.")] = "512m",
    page_cache: Annotated[str, typer.Option(help="Memory that keeps the store's pages.")] = "256m",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait until it answers.")] = 120.0,
    output: _FormatOption = _Format.TABLE,
) -> None:
    """Start Neo4j on the loopback address, fetching it once; one that runs already is left as it is."""
    begun = time.monotonic()
    with _errors_as_exit_codes(), _progress() as report:
        settings = ServerSettings(heap, page_cache, bolt_port, http_port)
        server = start_server(settings, home, timeout=timeout, report=report)
    if output is _Format.JSON:
        _print_json(_facts(server))
        return
    _print_pairs(f"Neo4j {VERSION} answers after {time.monotonic() - begun:.1f} s", _facts(server))
    typer.echo(f"Use it by --store {server.bolt_uri} or LINEAGE_STORE={server.bolt_uri}")


@app.command()
def stop(
    home: _Home = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait before it is killed.")] = 60.0,
) -> None:
    """Stop Neo4j; its data stays."""
    with _errors_as_exit_codes():
        stopped = stop_server(home, timeout=timeout)
    typer.echo("Neo4j is stopped" if stopped else f"Neo4j does not run in {home or default_home()}")


@app.command()
def status(home: _Home = None, output: _FormatOption = _Format.TABLE) -> None:
    """Say where Neo4j answers and what it takes; exit with 3 when it does not run or does not answer."""
    with _errors_as_exit_codes():
        found = server_status(home)
    if found is None:
        if output is _Format.JSON:
            _print_json({"running": False, "home": str(home or default_home())})
        else:
            typer.echo(f"Neo4j does not run in {home or default_home()}; start it with `lineage neo4j start`")
        raise typer.Exit(_UNREACHABLE)
    facts = {
        "running": True,
        "responding": found.responding,
        **_facts(found.server),
        "memory_bytes": found.memory_bytes,
        "store_bytes": found.store_bytes,
    }
    if output is _Format.JSON:
        _print_json(facts)
    else:
        answers = "answers" if found.responding else "runs and does not answer"
        taken = {"memory": _megabytes(found.memory_bytes), "store": _megabytes(found.store_bytes)}
        _print_pairs(f"Neo4j {VERSION} {answers}", _facts(found.server) | taken)
    if not found.responding:
        raise typer.Exit(_UNREACHABLE)


@contextmanager
def _errors_as_exit_codes() -> Iterator[None]:
    try:
        yield
    except ServerError as error:
        # A message that ends with lines of a log has its hint below them.
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
    return "not known" if count is None else f"{count / 1e6:.0f} MB"

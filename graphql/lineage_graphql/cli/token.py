"""`lineage token …`: API tokens for the service."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from lineage.cli.listing import Look, OutputFormat, note, print_listing
from lineage.cli.options import FormatOption
from lineage_graphql.access.access_tokens import TokenFile, TokenFileError, default_token_path
from lineage_graphql.access.roles import Role

__all__ = ["TokensOption", "app"]

T = TypeVar("T")

app = typer.Typer(help="API tokens for the service: who may do what.", no_args_is_help=True, add_completion=False)

TokensOption = Annotated[
    Path | None,
    typer.Option(
        "--tokens", help="The file of API tokens; default in your folder of configuration.", envvar="LINEAGE_TOKENS"
    ),
]
_SPAN = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@app.callback()
def token() -> None:
    """API tokens for the service: who may do what."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Who or what it is for; what it changes by hand names it.")],
    role: Annotated[
        list[Role],
        typer.Option(help="What it may do: reader asks, ingester sends lineage, steward changes, admin all of it."),
    ],
    expires: Annotated[str | None, typer.Option(help="For how long: 12h, 90d, 4w; else until it is revoked.")] = None,
    tokens: TokensOption = None,
) -> None:
    """Make a token and print it, this once: only its hash is kept.

    Example: lineage token create airflow --role ingester --expires 90d
    """
    ends = None if expires is None else datetime.now(UTC).replace(microsecond=0) + _span(expires)
    file = TokenFile(tokens or default_token_path())
    text, record = _or_wrong_use(lambda: file.create(name, role, ends))
    typer.echo(text)
    note(f"token {record.id} for {name}: it is shown this once; {file.path} keeps its hash")


@app.command("list")
def list_tokens(tokens: TokensOption = None, output: FormatOption = OutputFormat.TABLE) -> None:
    """List tokens: who may do what, until when."""
    file = TokenFile(tokens or default_token_path())
    now = datetime.now(UTC)
    rows = [
        (one.id, one.name, " ".join(one.roles), one.created_at, one.expires_at, one.valid_at(now))
        for one in _or_wrong_use(file.records)
    ]
    print_listing(
        ("id", "name", "roles", "created", "expires", "valid"), rows, output, Look(words=("roles",), cuts=("roles",))
    )


@app.command()
def revoke(
    identity: Annotated[str, typer.Argument(help="The token's id, as `lineage token list` shows it.", metavar="ID")],
    tokens: TokensOption = None,
) -> None:
    """End a token. A service that is running knows at once."""
    file = TokenFile(tokens or default_token_path())
    if not _or_wrong_use(lambda: file.revoke(identity)):
        raise typer.BadParameter(f"no token {identity} in {file.path}", param_hint="ID")
    note(f"token {identity} is revoked")


def _span(text: str) -> timedelta:
    found = _SPAN.fullmatch(text)
    if found is None or not int(found.group(1)):
        raise typer.BadParameter(f"{text!r} is no span of time such as 12h, 90d or 4w", param_hint="--expires")
    return int(found.group(1)) * _UNITS[found.group(2)]


def _or_wrong_use(work: Callable[[], T]) -> T:
    try:
        return work()
    except TokenFileError as error:
        raise typer.BadParameter(str(error), param_hint="--tokens") from error

"""`lineage token …`: API tokens for the service."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from lineage.cli.store_options import FormatOption
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import note
from lineage_graphql.access.access_tokens import TokenFile, TokenFileError, default_token_path
from lineage_graphql.access.roles import Role

__all__ = ["TokensOption", "app"]

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, add_completion=False)

TokensOption = Annotated[
    Path | None,
    typer.Option(
        "--tokens", help="Token file; by default in the user's configuration folder.", envvar="LINEAGE_TOKENS"
    ),
]
_DURATION = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@app.callback()
def token() -> None:
    """Manage API tokens of the service.

    Example: lineage token create airflow --role ingester --expires 90d
    """


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="User or program of the token; recorded with its changes.")],
    role: Annotated[
        list[Role],
        typer.Option(help="Role: reader queries, ingester sends lineage, steward edits, admin does everything."),
    ],
    expires: Annotated[str | None, typer.Option(help="Lifetime: 12h, 90d, 4w; without it, until revoked.")] = None,
    tokens: TokensOption = None,
) -> None:
    """Create a token and print it. It cannot be shown again: only its hash is stored.

    Example: lineage token create airflow --role ingester --expires 90d
    """
    ends = None if expires is None else datetime.now(UTC).replace(microsecond=0) + _duration(expires)
    file = TokenFile(tokens or default_token_path())
    text, record = _or_wrong_use(lambda: file.create(name, role, ends))
    typer.echo(text)
    note(f"token {record.id} for {name}: it cannot be shown again; {file.path} stores its hash")


@app.command("list")
def list_tokens(tokens: TokensOption = None, output: FormatOption = OutputFormat.TABLE) -> None:
    """List tokens with their roles and expiry.

    Example: lineage token list --format json
    """
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
    """Revoke a token. Running services refuse it at once.

    Example: lineage token revoke 3f9c2a1b
    """
    file = TokenFile(tokens or default_token_path())
    if not _or_wrong_use(lambda: file.revoke(identity)):
        raise typer.BadParameter(f"no token {identity} in {file.path}", param_hint="ID")
    note(f"token {identity} is revoked")


def _duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if found is None or not int(found.group(1)):
        raise typer.BadParameter(f"{text!r} is not a duration such as 12h, 90d or 4w", param_hint="--expires")
    return int(found.group(1)) * _UNITS[found.group(2)]


def _or_wrong_use(work: Callable[[], T]) -> T:
    try:
        return work()
    except TokenFileError as error:
        raise typer.BadParameter(str(error), param_hint="--tokens") from error

"""`lineage serve`. The service's libraries are imported when it runs, so that other commands start fast."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.store_options import LockTimeoutOption, StoreOption
from lineage.garbage_collection import seldom_collecting
from lineage.screen.listing import note
from lineage_graphql.cli.token import TokensOption
from lineage_graphql.installed import check_installed

__all__ = ["app"]

app = typer.Typer(add_completion=False)


class LogFormat(StrEnum):
    """Log formats."""

    TEXT = "text"
    JSON = "json"


@app.command(short_help="Run the GraphQL and OpenLineage service.")
def serve(
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
    host: Annotated[str, typer.Option(help="Address to listen on.", envvar="LINEAGE_HOST")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 selects a free one.", envvar="LINEAGE_PORT")
    ] = 8000,
    auth: Annotated[
        bool, typer.Option("--auth", help="Require API tokens (`lineage token create`), also on loopback.")
    ] = False,
    tokens: TokensOption = None,
    oidc_issuer: Annotated[str | None, typer.Option(help="Accept JWTs of this OpenID provider.")] = None,
    oidc_audience: Annotated[str | None, typer.Option(help="Required audience of the JWTs.")] = None,
    roles_claim: Annotated[str, typer.Option(help="Claim that holds roles; dots separate nested claims.")] = "roles",
    workers: Annotated[int, typer.Option(min=1, help="Worker processes, each with the graph in memory.")] = 1,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse changes and ingestion.")] = False,
    trusted_documents: Annotated[
        Path | None,
        typer.Option(exists=True, help="Accept only these GraphQL documents: JSON of ids and texts, or a folder."),
    ] = None,
    pii_policy: Annotated[
        Path | None,
        typer.Option(
            "--pii-policy", help="YAML file of where personal data may be: reports say what it denies.", metavar="FILE"
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(help="Limit per request, such as seconds=5, cost=50000 or page=200.", metavar="NAME=NUMBER"),
    ] = None,
    log_format: Annotated[LogFormat, typer.Option(help="Log format.")] = LogFormat.TEXT,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Disable authentication: anyone who can connect can read and write.")
    ] = False,
) -> None:
    """Run the service: queries over GraphQL, ingestion of OpenLineage events.

    For local use no setup is needed: open http://127.0.0.1:8000. For other machines, create tokens:

    lineage token create dashboards --role reader

    lineage serve --host 0.0.0.0 --auth --store bolt://neo4j:7687
    """
    check_installed("starlette", "strawberry", "uvicorn")
    with seldom_collecting():  # a tenth of the time until the first answer
        from pydantic import ValidationError  # noqa: PLC0415

        from lineage.governance.report.policy import read_policy  # noqa: PLC0415
        from lineage.governance.yaml_files import GovernanceFileError  # noqa: PLC0415
        from lineage_graphql.access.access_tokens import TokenFileError, default_token_path  # noqa: PLC0415
        from lineage_graphql.access.jwt_settings import JwtSettings  # noqa: PLC0415
        from lineage_graphql.limits.trusted_documents import TrustedDocumentsError  # noqa: PLC0415
        from lineage_graphql.serving import UNREACHABLE, AddressError, UnsafeSettingsError  # noqa: PLC0415
        from lineage_graphql.serving import serve as run  # noqa: PLC0415
        from lineage_graphql.settings import Limits, Settings  # noqa: PLC0415

    if (oidc_issuer is None) != (oidc_audience is None):
        raise typer.BadParameter("give both --oidc-issuer and --oidc-audience", param_hint="--oidc-issuer")
    oidc = (
        JwtSettings(issuer=oidc_issuer, audience=oidc_audience or "", roles_claim=roles_claim) if oidc_issuer else None
    )
    try:
        limits = Limits.model_validate(dict(_limit(each) for each in limit or ()))
    except ValidationError as error:
        first = error.errors()[0]
        known = ", ".join(Limits.model_fields)
        raise typer.BadParameter(
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}; limits are {known}", param_hint="--limit"
        ) from error
    try:
        policy = read_policy(pii_policy) if pii_policy is not None else None
    except GovernanceFileError as error:
        raise typer.BadParameter(str(error), param_hint="--pii-policy") from error
    settings = Settings(
        store=store,
        host=host,
        port=port,
        workers=workers,
        read_only=read_only,
        insecure=insecure,
        tokens=(tokens or default_token_path()) if auth or tokens else None,
        oidc=oidc,
        trusted_documents=trusted_documents,
        pii_policy=policy,
        limits=limits,
        log_format=log_format.value,
    )
    if settings.tokens is not None:
        typer.echo(f"authentication is on: callers need a token from {settings.tokens}", err=True)
        if not settings.tokens.exists():
            typer.echo(
                f"{settings.tokens} does not exist, so every request is refused: "
                "make a token with `lineage token create NAME --role reader`, or unset LINEAGE_TOKENS and --auth",
                err=True,
            )
    try:
        run(settings)
    except UnsafeSettingsError as error:
        raise typer.BadParameter(f"{error}. {error.hint}", param_hint="--host" if host else None) from error
    except AddressError as error:
        note(f"error: {error}", "red")
        note(error.hint)
        raise typer.Exit(UNREACHABLE) from error
    except (TrustedDocumentsError, TokenFileError) as error:
        raise typer.BadParameter(str(error)) from error


def _limit(text: str) -> tuple[str, str]:
    name, equals, number = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=NUMBER", param_hint="--limit")
    return name.strip(), number.strip()

"""Settings of the service. Worker processes get them as JSON."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lineage.governance.report.policy import Policy
from lineage_graphql.access.jwt_settings import JwtSettings

__all__ = ["Limits", "Settings", "is_loopback"]

_Positive = Annotated[int, Field(gt=0)]


class Limits(BaseModel):
    """Limits per request. A request above one is refused; the error names the limit and the value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    body_bytes: _Positive = 1_000_000
    event_body_bytes: _Positive = 50_000_000
    """For OpenLineage events."""
    batch_bytes: _Positive = 250_000_000
    """For batches of other processes, decompressed."""
    body_seconds: Annotated[float, Field(gt=0)] = 15.0
    """Maximum seconds to receive a body."""
    tokens: _Positive = 5_000
    """Lexical tokens of a GraphQL document."""
    variables: _Positive = 5_000
    """Values in a request's variables, in lists and objects as well."""
    selections: _Positive = 5_000
    """Fields and fragments of a document; a fragment counts once for each operation and page size it is used with."""
    comparisons: _Positive = 10_000
    """Pairs of fields with one response name that validation compares, through fragments as well."""
    depth: _Positive = 15
    aliases: _Positive = 30
    cost: _Positive = 20_000
    """See `limits.query_cost`: about the number of objects that the result may hold, and ten per hop."""
    page: Annotated[int, Field(ge=100)] = 500
    """Maximum of `first`, whose largest default is 100."""
    hops: Annotated[int, Field(ge=20)] = 50
    """Maximum of `maxHops`, whose default is 20."""
    reached: _Positive = 10_000
    """Maximum number of columns that the traversals of a request reach; beyond it `totalCount` is a lower bound."""
    sql_characters: _Positive = 200_000
    """Maximum length of the text of `extract`."""
    waiting: _Positive = 16
    """Requests that wait while as many work as there are threads; others are refused at once."""
    seconds: Annotated[float, Field(gt=0)] = 10.0
    """Maximum seconds of a request; the store's work is cancelled with it."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Requests per second of each token, in each worker; of each address where no token is needed."""


class Settings(BaseModel):
    """The settings of `lineage serve`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: str | None = None
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    workers: _Positive = 1
    threads: Annotated[int, Field(gt=0, le=48)] = 8
    """Maximum number of concurrent store reads of a worker; Neo4j's driver has two connections for each."""
    read_only: bool = False
    insecure: bool = False
    tokens: Path | None = None
    oidc: JwtSettings | None = None
    trusted_documents: Path | None = None
    pii_policy: Policy | None = None
    """Where which classes of personal data may be; `piiReport` and `exposures` say what it says of each column."""
    limits: Limits = Limits()
    log_format: Literal["text", "json"] = "text"
    grace_seconds: Annotated[int, Field(ge=0)] = 5

    @property
    def secured(self) -> bool:
        """Whether authentication is on."""
        return self.tokens is not None or self.oidc is not None

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False

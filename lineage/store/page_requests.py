"""What a page of a list is asked for with: an order, positions to stay between, and which rows are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import DatasetKind

__all__ = ["DatasetFilter", "DiagnosticFilter", "JobFilter", "Order", "PageRequest", "Position"]


class Order(StrEnum):
    """What a list is ordered by; rows that are equal in it are ordered by key."""

    KEY = "key"
    NAME = "name"
    FIRST_SEEN = "first_seen"
    LAST_SEEN = "last_seen"
    AT = "at"


Position = tuple[str | int, ...]
"""Where a row stands in an ordered list: what it is ordered by (a time in microseconds since 1970), and its key."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which rows of an ordered list: those between two positions, `limit` of them from the start, or from the end.

    A position need not be that of a row that is (still) there.
    """

    limit: int = 100
    order: Order = Order.KEY
    descending: bool = False
    after: Position | None = None
    before: Position | None = None
    backwards: bool = False


@dataclass(frozen=True, slots=True)
class DatasetFilter:
    """Which datasets are asked for; all that is given holds of each.

    `schema` is the part of the name before the last (`shop` or `db.shop` of `db.shop.orders`), without case; `tags` are
    all on the dataset; `unread_since` leaves out those that a query read on that day or later. Dropped ones are among
    them only if `dropped`.
    """

    namespace: str | None = None
    schema: str | None = None
    kinds: tuple[DatasetKind, ...] = ()
    tags: tuple[str, ...] = ()
    dropped: bool = False
    unread_since: date | None = None


@dataclass(frozen=True, slots=True)
class DiagnosticFilter:
    """Which diagnostics are asked for: with one of the codes and severities (any, if none is named), of a source."""

    codes: tuple[DiagnosticCode, ...] = ()
    severities: tuple[Severity, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs are asked for: of these kinds (any, if none is named), retired ones only if `retired`.

    `project` is that of SQL files, `file` a file or the folder that it lies in (its path in the project, or the source
    that was named), `user` one who ran the job, as far as logs name users.
    """

    kinds: tuple[JobKind, ...] = ()
    retired: bool = False
    project: str | None = None
    file: str | None = None
    user: str | None = None

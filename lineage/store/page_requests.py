"""Requests for pages of lists: order, position and filters."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from lineage.frozen import frozen
from lineage.model.batch import JobKind
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.statement import DatasetKind

__all__ = ["DatasetFilter", "DiagnosticFilter", "JobFilter", "Order", "PageRequest", "Position"]


class Order(StrEnum):
    """The order of a list; ties are ordered by key."""

    KEY = "key"
    NAME = "name"
    FIRST_SEEN = "first_seen"
    LAST_SEEN = "last_seen"
    AT = "at"


Position = tuple[str | int, ...]
"""The position of a row in an ordered list: its value (a time in microseconds since 1970) and its key."""


@frozen
class PageRequest:
    """Rows of an ordered list between two positions: the first `limit` of them, or the last if `backwards`.

    The row at a position need not exist any more.
    """

    limit: int = 100
    order: Order = Order.KEY
    descending: bool = False
    after: Position | None = None
    before: Position | None = None
    backwards: bool = False


@frozen
class DatasetFilter:
    """A filter of datasets; all conditions must hold.

    `schema` is the part of the name before the last (`shop` or `db.shop` of `db.shop.orders`), ignoring case. A dataset
    must have all `tags`. `unread_since` excludes datasets that a query read on that day or later. Dropped datasets are
    included only if `dropped`.
    """

    namespace: str | None = None
    schema: str | None = None
    kinds: tuple[DatasetKind, ...] = ()
    tags: tuple[str, ...] = ()
    dropped: bool = False
    unread_since: date | None = None


@frozen
class DiagnosticFilter:
    """A filter of diagnostics: any of the codes and severities (empty means all), and a source."""

    codes: tuple[DiagnosticCode, ...] = ()
    severities: tuple[Severity, ...] = ()
    source: str | None = None


@frozen
class JobFilter:
    """A filter of jobs: any of the kinds (empty means all); retired jobs are included only if `retired`.

    `project` is that of SQL files, `file` a file or folder (its path in the project, or the source as it was given),
    `user` a user who ran the job, if logs name users.
    """

    kinds: tuple[JobKind, ...] = ()
    retired: bool = False
    project: str | None = None
    file: str | None = None
    user: str | None = None

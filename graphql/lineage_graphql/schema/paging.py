"""Pages, as the Relay specification of connections has them: a cursor says behind which row the next page begins."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

import strawberry

from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import argument, told

__all__ = ["After", "Connection", "Edge", "First", "PageInfo", "page_of", "position_of", "size_of"]

T = TypeVar("T")

First = Annotated[int, argument("How many rows to answer with.")]
After = Annotated[str | None, argument("The cursor behind which to begin: `endCursor` of the page before.")]


@strawberry.type(description="Where a page lies among the rows.")
class PageInfo:
    """Where a page lies among the rows."""

    has_next_page: bool = told("Whether more rows follow.")
    has_previous_page: bool = told("Whether this page began behind a cursor.")
    start_cursor: str | None = told("The cursor of the first row.")
    end_cursor: str | None = told("The cursor of the last row: give it as `after` for the next page.")


@strawberry.type(description="A row of a page.")
class Edge(Generic[T]):
    """A row of a page."""

    cursor: str = told("The row's place.")
    node: T = told("The row.")


@strawberry.type(description="A page of rows.")
class Connection(Generic[T]):
    """A page of rows."""

    edges: list[Edge[T]] = told("The rows, each with its cursor.")
    page_info: PageInfo = told("Where the page lies.")


def size_of(info: LineageInfo, first: int) -> int:
    """Return the size of the page that is asked for.

    Raises:
        RefusedError: it is none, or more than the limit.
    """
    most = info.context.limits.page
    if first < 1:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"first is {first}; it must be at least 1")
    if first > most:
        raise RefusedError.over_limit("page", most, first, "ask for further pages with `after`")
    return first


def position_of(after: str | None, *shape: type) -> list[Any] | None:
    """Return what a cursor holds; None without one.

    Raises:
        RefusedError: it is no cursor of such rows.
    """
    if after is None:
        return None
    try:
        values = json.loads(base64.urlsafe_b64decode(after.encode()))
    except (ValueError, binascii.Error):
        values = None
    fits = isinstance(values, list) and len(values) == len(shape)
    if not fits or not all(type(value) is kind for value, kind in zip(values, shape, strict=True)):
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "after is no cursor of these rows", "give `endCursor` of a page")
    return list(values)


def page_of(
    rows: Sequence[T], first: int, after: str | None, position: Callable[[T], Sequence[object]]
) -> tuple[list[Edge[T]], PageInfo]:
    """Return a page, of rows that begin behind `after` and go on for at least one more than the page, if there is."""
    edges = [Edge(cursor=_cursor(position(row)), node=row) for row in rows[:first]]
    info = PageInfo(
        has_next_page=len(rows) > first,
        has_previous_page=after is not None,
        start_cursor=edges[0].cursor if edges else None,
        end_cursor=edges[-1].cursor if edges else None,
    )
    return edges, info


def _cursor(position: Sequence[object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(list(position)).encode()).decode()

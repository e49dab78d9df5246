"""Pages, as the Relay specification of connections has them.

A cursor holds the position of its row in the list's order, not a number: rows that come or go elsewhere shift nothing,
and a page begins at the right row even when the cursor's own row is gone. It also holds the list that it is of, so that
a cursor of another list is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Protocol, TypeVar

import strawberry
from graphql import IntValueNode, NullValueNode, VariableNode

from lineage.model.json_values import find_unstorable
from lineage.store.page_requests import PageRequest, Position
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, argument, described

__all__ = [
    "After",
    "Before",
    "Connection",
    "Edge",
    "First",
    "Last",
    "ListedRows",
    "Page",
    "PageArguments",
    "PageInfo",
    "StoredRows",
    "connection",
    "page_arguments",
    "read_page",
    "size_of",
]

S = TypeVar("S")
T = TypeVar("T")

First = Annotated[int, argument("How many rows to answer with.")]
After = Annotated[str | None, argument("The cursor behind which to begin: `endCursor` of the page before.")]
Last = Annotated[int | None, argument("How many rows to answer with, counted from the end; instead of `first`.")]
Before = Annotated[str | None, argument("The cursor before which to end: `startCursor` of the page behind.")]

_Known = bool | Callable[[], Awaitable[bool]]


@strawberry.type(description="Where a page lies among the rows.")
class PageInfo:
    """Where a page lies among the rows."""

    start_cursor: str | None = described("The cursor of the first row: give it as `before` for the page before.")
    end_cursor: str | None = described("The cursor of the last row: give it as `after` for the next page.")
    rows_behind: strawberry.Private[_Known]
    rows_before: strawberry.Private[_Known]

    @strawberry.field(description="Whether there are rows behind those of this page.")
    async def has_next_page(self) -> bool:
        """Return whether there are rows behind those of this page."""
        return self.rows_behind if isinstance(self.rows_behind, bool) else await self.rows_behind()

    @strawberry.field(description="Whether there are rows before those of this page.")
    async def has_previous_page(self) -> bool:
        """Return whether there are rows before those of this page."""
        return self.rows_before if isinstance(self.rows_before, bool) else await self.rows_before()


@strawberry.type(description="A row of a page.")
class Edge(Generic[T]):
    """A row of a page."""

    cursor: str = described("The row's place.")
    node: T = described("The row.")


@strawberry.type(description="A page of rows.")
class Connection(Generic[T]):
    """A page of rows."""

    edges: list[Edge[T]] = described("The rows, each with its cursor.")
    nodes: list[T] = described("The rows.")
    page_info: PageInfo = described("Where the page lies.")
    count: strawberry.Private[Callable[[], Awaitable[int]]]

    @strawberry.field(description="How many rows there are on all pages. They are counted when this is asked for.")
    async def total_count(self) -> Long:
        """Return how many rows there are on all pages."""
        return Long(await self.count())


@dataclass(frozen=True)
class PageArguments:
    """Which page is asked for, of which list."""

    name: str
    size: int
    after: Position | None
    before: Position | None
    backwards: bool

    def request(self, limit: int) -> PageRequest:
        """Return the request for so many rows, in the list's usual order."""
        return PageRequest(limit, after=self.after, before=self.before, backwards=self.backwards)

    def cursor(self, position: Position) -> str:
        """Return the cursor of the row at a position."""
        return base64.urlsafe_b64encode(json.dumps([self.name, *position]).encode()).decode()


@dataclass(frozen=True)
class Page(Generic[S]):
    """The rows of a page with their cursors, and where it lies."""

    rows: Sequence[S]
    cursors: Sequence[str]
    info: PageInfo


class PagedList(Protocol[S]):
    """An ordered list that is read by pages."""

    @property
    def position(self) -> Callable[[S], Position]:
        """What returns where a row stands."""

    @property
    def read(self) -> Callable[[PageRequest], Awaitable[Sequence[S]]]:
        """What returns the rows of a page, in order; `order` and `descending` are the list's own."""

    @property
    def count(self) -> Callable[[], Awaitable[int]]:
        """What returns how many rows there are."""


@dataclass(frozen=True)
class StoredRows(Generic[S]):
    """A list that the store reads by pages."""

    position: Callable[[S], Position]
    read: Callable[[PageRequest], Awaitable[Sequence[S]]]
    count: Callable[[], Awaitable[int]]


@dataclass(frozen=True)
class ListedRows(Generic[S]):
    """A list that is there as a whole, in the order of its positions."""

    rows: Sequence[S]
    position: Callable[[S], Position]

    async def read(self, page: PageRequest) -> Sequence[S]:
        """Return the rows of a page."""
        after, before = page.after, page.before
        found = [
            row
            for row in self.rows
            if (after is None or self.position(row) > after) and (before is None or self.position(row) < before)
        ]
        return found[-page.limit :] if page.backwards else found[: page.limit]

    async def count(self) -> int:
        """Return how many rows there are."""
        return len(self.rows)


def page_arguments(
    info: LineageInfo,
    name: str,
    shape: Sequence[type],
    first: int,
    after: str | None,
    last: int | None = None,
    before: str | None = None,
    *,
    scope: object = "",
) -> PageArguments:
    """Return which page of the list `name` is asked for; its positions have this shape.

    `scope` tells lists of one name apart, such as the columns of several tables.

    Raises:
        RefusedError: a size is none or more than the limit, a cursor is none of this list, or both sizes are given.
    """
    digest = hashlib.blake2b(repr(scope).encode(errors="surrogatepass"), digest_size=6).hexdigest() if scope else ""
    name = f"{name}:{digest}" if digest else name
    if last is not None and _is_given(info, "first"):
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "first and last are given", "give one of both")
    size = size_of(info, first) if last is None else size_of(info, last, "last")
    return PageArguments(
        name,
        size,
        _position("after", after, name, shape),
        _position("before", before, name, shape),
        backwards=last is not None,
    )


def size_of(info: LineageInfo, size: int, name: str = "first") -> int:
    """Return the size of the page that is asked for.

    Raises:
        RefusedError: it is none, or more than the limit.
    """
    most = info.context.limits.page
    if size < 1:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is {size}; it must be at least 1")
    if size > most:
        raise RefusedError.over_limit("page", most, size, "ask for further pages with `after`")
    return size


async def read_page(rows: PagedList[S], asked: PageArguments) -> Page[S]:
    """Return a page; whether there are rows around it is looked up when that is asked for."""
    found = list(await rows.read(asked.request(asked.size + 1)))
    more = len(found) > asked.size
    if more:
        found = found[1:] if asked.backwards else found[:-1]
    positions = [rows.position(row) for row in found]

    def look(after: Position | None, before: Position | None) -> Callable[[], Awaitable[bool]]:
        async def found_any() -> bool:
            return bool(await rows.read(PageRequest(1, after=after, before=before)))

        return found_any

    # Of an empty page, what does not lie behind `after` lies before the page, and so on.
    behind = look(positions[-1] if positions else asked.after, None)
    before = look(None, positions[0] if positions else asked.before)
    cursors = [asked.cursor(position) for position in positions]
    info = PageInfo(
        start_cursor=cursors[0] if cursors else None,
        end_cursor=cursors[-1] if cursors else None,
        rows_behind=_first_known(more and not asked.backwards, asked.before is not None, behind),
        rows_before=_first_known(more and asked.backwards, asked.after is not None, before),
    )
    return Page(found, cursors, info)


async def connection(rows: PagedList[S], asked: PageArguments, node: Callable[[S], T]) -> Connection[T]:
    """Return a page as the schema has it, `node` being what it has for a row."""
    page = await read_page(rows, asked)
    nodes = [node(row) for row in page.rows]
    edges = [Edge(cursor=cursor, node=one) for cursor, one in zip(page.cursors, nodes, strict=True)]
    return Connection(edges=edges, nodes=nodes, page_info=page.info, count=rows.count)


def _first_known(surely: bool, perhaps: bool, look: Callable[[], Awaitable[bool]]) -> _Known:
    return True if surely else look if perhaps else False


def _position(argument: str, cursor: str | None, name: str, shape: Sequence[type]) -> Position | None:
    """Return what a cursor holds; None without one."""
    if cursor is None:
        return None
    try:
        values = json.loads(base64.b64decode(cursor.encode(), b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        values = None
    named = (
        find_unstorable(values) is None
        and isinstance(values, list)
        and values[:1] == [name]
        and len(values) == len(shape) + 1
    )
    if named and all(type(value) is kind for value, kind in zip(values[1:], shape, strict=True)):
        return tuple(values[1:])
    hint = "give `endCursor` or `startCursor` of a page of the same list"
    raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{argument} is no cursor of these rows", hint)


def _is_given(info: LineageInfo, name: str) -> bool:
    """Return whether the query itself has an argument, beside its default value."""
    raw: Any = info._raw_info
    for given in raw.field_nodes[0].arguments:
        if given.name.value == name and isinstance(given.value, VariableNode):
            return raw.variable_values.get(given.value.name.value) is not None
        if given.name.value == name and not isinstance(given.value, NullValueNode):
            return isinstance(given.value, IntValueNode)
    return False

"""Connections of the Relay specification: pages, edges and cursors.

A cursor encodes the position of its row in the list's order, not an offset: rows added or removed elsewhere shift
nothing, and a page begins at the right row even if the cursor's row no longer exists. It also encodes which list it
belongs to, so that a cursor of another list is refused.
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

from lineage.model.text.json_values import find_unstorable
from lineage.store.page_requests import PageRequest, Position
from lineage_graphql.context import LineageInfo
from lineage_graphql.errors import ErrorCode, RefusedError
from lineage_graphql.schema.fields import Long, argument, doc_field

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
    "page_of",
    "read_page",
    "size_of",
]

S = TypeVar("S")
T = TypeVar("T")

First = Annotated[int, argument("Number of rows to return.")]
After = Annotated[str | None, argument("Return rows after this cursor: `endCursor` of the previous page.")]
Last = Annotated[int | None, argument("Number of rows to return, counted from the end; instead of `first`.")]
Before = Annotated[str | None, argument("Return rows before this cursor: `startCursor` of the next page.")]

_Known = bool | Callable[[], Awaitable[bool]]


@strawberry.type(description="Position of a page in its list.")
class PageInfo:
    """Position of a page in its list."""

    start_cursor: str | None = doc_field("Cursor of the first row: pass it as `before` for the previous page.")
    end_cursor: str | None = doc_field("Cursor of the last row: pass it as `after` for the next page.")
    rows_after: strawberry.Private[_Known]
    rows_before: strawberry.Private[_Known]

    @strawberry.field(description="Whether rows follow this page.")
    async def has_next_page(self) -> bool:
        """Return whether rows follow this page."""
        return self.rows_after if isinstance(self.rows_after, bool) else await self.rows_after()

    @strawberry.field(description="Whether rows precede this page.")
    async def has_previous_page(self) -> bool:
        """Return whether rows precede this page."""
        return self.rows_before if isinstance(self.rows_before, bool) else await self.rows_before()


@strawberry.type(description="A row of a page.")
class Edge(Generic[T]):
    """A row of a page."""

    cursor: str = doc_field("Cursor of the row.")
    node: T = doc_field("The row.")


@strawberry.type(description="A page of rows.")
class Connection(Generic[T]):
    """A page of rows."""

    edges: list[Edge[T]] = doc_field("Rows with their cursors.")
    nodes: list[T] = doc_field("Rows.")
    page_info: PageInfo = doc_field("Position of the page.")
    count: strawberry.Private[Callable[[], Awaitable[int]]]

    @strawberry.field(description="Number of rows of the whole list. It is counted only when this field is selected.")
    async def total_count(self) -> Long:
        """Return the number of rows of the whole list."""
        return Long(await self.count())


@dataclass(frozen=True)
class PageArguments:
    """The requested page of a list."""

    name: str
    size: int
    after: Position | None
    before: Position | None
    backwards: bool

    def request(self, limit: int) -> PageRequest:
        """Return the request for up to `limit` rows, in the list's default order."""
        return PageRequest(limit, after=self.after, before=self.before, backwards=self.backwards)

    def cursor(self, position: Position) -> str:
        """Return the cursor of the row at a position."""
        return base64.urlsafe_b64encode(json.dumps([self.name, *position]).encode()).decode()


@dataclass(frozen=True)
class Page(Generic[S]):
    """The rows of a page with their cursors, and its position."""

    rows: Sequence[S]
    cursors: Sequence[str]
    info: PageInfo

    def fields(self, node_of: Callable[[S], T]) -> dict[str, Any]:
        """Return the fields that Relay's specification gives a connection: `edges`, `nodes` and `page_info`."""
        nodes = [node_of(row) for row in self.rows]
        edges = [Edge(cursor=cursor, node=node) for cursor, node in zip(self.cursors, nodes, strict=True)]
        return {"edges": edges, "nodes": nodes, "page_info": self.info}


class PagedList(Protocol[S]):
    """An ordered list that is read by pages."""

    @property
    def position(self) -> Callable[[S], Position]:
        """A function that returns the position of a row."""

    @property
    def read(self) -> Callable[[PageRequest], Awaitable[Sequence[S]]]:
        """A function that returns the rows of a page, in order; the list decides `order` and `descending`."""

    @property
    def count(self) -> Callable[[], Awaitable[int]]:
        """A function that returns the number of rows."""


@dataclass(frozen=True)
class StoredRows(Generic[S]):
    """A list of which the store reads pages."""

    position: Callable[[S], Position]
    read: Callable[[PageRequest], Awaitable[Sequence[S]]]
    count: Callable[[], Awaitable[int]]


@dataclass(frozen=True)
class ListedRows(Generic[S]):
    """A list in memory, ordered by position."""

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
        """Return the number of rows."""
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
    """Return the requested page of the list `name`; `shape` is the types of a position's values.

    `scope` distinguishes lists of one name, such as the columns of several tables.

    Raises:
        RefusedError: a size is below 1 or above the limit, a cursor belongs to another list, or both sizes are given.
    """
    digest = hashlib.blake2b(repr(scope).encode(errors="surrogatepass"), digest_size=6).hexdigest() if scope else ""
    name = f"{name}:{digest}" if digest else name
    if last is not None and _is_given(info, "first"):
        raise RefusedError(ErrorCode.BAD_ARGUMENT, "first and last are mutually exclusive", "give one of them")
    size = size_of(info, first) if last is None else size_of(info, last, "last")
    return PageArguments(
        name,
        size,
        _position("after", after, name, shape),
        _position("before", before, name, shape),
        backwards=last is not None,
    )


def size_of(info: LineageInfo, size: int, name: str = "first") -> int:
    """Return the size of the requested page.

    Raises:
        RefusedError: it is below 1, or above the limit.
    """
    most = info.context.limits.page
    if size < 1:
        raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{name} is {size}; it must be at least 1")
    if size > most:
        raise RefusedError.over_limit("page", most, size, "request further pages with `after`")
    return size


async def read_page(rows: PagedList[S], asked: PageArguments) -> Page[S]:
    """Return a page; whether rows precede or follow it is looked up only when that is selected."""
    page_rows = list(await rows.read(asked.request(asked.size + 1)))
    more = len(page_rows) > asked.size
    if more:
        page_rows = page_rows[1:] if asked.backwards else page_rows[:-1]
    positions = [rows.position(row) for row in page_rows]

    def look(after: Position | None, before: Position | None) -> Callable[[], Awaitable[bool]]:
        async def found_any() -> bool:
            return bool(await rows.read(PageRequest(1, after=after, before=before)))

        return found_any

    # For an empty page, the rows up to `after` come before the page, and the rows from `before` on come after it.
    after = look(positions[-1] if positions else asked.after, None)
    before = look(None, positions[0] if positions else asked.before)
    return page_of(
        asked,
        page_rows,
        positions,
        rows_after=_first_known(more and not asked.backwards, asked.before is not None, after),
        rows_before=_first_known(more and asked.backwards, asked.after is not None, before),
    )


def page_of(
    asked: PageArguments, rows: Sequence[S], positions: Sequence[Position], *, rows_after: _Known, rows_before: _Known
) -> Page[S]:
    """Return a page of these rows, which have these positions."""
    cursors = [asked.cursor(position) for position in positions]
    start, end = (cursors[0], cursors[-1]) if cursors else (None, None)
    info = PageInfo(start_cursor=start, end_cursor=end, rows_after=rows_after, rows_before=rows_before)
    return Page(rows, cursors, info)


async def connection(rows: PagedList[S], asked: PageArguments, node: Callable[[S], T]) -> Connection[T]:
    """Return a page as a connection; `node` returns the GraphQL object of a row."""
    page = await read_page(rows, asked)
    return Connection(**page.fields(node), count=rows.count)


def _first_known(surely: bool, perhaps: bool, look: Callable[[], Awaitable[bool]]) -> _Known:
    return True if surely else look if perhaps else False


def _position(argument: str, cursor: str | None, name: str, shape: Sequence[type]) -> Position | None:
    """Return the position that a cursor encodes; None without a cursor."""
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
    hint = "pass `endCursor` or `startCursor` of a page of the same list"
    raise RefusedError(ErrorCode.BAD_ARGUMENT, f"{argument} is not a cursor of this list", hint)


def _is_given(info: LineageInfo, name: str) -> bool:
    """Return whether the query gives an argument, rather than using its default."""
    raw: Any = info._raw_info
    for given in raw.field_nodes[0].arguments:
        if given.name.value == name and isinstance(given.value, VariableNode):
            return raw.variable_values.get(given.value.name.value) is not None
        if given.name.value == name and not isinstance(given.value, NullValueNode):
            return isinstance(given.value, IntValueNode)
    return False

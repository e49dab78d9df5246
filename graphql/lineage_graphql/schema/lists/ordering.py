"""Sort orders of lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import strawberry

from lineage.store.graph.reading.pages import position_in
from lineage.store.page_requests import Order, PageRequest
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredDataset, StoredJob, StoredRun
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import doc_field
from lineage_graphql.schema.paging import StoredRows

__all__ = [
    "JobOrder",
    "JobOrderField",
    "ListOrder",
    "OrderDirection",
    "RunOrder",
    "RunOrderField",
    "TableOrder",
    "TableOrderField",
    "order_of",
]

S = TypeVar("S", StoredDataset, StoredJob, StoredRun)


@strawberry.enum(description="Sort direction.")
class OrderDirection(StrEnum):
    """Sort direction."""

    ASC = "ASC"
    DESC = "DESC"


@strawberry.enum(description="Sort keys of tables.")
class TableOrderField(StrEnum):
    """Sort keys of tables."""

    KEY = "key"
    NAME = "name"
    FIRST_SEEN = "first_seen"
    LAST_SEEN = "last_seen"


@strawberry.enum(description="Sort keys of jobs.")
class JobOrderField(StrEnum):
    """Sort keys of jobs."""

    KEY = "key"
    FIRST_SEEN = "first_seen"
    LAST_SEEN = "last_seen"


@strawberry.enum(description="Sort keys of runs.")
class RunOrderField(StrEnum):
    """Sort keys of runs."""

    KEY = "key"
    AT = "at"
    LAST_SEEN = "last_seen"


@strawberry.input(description="Sort order of a list of tables.")
class TableOrder:
    """Sort order of a list of tables."""

    field: TableOrderField = doc_field("Sort key; ties are ordered by key.")
    direction: OrderDirection = doc_field("Sort direction.", default=OrderDirection.ASC)


@strawberry.input(description="Sort order of a list of jobs.")
class JobOrder:
    """Sort order of a list of jobs."""

    field: JobOrderField = doc_field("Sort key; ties are ordered by key.")
    direction: OrderDirection = doc_field("Sort direction.", default=OrderDirection.ASC)


@strawberry.input(description="Sort order of a list of runs.")
class RunOrder:
    """Sort order of a list of runs."""

    field: RunOrderField = doc_field("Sort key; ties are ordered by key.")
    direction: OrderDirection = doc_field("Sort direction.", default=OrderDirection.ASC)


@dataclass(frozen=True)
class ListOrder:
    """An order, with the types of its cursors' values."""

    order: Order
    descending: bool

    @property
    def shape(self) -> Sequence[type]:
        """The types of the values of a position."""
        match self.order:
            case Order.KEY:
                return (str,)
            case Order.NAME:
                return (str, str)
            case _:
                return (int, str)

    def rows(
        self,
        info: LineageInfo,
        read: Callable[[GraphStore, PageRequest], Sequence[S]],
        count: Callable[[GraphStore], int],
    ) -> StoredRows[S]:
        """Return a list in this order, read from the store."""

        async def read_page(page: PageRequest) -> Sequence[S]:
            wanted = replace(page, order=self.order, descending=self.descending)
            found: Sequence[S] = await info.context.ask(lambda store: read(store, wanted))
            return found

        async def count_all() -> int:
            found: int = await info.context.ask(count)
            return found

        return StoredRows(lambda row: position_in(self.order, row), read_page, count_all)


def order_of(chosen: TableOrder | JobOrder | RunOrder | None) -> ListOrder:
    """Return the chosen order; by key if none was chosen."""
    if chosen is None:
        return ListOrder(Order.KEY, descending=False)
    return ListOrder(Order(str(chosen.field)), chosen.direction is OrderDirection.DESC)

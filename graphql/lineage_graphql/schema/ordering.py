"""Orders that a caller can choose for a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import strawberry

from lineage.store.cypher.pages import position_in
from lineage.store.page_requests import Order, PageRequest
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredDataset, StoredJob, StoredRun
from lineage_graphql.context import LineageInfo
from lineage_graphql.schema.fields import described
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


@strawberry.enum(description="Which way a list is ordered.")
class OrderDirection(StrEnum):
    """Which way a list is ordered."""

    ASC = "ASC"
    DESC = "DESC"


@strawberry.enum(description="What tables are ordered by.")
class TableOrderField(StrEnum):
    """What tables are ordered by."""

    KEY = "key"
    NAME = "name"
    FIRST_SEEN = "first_seen"
    LAST_SEEN = "last_seen"


@strawberry.enum(description="What jobs are ordered by.")
class JobOrderField(StrEnum):
    """What jobs are ordered by."""

    KEY = "key"
    FIRST_SEEN = "first_seen"
    LAST_SEEN = "last_seen"


@strawberry.enum(description="What runs are ordered by.")
class RunOrderField(StrEnum):
    """What runs are ordered by."""

    KEY = "key"
    AT = "at"
    LAST_SEEN = "last_seen"


@strawberry.input(description="The order of a list of tables.")
class TableOrder:
    """The order of a list of tables."""

    field: TableOrderField = described("What they are ordered by; those that are equal in it, by key.")
    direction: OrderDirection = described("Which way.", default=OrderDirection.ASC)


@strawberry.input(description="The order of a list of jobs.")
class JobOrder:
    """The order of a list of jobs."""

    field: JobOrderField = described("What they are ordered by; those that are equal in it, by key.")
    direction: OrderDirection = described("Which way.", default=OrderDirection.ASC)


@strawberry.input(description="The order of a list of runs.")
class RunOrder:
    """The order of a list of runs."""

    field: RunOrderField = described("What they are ordered by; those that are equal in it, by key.")
    direction: OrderDirection = described("Which way.", default=OrderDirection.ASC)


@dataclass(frozen=True)
class ListOrder:
    """An order, with what cursors hold in it."""

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
        """Return a list in this order, which is read of the store."""

        async def read_page(page: PageRequest) -> Sequence[S]:
            wanted = replace(page, order=self.order, descending=self.descending)
            found: Sequence[S] = await info.context.ask(lambda store: read(store, wanted))
            return found

        async def count_all() -> int:
            found: int = await info.context.ask(count)
            return found

        return StoredRows(lambda row: position_in(self.order, row), read_page, count_all)


def order_of(chosen: TableOrder | JobOrder | RunOrder | None) -> ListOrder:
    """Return the order that was chosen; by key, without one."""
    if chosen is None:
        return ListOrder(Order.KEY, descending=False)
    return ListOrder(Order(str(chosen.field)), chosen.direction is OrderDirection.DESC)

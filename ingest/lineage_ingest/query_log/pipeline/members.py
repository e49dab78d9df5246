"""The members of units that are not templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from lineage_ingest.query_log.pipeline.versions.versions import Bindings

__all__ = ["MEMBERS_TYPE", "Member"]


class Member(NamedTuple):
    """A template within a session block, its defaults, and the tables that its names refer to."""

    template: int
    database: str | None
    schema: str | None
    search_path: tuple[str, ...] = ()
    bound: Bindings | None = None
    left_open: bool = False
    """Whether it is of a transaction that is still open where the log of its session ends."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Member:
        """Return the member in a value of `MEMBERS_TYPE`."""
        bound = None
        if any(row[name] for name in Bindings._fields):
            bound = Bindings(*(tuple((one["old"], one["new"]) for one in row[name]) for name in Bindings._fields))
        return cls(row["template"], row["database"], row["schema"], tuple(row["search_path"]), bound, row["left_open"])

    def row(self) -> dict[str, Any]:
        """Return the member as a value of `MEMBERS_TYPE`."""
        pairs = {
            name: [{"old": old, "new": new} for old, new in listed]
            for name, listed in zip(Bindings._fields, self.bound or Bindings(), strict=True)
        }
        own = {"template": self.template, "database": self.database, "schema": self.schema}
        return {**own, "search_path": list(self.search_path), "left_open": self.left_open, **pairs}

    def identity(self) -> tuple[object, ...]:
        """Return the values that identify the member."""
        if self.left_open:
            return tuple(self)
        if self.bound is not None:
            return tuple(self[:5])
        return tuple(self[:4]) if self.search_path else tuple(self[:3])


_PAIRS = pa.list_(pa.struct([("old", pa.string()), ("new", pa.string())]))
MEMBERS_TYPE = pa.list_(
    pa.struct(
        [
            ("template", pa.int64()),
            ("database", pa.string()),
            ("schema", pa.string()),
            ("search_path", pa.list_(pa.string())),
            ("left_open", pa.bool_()),
            ("versions", _PAIRS),
            ("remade", _PAIRS),
            ("idle", _PAIRS),
        ]
    )
)
"""A unit's members, as Arrow data."""

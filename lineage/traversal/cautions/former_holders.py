"""Tables that had a name before the table that has it now: what used the name then is found under theirs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from lineage.frozen import frozen
from lineage.store.values import NameHolder
from lineage.traversal.lineage_reader import LineageReader
from lineage.traversal.target import Target

__all__ = ["FormerHolder", "former_holders"]


@frozen
class FormerHolder:
    """A table that had the name of `start` until a rename or swap; of a column, its column of that name, if any.

    `start` and `key` are keys; `name` is the full display name that the table or column has now.
    """

    start: str
    key: str
    name: str
    until: datetime

    @property
    def until_text(self) -> str:
        """The time of the rename or swap, for people."""
        return f"{self.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def former_holders(
    store: LineageReader, targets: Iterable[Target], as_of: datetime | None = None
) -> list[FormerHolder]:
    """Return the tables that had the names of these before them, by target and time; those that are dropped are not.

    With `as_of`, they are those that had it up to then, and the one that had it then; they existed at that time.

    Raises:
        StoreError: the store could not be read.
    """
    asked = list(targets)
    if not asked:
        return []
    held = store.name_holders({one.dataset for one in asked})
    latest = {key: _latest(holders, as_of) for key, holders in held.items()}
    keys = sorted({holder for holders in latest.values() for holder in holders})
    tables = {one.key: one for one in store.datasets(keys)} if keys else {}
    there = {key: one for key, one in tables.items() if one.dropped_at is None or (as_of and as_of < one.dropped_at)}
    with_columns = {key for one in asked if not one.is_table for key in latest[one.dataset] if key in there}
    columns = {}
    for column in store.columns(sorted(with_columns), dropped=True) if with_columns else ():
        for path in (*column.aliases, column.path):
            columns[column.dataset, path] = column
    earlier_holders: list[FormerHolder] = []
    for target in asked:
        for key, until in latest[target.dataset].items():
            if key in there:
                name, own = there[key].display_name, columns.get((key, target.column or ""))
                if own is not None:
                    earlier_holders.append(FormerHolder(target.key, own.key, f"{name}.{own.display_path}", until))
                else:
                    earlier_holders.append(FormerHolder(target.key, key, name, until))
    return earlier_holders


def _latest(holders: Iterable[NameHolder], as_of: datetime | None) -> dict[str, datetime]:
    """Return until when each of these had the name last, in order of time; they are sorted by it."""
    latest: dict[str, datetime] = {}
    for holder in holders:
        latest.pop(holder.key, None)
        latest[holder.key] = holder.until
        if as_of is not None and as_of < holder.until:
            break
    return latest

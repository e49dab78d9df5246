"""Columns with the names of their tags among those that `describe` sets: one list for people who look at a column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn

__all__ = ["with_tag_names"]

_ANY = "pii"


def with_tag_names(store: GraphStore, columns: Iterable[StoredColumn]) -> list[StoredColumn]:
    """Return the columns with the names of all tags, but for those that someone denies; a denied `pii` denies all.

    Raises:
        StoreError: the store could not be read.
    """
    listed = list(columns)
    stated: defaultdict[str, set[str]] = defaultdict(set)
    denied: defaultdict[str, set[str]] = defaultdict(set)
    for tag in store.tags([one.key for one in listed]) if listed else ():
        (denied if tag.denied else stated)[tag.column].add(tag.name)
    found = []
    for column in listed:
        names = set() if _ANY in denied[column.key] else stated[column.key] - denied[column.key]
        found.append(replace(column, tags=tuple(sorted({*column.tags, *names}))) if names else column)
    return found

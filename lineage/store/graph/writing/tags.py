"""Tags of columns: each is added, replaced or removed on its own, so that two people never undo each other's work."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import column_from, tag_from, tag_key, tag_node
from lineage.store.graph.schema import Changes
from lineage.store.graph.statements import query
from lineage.store.values import StoredColumn, StoredTag, TagName

__all__ = ["change_tags", "tagged_columns", "tags"]


def tags(transaction: Transaction, columns: Collection[str] | None = None) -> list[StoredTag]:
    """Return the tags of these columns (by key), or all tags, sorted."""
    if columns is None:
        rows = transaction.read(query("all_tags"), [{}])
    else:
        rows = transaction.read(query("tags_of"), [{"key": key} for key in sorted(set(columns))])
    return sorted(tag_from(row["n"]) for row in rows)


def tagged_columns(transaction: Transaction) -> list[StoredColumn]:
    """Return the columns with tags that `describe` set or that sources state, sorted by key."""
    return sorted((column_from(row["n"]) for row in transaction.read(query("tagged_columns"), [{}])), key=_key)


def change_tags(
    transaction: Transaction, added: Collection[StoredTag] = (), removed: Collection[TagName] = ()
) -> tuple[int, int]:
    """Add tags and remove others; return how many tags are new or say something else, and how many are gone.

    A tag that says what is stored already keeps its time and its author. One that is both added and removed is added.
    """
    wanted = {one.identity: one for one in added}
    gone = {TagName(*one) for one in removed} - wanted.keys()
    known = {one.identity: one for one in _stored(transaction, [*wanted, *gone])}
    changed = [one for name, one in wanted.items() if name not in known or not _says_the_same(one, known[name])]
    removed_nodes = tuple(tag_node(known[name]) for name in sorted(gone & known.keys()))
    created = tuple(tag_node(one) for one in changed if one.identity not in known)
    updated = tuple(tag_node(one) for one in changed if one.identity in known)
    if changed or removed_nodes:
        transaction.write(Changes(deleted_nodes=removed_nodes, created_nodes=created, updated_nodes=updated))
    return len(changed), len(removed_nodes)


def _stored(transaction: Transaction, names: Iterable[TagName]) -> list[StoredTag]:
    rows = transaction.read(query("tags_by_key"), [{"key": tag_key(name)} for name in names])
    return [tag_from(row["n"]) for row in rows]


def _key(column: StoredColumn) -> str:
    return column.key


def _says_the_same(tag: StoredTag, other: StoredTag) -> bool:
    return tag == replace(other, at=tag.at, stated_by=tag.stated_by)

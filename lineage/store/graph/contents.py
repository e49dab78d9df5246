"""What a store holds, as numbers and an order-free fingerprint: recorded with each commit, counted by `verify`.

The fingerprint is the sum of the hashes of all keys and edges, modulo 2**62, so that a writer adds what it creates and
subtracts what it deletes, and two stores with the same lineage have the same one, whatever their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from lineage.model.names import is_column_key
from lineage.store.graph.backend import Transaction
from lineage.store.graph.schema import LABELS, LINEAGE, Changes, Node, Relationship
from lineage.store.graph.statements import query
from lineage.store.planning.graph_state import EdgeType

__all__ = [
    "COUNTED",
    "Contents",
    "contents_of",
    "count_contents",
    "differences",
    "edges_held",
    "holds_anything",
    "key_pages",
    "recorded_contents",
]

COUNTED = {"Table": "tables", "Column": "columns", "Job": "jobs"}
"""The labels that are counted, by the field that counts them."""
_LIVE = frozenset(map(str, EdgeType))
_MODULUS = 2**62
_KEYS_AT_ONCE = 2_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Contents(NamedTuple):
    """Numbers of nodes and edges, and the fingerprint of their keys.

    `edges` are the live ones between columns and from a column to a table, as an ingest counts them; `table_edges` come
    from tables (FEEDS, and REFERENCES from a table); `ended_edges` are those of both kinds that no longer hold.
    """

    tables: int = 0
    columns: int = 0
    jobs: int = 0
    edges: int = 0
    table_edges: int = 0
    ended_edges: int = 0
    fingerprint: int = 0

    def plus(self, other: Contents) -> Contents:
        """Return the sum."""
        sums = Contents(*(one + also for one, also in zip(self, other, strict=True)))
        return sums._replace(fingerprint=sums.fingerprint % _MODULUS)

    def minus(self, other: Contents) -> Contents:
        """Return the difference; its numbers may be negative, its fingerprint is not."""
        left = Contents(*(one - also for one, also in zip(self, other, strict=True)))
        return left._replace(fingerprint=left.fingerprint % _MODULUS)


def contents_of(changes: Changes) -> Contents:
    """Return by how much changes change the contents, without the edges that are deleted with their nodes."""
    added = _of_nodes(changes.created_nodes).plus(_of_relationships(changes.created_relationships))
    if not changes.deleted_nodes and not changes.deleted_relationships:
        return added
    return added.minus(_of_nodes(changes.deleted_nodes)).minus(_of_relationships(changes.deleted_relationships))


def edges_held(rows: Iterable[dict[str, Any]]) -> Contents:
    """Return the contents of edges that a statement has found, each once: `kind`, both ends, job and period."""
    edges = {(row["kind"], row["source"], row["target"], row["job"], row["period"]) for row in rows}
    live = [source for kind, source, *_ in edges if kind in _LIVE]
    return _edges(sum(map(is_column_key, live)), len(live), len(edges), sum(_hash(*edge) for edge in edges))


def recorded_contents(transaction: Transaction) -> Contents:
    """Return what the writers of the store have recorded."""
    [row] = transaction.read(query("contents"), [{}])
    fingerprint = sum(row.pop("fingerprints") or ()) % _MODULUS
    return Contents(**{name: number or 0 for name, number in row.items()}, fingerprint=fingerprint)


def holds_anything(transaction: Transaction) -> bool:
    """Return whether there is any node besides those that the program keeps for itself."""
    return any(transaction.read(query("keys_after", label=(of,)), [{"after": "", "limit": 1}]) for of in LABELS)


def count_contents(
    transaction: Transaction, progress: Callable[[str, int, int | None], None]
) -> tuple[Contents, Contents]:
    """Return what the store holds, counted page by page, and what is recorded; `progress` gets what is counted."""
    found = Contents()
    for label, field in COUNTED.items():
        number, total = 0, Contents()
        for after, keys in key_pages(transaction, label):
            number += len(keys)
            total = total.plus(Contents(fingerprint=sum(_hash(label, key) for key in keys)))
            if label != "Job":
                span = {"after": after, "until": keys[-1], "is_table": label == "Table"}
                total = total.plus(edges_held(transaction.read(query("edges_between", label=(label,)), [span])))
            progress(f"counting {field}", number, None)
        found = found.plus(total._replace(**{field: number}))
    return found, recorded_contents(transaction)


def key_pages(transaction: Transaction, label: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the keys of a label in order, some thousands at a time, each with the key before it."""
    after = ""
    while rows := transaction.read(query("keys_after", label=(label,)), [{"after": after, "limit": _KEYS_AT_ONCE}]):
        keys = [row["key"] for row in rows]
        yield after, keys
        after = keys[-1]


def differences(recorded: Contents, counted: Contents) -> list[str]:
    """Return what is not as it was recorded, a line each.

    >>> differences(Contents(2, 5, 1, 3), Contents(2, 4, 1, 3, fingerprint=8))
    ['4 columns, where 5 were recorded', 'other keys than were recorded']
    """
    *numbers, _ = Contents._fields
    found = [
        f"{getattr(counted, name):,} {name.replace('_', ' ')}, where {getattr(recorded, name):,} were recorded"
        for name in numbers
        if getattr(counted, name) != getattr(recorded, name)
    ]
    return found + ["other keys than were recorded"] * (counted.fingerprint != recorded.fingerprint)


def _of_nodes(nodes: Sequence[Node]) -> Contents:
    counted = [(node.label, node.key) for node in nodes if node.label in COUNTED]
    numbers = dict.fromkeys(COUNTED.values(), 0)
    for label, _ in counted:
        numbers[COUNTED[label]] += 1
    return Contents(**numbers, fingerprint=sum(_hash(*node) for node in counted) % _MODULUS)


def _of_relationships(relationships: Sequence[Relationship]) -> Contents:
    of_columns = live = number = fingerprint = 0
    for relationship in relationships:
        if relationship.type in LINEAGE:
            is_live = relationship.type in _LIVE
            period = 0 if is_live else (relationship.properties["valid_from"] - _EPOCH) // _MICROSECOND
            number, live = number + 1, live + is_live
            of_columns += is_live and relationship.source_label == "Column"
            fingerprint += _hash(
                relationship.type, relationship.source, relationship.target, relationship.properties["job"], period
            )
    return _edges(of_columns, live, number, fingerprint)


def _edges(of_columns: int, live: int, number: int, fingerprint: int) -> Contents:
    return Contents(
        edges=of_columns,
        table_edges=live - of_columns,
        ended_edges=number - live,
        fingerprint=fingerprint % _MODULUS,
    )


def _hash(*parts: object) -> int:
    return int.from_bytes(blake2b("\n".join(map(str, parts)).encode(), digest_size=8).digest(), "big") % _MODULUS

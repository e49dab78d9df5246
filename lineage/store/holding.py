"""What is held until something has ended: texts by owner, each kept in pieces that a row can hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from lineage.store.backend import Transaction
from lineage.store.graph import Changes, Node
from lineage.store.protocol import HeldText
from lineage.store.queries import query

__all__ = ["PIECE", "drop_held", "held", "hold"]

PIECE = 60_000
"""Characters of a row's text. ladybug takes 262,144 bytes, and a character has up to four in UTF-8."""


def hold(transaction: Transaction, texts: Iterable[HeldText], release: Collection[str]) -> None:
    """Write the texts, and let go of those with the keys `release`. A text that is there as it is stays untouched."""
    wanted = {text.key: text for text in texts}
    owners = {text.owner for text in wanted.values()}
    rows = _rows(transaction, owners) + _released(transaction, release, owners)
    there = {row["key"]: row for row in rows}
    pieces = {node.key: node for text in wanted.values() for node in _pieces(text)}
    gone = (key for key in there if key not in pieces and (_whole(key) in wanted or _whole(key) in release))
    transaction.write(
        Changes(
            deleted_nodes=tuple(Node("Held", key, {}) for key in gone),
            created_nodes=tuple(node for key, node in pieces.items() if key not in there),
            updated_nodes=tuple(
                node for key, node in pieces.items() if key in there and _differs(there[key], node.properties)
            ),
        )
    )


def held(transaction: Transaction, owners: Collection[str]) -> list[HeldText]:
    """Return what is held of these owners, sorted by key."""
    parts: dict[str, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    for row in _rows(transaction, owners):
        parts[_whole(row["key"])].append((int(row["key"].rpartition("~")[2]), row))
    found = []
    for key, rows in sorted(parts.items()):
        first = rows[0][1]
        text = "".join(row["text"] for _, row in sorted(rows, key=lambda part: part[0]))
        found.append(HeldText(key, first["owner"], text, first["finished"], first["held_at"]))
    return found


def drop_held(transaction: Transaction, open_before: datetime, finished_before: datetime) -> int:
    """Let go of what was held before: of owners that have not ended, and of those that have. Return how many."""
    rows = transaction.read(query("held_before"), [{"held_at": open_before}])
    rows += transaction.read(query("finished_held_before"), [{"held_at": finished_before}])
    keys = sorted({row["key"] for row in rows})
    transaction.write(Changes(deleted_nodes=tuple(Node("Held", key, {}) for key in keys)))
    return len({_whole(key) for key in keys})


def _rows(transaction: Transaction, owners: Collection[str]) -> list[dict[str, Any]]:
    if not owners:
        return []
    return [row["n"] for row in transaction.read(query("held_of_owners"), [{"owners": sorted(owners)}])]


def _released(transaction: Transaction, release: Collection[str], known: Collection[str]) -> list[dict[str, Any]]:
    """Return the rows to let go of whose owners were not read."""
    others = {owner for key in release if (owner := key.partition("~")[0]) not in known}
    return _rows(transaction, others)


def _pieces(text: HeldText) -> Iterable[Node]:
    for number, start in enumerate(range(0, max(len(text.text), 1), PIECE)):
        piece = text.text[start : start + PIECE]
        properties = {"owner": text.owner, "text": piece, "finished": text.finished, "held_at": text.held_at}
        yield Node("Held", f"{text.key}~{number}", properties)


def _whole(key: str) -> str:
    return key.rpartition("~")[0]


def _differs(row: dict[str, Any], properties: dict[str, Any]) -> bool:
    return any(row.get(name) != properties[name] for name in ("owner", "text", "finished"))

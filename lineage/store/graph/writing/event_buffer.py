"""The event buffer: texts of unfinished runs by owner, in pieces that fit into a row.

Each owner has a node that lists its pieces, so that everything is found by key: the embedded store has no other index,
and every event looks up its run. Writers lock the graph, so no list loses the additions of another writer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from lineage.store.graph.backend import Transaction
from lineage.store.graph.schema import Changes, Node
from lineage.store.graph.statements import query
from lineage.store.values import BufferedText

__all__ = ["PIECE", "drop_buffered_texts", "buffered_texts", "buffer_texts"]

PIECE = 60_000
"""Maximum characters of a row's text."""

_Rows = dict[str, dict[str, Any]]


def buffer_texts(
    transaction: Transaction, texts: Iterable[BufferedText], release: Collection[str]
) -> tuple[Changes, list[str]]:
    """Return the changes that buffer texts and delete those with the keys `release`, and the keys then buffered.

    The keys are those of all texts of the same owners, sorted. Unchanged texts are not written again.
    """
    wanted = {text.key: text for text in texts}
    pieces = {node.key: node for text in wanted.values() for node in _pieces(text)}
    replaced = wanted.keys() | set(release)
    heads = _read(transaction, {key.partition("~")[0] for key in replaced})
    listed = {owner: set(head["parts"]) for owner, head in heads.items()}
    there = _read(transaction, [piece for parts in listed.values() for piece in parts if piece in pieces])
    after = {owner: {piece for piece in parts if _text_of(piece) not in replaced} for owner, parts in listed.items()}
    for node in pieces.values():
        after.setdefault(node.properties["owner"], set()).add(node.key)
    gone = [piece for owner, parts in listed.items() for piece in parts - after[owner]]
    created = [node for key, node in pieces.items() if key not in there]
    updated = [node for key, node in pieces.items() if key in there and _differs(there[key], node.properties)]
    changes = _changes(listed, after, created, updated, gone)
    return changes, sorted({_text_of(piece) for parts in after.values() for piece in parts})


def buffered_texts(transaction: Transaction, owners: Collection[str]) -> list[BufferedText]:
    """Return the buffered texts of these owners, sorted by key."""
    heads = _read(transaction, owners)
    pieces = _read(transaction, [piece for head in heads.values() for piece in head["parts"]])
    parts: dict[str, list[tuple[int, dict[str, Any]]]] = defaultdict(list)
    for key, row in pieces.items():
        parts[_text_of(key)].append((int(key.rpartition("~")[2]), row))
    found = []
    for key, rows in sorted(parts.items()):
        rows.sort(key=lambda part: part[0])
        first = rows[0][1]
        text = "".join(row["text"] for _, row in rows)
        found.append(BufferedText(key, first["owner"], text, first["finished"], first["buffered_at"]))
    return found


def drop_buffered_texts(transaction: Transaction, open_before: datetime, finished_before: datetime) -> int:
    """Delete the texts of open and of finished owners buffered before these times; return how many."""
    rows = transaction.read(query("texts_buffered_before"), [{"buffered_at": open_before}])
    rows += transaction.read(query("finished_texts_buffered_before"), [{"buffered_at": finished_before}])
    gone = {row["key"] for row in rows}
    heads = _read(transaction, {piece.partition("~")[0] for piece in gone})
    listed = {owner: set(head["parts"]) for owner, head in heads.items()}
    after = {owner: parts - gone for owner, parts in listed.items()}
    transaction.write(_changes(listed, after, [], [], sorted(gone)))
    return len({_text_of(piece) for piece in gone})


def _changes(
    before: Mapping[str, set[str]],
    after: Mapping[str, set[str]],
    created: list[Node],
    updated: list[Node],
    gone: list[str],
) -> Changes:
    """Return the changes of pieces, and of the lists of owners whose pieces changed."""
    empty = [owner for owner, parts in after.items() if not parts]
    heads = {owner: _head(owner, parts) for owner, parts in after.items() if parts and parts != before.get(owner)}
    return Changes(
        deleted_nodes=tuple(Node("BufferedText", key, {}) for key in (*gone, *(one for one in empty if one in before))),
        created_nodes=(*created, *(head for owner, head in heads.items() if owner not in before)),
        updated_nodes=(
            *updated,
            *(replace(head, changed=("parts",)) for owner, head in heads.items() if owner in before),
        ),
    )


def _read(transaction: Transaction, keys: Iterable[str]) -> _Rows:
    rows = transaction.read(query("buffered_texts_by_key"), [{"key": key} for key in sorted(keys)])
    return {row["n"]["key"]: row["n"] for row in rows}


def _head(owner: str, parts: set[str]) -> Node:
    return Node(
        "BufferedText",
        owner,
        {"owner": owner, "text": None, "parts": sorted(parts), "finished": None, "buffered_at": None},
    )


def _pieces(text: BufferedText) -> Iterable[Node]:
    for number, start in enumerate(range(0, max(len(text.text), 1), PIECE)):
        piece = text.text[start : start + PIECE]
        properties = {"owner": text.owner, "text": piece, "finished": text.finished, "buffered_at": text.buffered_at}
        yield Node("BufferedText", f"{text.key}~{number}", {**properties, "parts": None})


def _text_of(piece: str) -> str:
    return piece.rpartition("~")[0]


def _differs(row: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    return any(row.get(name) != properties[name] for name in ("owner", "text", "finished"))

"""How far a store has read the partitions of a topic, kept in the store itself.

A consumer group alone does not tell: a new store, or a second one that shares the group by mistake, would lack what the
group has read before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from lineage.store.protocol import GraphStore
from lineage.store.values import BufferedText

__all__ = ["ReadOffsets"]

_NEVER_DROPPED = datetime(9000, 1, 1, tzinfo=UTC)


class ReadOffsets:
    """Reads and keeps the offsets after the last message that is in the store, by partition."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    def of(self, cluster: str, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        """Return the offsets of those of the partitions that the store has read.

        Raises:
            StoreError: the store could not be read.
        """
        owners = {_owner(cluster, topic, partition): partition for partition in partitions}
        return {owners[text.owner]: int(text.text) for text in self._store.buffered_texts(list(owners))}

    def keep(self, cluster: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Store the offsets of these partitions.

        Raises:
            StoreError: the store could not be written.
        """
        owners = {_owner(cluster, topic, partition): offset for partition, offset in offsets.items()}
        self._store.buffer_texts(
            BufferedText(f"{owner}~offset", owner, str(offset), False, _NEVER_DROPPED)
            for owner, offset in owners.items()
        )


def _owner(cluster: str, topic: str, partition: int) -> str:
    return f"kafka:{cluster}/{topic}/{partition}"

"""Statements for one key, run for many keys at once: `batched_reads.cypher`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from lineage.frozen import frozen
from lineage.store.cypher.backend import Row
from lineage.store.cypher.statements import cypher, own_queries, query

__all__ = ["MANY_KEYS", "SCANNED_PER_KEY", "BatchedRead", "batched_read"]

FEW_KEYS = 2
"""Minimum number of keys for looking up nodes at once; the index is used for each."""
MANY_KEYS = 4
"""Minimum number of keys for reading the relationships of nodes at once."""

_NODE_BY_KEY = re.compile(r"MATCH \(n:(`?\w+`?) \{key: \$key\}\) RETURN (n|n\.key AS key)")
SCANNED_PER_KEY = 50
"""Number of nodes whose scan takes as long as one lookup by key."""
_LABEL = re.compile(r"\([tj]:`?(\w+)`?")


@frozen
class BatchedRead:
    """A statement that reads for many keys of a label, as another one does for a single key."""

    statement: str
    label: str
    by_index: bool = False
    """Whether keys are looked up in an index; otherwise all nodes of the label are scanned."""
    of_units: bool = False

    @property
    def max_keys(self) -> int:
        """Maximum number of keys per run: each edge is compared with each job."""
        return 100 if self.of_units else 10_000

    def pays(self, rows: int, count: Callable[[], int]) -> bool:
        """Return whether it is faster for this number of parameter rows; `count` returns the label's nodes."""
        if self.by_index:
            return rows >= FEW_KEYS
        return rows >= MANY_KEYS and count() <= min(rows, self.max_keys) * SCANNED_PER_KEY

    def parameters(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Yield the parameters of its runs."""
        for start in range(0, len(rows), self.max_keys):
            some = rows[start : start + self.max_keys]
            keys = list(dict.fromkeys(map(self._key, some)))
            yield (
                {"keys": keys, "jobs": sorted({job for row in some for job in row["jobs"]})}
                if self.of_units
                else {"keys": keys}
            )

    def in_order(self, rows: Sequence[Row], answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers in the order of the rows, as if each row had been run alone."""
        by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for answer in answers:
            by_key[answer.pop("wanted")].append(answer)
        if not self.of_units:
            return [answer for row in rows for answer in by_key.get(row["key"], ())]
        return [answer for row in rows for answer in by_key.get(row["output"], ()) if answer["e"]["job"] in row["jobs"]]

    def _key(self, row: Row) -> str:
        key: str = row["output"] if self.of_units else row["key"]
        return key


@cache
def batched_read(statement: str) -> BatchedRead | None:
    """Return the batched form of a statement; None if it has none."""
    if (by_key := _NODE_BY_KEY.fullmatch(statement.strip())) is not None:
        label, answer = by_key.groups()
        text = f"UNWIND $keys AS wanted MATCH (n:{label} {{key: wanted}}) RETURN wanted, {answer}"
        return BatchedRead(text, label, by_index=True)
    return _of_relationships().get(statement)


@cache
def _of_relationships() -> Mapping[str, BatchedRead]:
    found = {}
    for name, text in own_queries("embedded", "batched_reads").items():
        label = _LABEL.search(text)
        assert label is not None, name
        found[cypher(query(name))] = BatchedRead(text, label.group(1), of_units=name.endswith("_of_units"))
    return found

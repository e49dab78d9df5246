"""Apply two batches, and stop this process before the second: python -m tests.store.stopped_writer STORE.

The second one creates, changes, retires and deletes, and adds texts to the event buffer and removes some.
"""

from __future__ import annotations

import os
import signal
import sys

from lineage.model.batch import LineageBatch
from lineage.store import GraphStore, open_store
from lineage.store.values import BufferedText
from tests.store.batch_builders import batch, day, query, view

WIDTH = 100


def first() -> LineageBatch:
    """Return the batch that is stored first."""
    return batch(view("v", *_flows("a", "v", range(WIDTH)), at=1), query("q", "a.c0 ~> a", at=1), run="one")


def second() -> LineageBatch:
    """Return the batch during which the process is stopped or killed."""
    changed = view("v", *_flows("a", "v", range(WIDTH // 2)), at=2)
    new = (view(f"w{number}", *_flows("v", f"w{number}", range(WIDTH)), at=2) for number in range(3))
    return batch(changed, *new, query("q", "a.c0 ~> a", at=2), run="two")


def write_first(store: GraphStore) -> None:
    """Write the first batch."""
    store.apply_and_buffer(first(), [_text("a"), _text("b")])


def write_second(store: GraphStore) -> None:
    """Write the second batch."""
    store.apply_and_buffer(second(), [_text("c"), _text("d")], ["run~a"])


def buffered_texts(store: GraphStore) -> str:
    """Return the names of the buffered texts."""
    return "".join(text.key.partition("~")[2] for text in store.buffered_texts(["run"]))


def _text(name: str) -> BufferedText:
    return BufferedText(f"run~{name}", "run", name * 1_000, False, day(1))


def _flows(source: str, target: str, columns: range) -> list[str]:
    return [f"{source}.c{column} -> {target}.c{column}" for column in columns]


def main() -> None:
    with open_store(sys.argv[1]) as store:
        write_first(store)
        os.kill(os.getpid(), signal.SIGSTOP)
        write_second(store)


if __name__ == "__main__":
    main()

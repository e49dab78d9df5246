"""What sessions send to a server, in the order of the server, and what of it took effect."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lineage.store import GraphStore

__all__ = ["Sent", "effective_script", "own", "same", "stated"]


class Sent(NamedTuple):
    """A statement that a session sends."""

    session: str
    text: str
    """With a client's own command behind it, where the statement goes another way than as a text."""
    effect: str | None = None
    """What took effect, with names that mean the same whatever a session has set; None: nothing did."""


def same(session: str, *texts: str) -> list[Sent]:
    """Return statements that take effect as they are."""
    return [Sent(session, text, text) for text in texts]


def own(session: str, *texts: str) -> list[Sent]:
    """Return statements that leave nothing: they read, set something, fail, or are rolled back."""
    return [Sent(session, text) for text in texts]


def effective_script(workload: Iterable[Sent], folder: Path) -> Path:
    """Write a SQL file of what took effect; return it."""
    file = folder / "effective.sql"
    file.write_text("".join(f"{one.effect};\n" for one in workload if one.effect is not None), encoding="utf-8")
    return file


def stated(store: GraphStore) -> list[str]:
    """Return what the graph says, in order, whoever says it: a file is one job, a log's statements are many."""
    return sorted(
        {
            f"{source} {kind} {target} {subtype}"
            for kind, source, target, properties in store.dump().relationships
            if kind in ("CONTRIBUTES", "REFERENCES", "FEEDS")
            for subtype in properties.get("subtypes") or ("",)
        }
    )

"""What the generator may write at a place: which columns are visible, and by which texts each can be named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.soundness.tree import FIELDS, Ref, Type

__all__ = ["Output", "Scope", "Slot", "Visible"]


class Output(NamedTuple):
    """A column that a query or a relation shows."""

    name: str
    type: Type


class Slot(NamedTuple):
    """A column that `*` stands for and that its bare name may mean."""

    owner: int
    name: str
    type: Type


class Visible(NamedTuple):
    """A relation that may stand before the dot."""

    uid: int
    alias: str
    columns: tuple[Output, ...]


@dataclass(slots=True)
class Scope:
    """One query block: what its FROM shows so far, and the blocks around it."""

    parent: Scope | None = None
    slots: list[Slot] = field(default_factory=list)
    visible: list[Visible] = field(default_factory=list)
    group_start: int = 0
    """Where the slots begin that a join's USING sees: those after the last comma."""

    def names(self) -> set[str]:
        """Return every name that means a column or a relation here."""
        found = {slot.name for slot in self.slots}
        for item in self.visible:
            found.add(item.alias)
            found.update(column.name for column in item.columns)
        return found

    def all_names(self) -> set[str]:
        """Return the names of this block and of those around it."""
        found = self.names()
        return found | self.parent.all_names() if self.parent is not None else found

    def references(self) -> Iterator[tuple[int, Ref]]:
        """Yield each way to name a visible column that is certain, with how many blocks outwards it lies."""
        hidden: set[str] = set()
        scope: Scope | None = self
        depth = 0
        while scope is not None:
            counts = Counter(slot.name for slot in scope.slots)
            for owner, name, kind in scope.slots:
                if counts[name] == 1 and name not in hidden:
                    yield depth, Ref(owner, name, name, kind)
                    if kind == "struct":
                        yield from ((depth, field) for field in _fields(owner, name, name))
            aliases = Counter(item.alias for item in scope.visible)
            for uid, alias, columns in scope.visible:
                if aliases[alias] == 1 and alias not in hidden:
                    names = Counter(column.name for column in columns)
                    for name, kind in columns:
                        if names[name] == 1:
                            yield depth, Ref(uid, name, f"{alias}.{name}", kind)
                            if kind == "struct":
                                yield from ((depth, field) for field in _fields(uid, name, f"{alias}.{name}"))
            hidden |= scope.names()
            scope = scope.parent
            depth += 1


def _fields(owner: int, name: str, text: str) -> Iterator[Ref]:
    """Yield the ways to name each field of a struct."""
    for field_name, kind in FIELDS.items():
        yield Ref(owner, name, f"{text}.{field_name}", kind, field_name)
        yield Ref(owner, name, f"{text}['{field_name}']", kind, field_name)

"""The tables that the parts of a unit mention, and what they do to names.

A unit is a template, or statements of a session that depend on each other; each of its texts is a part.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from lineage.model.dialects import dialect_named
from lineage.model.names import split_name
from lineage.model.statement import ChangeKind, DatasetKind, StatementLineage, TableChange
from lineage.sql.scan.leading import LEADING

__all__ = [
    "NameStep",
    "NamesOfPart",
    "TableId",
    "UnitPart",
    "deciding_parts",
    "keeps_what_is_there",
    "last_part",
    "made_and_left",
    "made_in",
    "names_of_parts",
    "new_in",
    "only_unless_there",
    "read_before_made",
]

TableId: TypeAlias = "tuple[str, str]"
"""A table's name: namespace and full name."""
UnitPart: TypeAlias = "tuple[int, int]"
"""A unit, and the number of one of its parts."""

_UNLESS_THERE = re.compile(rf"{LEADING}create\s+(?:\w+\s+){{0,3}}?(?:table|view)\s+if\s+not\s+exists\b", re.IGNORECASE)
_PLAIN = re.compile(
    rf"{LEADING}create\s+(?:(?:global|local|temp|temporary|transient|unlogged|external|foreign|materialized|secure|"
    r"recursive)\s+)*(?:table|view)\s+(?!if\s+not\s+exists\b)",
    re.IGNORECASE,
)


class NameStep(StrEnum):
    """What a statement does to a table's name."""

    CREATE = "create"
    CREATE_UNLESS_THERE = "create unless there"
    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"

    @property
    def makes(self) -> bool:
        """Whether it creates a table or view with the name."""
        return self in _MAKING


_MAKING = frozenset((NameStep.CREATE, NameStep.CREATE_UNLESS_THERE))


class NamesOfPart(NamedTuple):
    """The full names of the tables that a part of a unit mentions, except those private to its session."""

    namespace: str
    names: tuple[str, ...]
    reads: tuple[str, ...] = ()
    steps: tuple[tuple[NameStep, str, str | None], ...] = ()
    late: bool = False
    """Whether the part creates a view, whose names are resolved each time the view is read."""
    writes: bool = False
    """Whether the part writes or alters a table."""
    is_plain: bool = False
    """Whether the part is a CREATE that fails if a table or view with the name exists."""
    alters: tuple[str, ...] = ()
    """Tables whose columns it adds, renames or drops."""

    def names_any(self, table_ids: Collection[TableId]) -> bool:
        """Return whether the part mentions one of these tables."""
        return any((self.namespace, name) in table_ids for name in self.names)


def last_part(name: str) -> str:
    """Return the last part of a table's full name."""
    return name.rpartition(".")[2] if '"' not in name else split_name(name)[-1][0]


def keeps_what_is_there(sql: str) -> bool:
    """Return whether a statement is CREATE TABLE or VIEW with IF NOT EXISTS."""
    return _UNLESS_THERE.match(sql) is not None


def names_of_parts(
    parts: Sequence[str], dialect: str, namespace: str, statements: Iterable[StatementLineage]
) -> tuple[NamesOfPart, ...]:
    """Return the tables that each part of a unit mentions; `parts` are their texts."""
    found = [_Mentioned(text) for text in parts]
    follows = dialect_named(dialect).views_follow_renames
    for statement in statements:
        found[int(statement.source or 0)].add(statement, views_follow=follows)
    return tuple(one.names_of_part(namespace) for one in found)


@dataclass(slots=True)
class _Mentioned:
    """What the statements of one part mention so far; of the dictionaries, only the order of the keys counts."""

    text: str
    names: dict[str, None] = field(default_factory=dict)
    reads: dict[str, None] = field(default_factory=dict)
    steps: list[tuple[NameStep, str, str | None]] = field(default_factory=list)
    late: bool = False
    writes: bool = False
    alters: dict[str, None] = field(default_factory=dict)

    def add(self, statement: StatementLineage, *, views_follow: bool) -> None:
        """Add a statement; `views_follow` says whether views of the dialect follow tables that are renamed."""
        own = [name for name in statement.targets if name not in statement.temporary]
        if statement.target_kind is DatasetKind.TEMPORARY:
            own = [name for name in own if name != statement.target]
        self.names.update(dict.fromkeys((*statement.sources, *own)))
        self.names.update(dict.fromkeys(one.table for one in statement.policies if one.table is not None))
        self.writes |= bool(statement.targets or statement.changes)
        self.reads.update(dict.fromkeys(statement.sources))
        if statement.defines and statement.target in own:
            step = NameStep.CREATE_UNLESS_THERE if keeps_what_is_there(self.text) else NameStep.CREATE
            self.steps.append((step, statement.target, None))
            is_view = statement.target_kind is DatasetKind.VIEW and statement.operation == "CREATE_VIEW"
            self.late = is_view and not views_follow
        if statement.altered and statement.target in own:
            self.alters[statement.target] = None
        for change in statement.changes:
            self._add_change(change)

    def _add_change(self, change: TableChange) -> None:
        self.names[change.table] = None
        if change.kind.of_column:
            self.alters[change.table] = None
        if change.kind is ChangeKind.DROP:
            self.steps.append((NameStep.DROP, change.table, None))
        elif not change.kind.of_column and change.other is not None:
            self.names[change.other] = None
            step = NameStep.RENAME if change.kind is ChangeKind.RENAME else NameStep.SWAP
            self.steps.append((step, change.table, change.other))

    def names_of_part(self, namespace: str) -> NamesOfPart:
        """Return what was added."""
        return NamesOfPart(
            namespace,
            tuple(self.names),
            tuple(self.reads),
            tuple(self.steps),
            self.late,
            self.writes,
            _PLAIN.match(self.text) is not None,
            tuple(self.alters),
        )


def deciding_parts(parts: Mapping[UnitPart, NamesOfPart], before: Collection[TableId] = ()) -> frozenset[UnitPart]:
    """Return the parts whose runs decide which table has a name; empty if each name refers to one table throughout.

    `before` are names of tables that existed before the log, and that the log both reads and recreates.
    """
    makers: dict[TableId, set[UnitPart]] = defaultdict(set)
    unsteady = set(before)
    for key, part in parts.items():
        for step, table, other in part.steps:
            table_id = part.namespace, table
            if step.makes:
                makers[table_id].add(key)
            else:
                unsteady.update((part.namespace, name) for name in (table, other) if name is not None)
    unsteady.update(table_id for table_id, keys in makers.items() if len(keys) > 1)
    return frozenset(
        key
        for key, part in parts.items()
        if any((part.namespace, n) in unsteady for _, table, other in part.steps for n in (table, other) if n)
    )


def made_in(parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[TableId]:
    """Return the names under which the parts create a table or view, whether or not the name is in use."""
    return frozenset(
        (part.namespace, table)
        for part in parts.values()
        for step, table, _ in part.steps
        if step is NameStep.CREATE or table in part.reads
    )


def made_and_left(parts: Iterable[NamesOfPart]) -> frozenset[TableId]:
    """Return the names under which the parts create a table or view, and which they also drop or rename."""
    made: set[TableId] = set()
    left: set[TableId] = set()
    for part in parts:
        for step, table, other in part.steps:
            names = (table, other) if step is NameStep.SWAP and other is not None else (table,)
            (made if step.makes else left).update((part.namespace, name) for name in names)
    return frozenset(made & left)


def only_unless_there(parts: Mapping[UnitPart, NamesOfPart]) -> frozenset[TableId]:
    """Return the names that the parts create with IF NOT EXISTS, and do nothing else to."""
    found = {
        is_unless: {
            (part.namespace, name)
            for part in parts.values()
            for step, table, other in part.steps
            if (step is NameStep.CREATE_UNLESS_THERE) is is_unless
            for name in (table, other)
            if name is not None
        }
        for is_unless in (True, False)
    }
    return frozenset(found[True] - found[False])


def new_in(parts: Mapping[UnitPart, NamesOfPart], began: Mapping[UnitPart, int]) -> frozenset[TableId]:
    """Return the names that did not exist before the log: their first change is a plain CREATE."""
    first: dict[TableId, tuple[int, bool]] = {}
    for key, part in parts.items():
        for step, table, other in part.steps:
            for name in (table, other) if other is not None else (table,):
                done = (
                    began[key],
                    not (step is NameStep.CREATE and part.is_plain),
                )  # at equal times, a step that is not a plain CREATE wins
                first[part.namespace, name] = min(done, first.get((part.namespace, name), done))
    return frozenset(table_id for table_id, (_, is_other) in first.items() if not is_other)


def read_before_made(
    parts: Mapping[UnitPart, NamesOfPart], began: Mapping[UnitPart, int], table_ids: Collection[TableId]
) -> frozenset[TableId]:
    """Return the names in `table_ids` that a part uses before the first part that recreates the table.

    `began` is when each part first ran. Only parts that write count: a SELECT alone has no lineage, and a view resolves
    its names later.
    """
    made: dict[TableId, int] = {}
    used: dict[TableId, int] = {}
    for key, part in parts.items():
        makes = {table for step, table, _ in part.steps if step.makes}
        for name in part.names:
            table_id = part.namespace, name
            if table_id not in table_ids:
                continue
            if name in makes:
                made[table_id] = min(began[key], made.get(table_id, began[key]))
            if (name in part.reads) if name in makes else (part.writes and not part.late):
                used[table_id] = min(began[key], used.get(table_id, began[key]))
    return frozenset(table_id for table_id, at in used.items() if table_id in made and at <= made[table_id])

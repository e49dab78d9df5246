"""Which statements of a session belong together: a temporary table or a rolled-back transaction ties them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.model.dialects import dialect_named
from lineage_ingest.query_log.pipeline.extraction import SessionEffects

__all__ = ["TemplateInSession", "slices_of", "tie_without_sessions"]

_MAX_BLOCK = 500


class TemplateInSession(NamedTuple):
    """What a template does to its session, its dialect, and the defaults that the log states for it."""

    effects: SessionEffects
    dialect: str
    database: str | None
    schema: str | None


@dataclass(slots=True)
class _Ties:
    """Which statements belong together: a forest, whose roots are their first statements."""

    above: list[int]

    def root(self, at: int) -> int:
        while self.above[at] != at:
            self.above[at] = self.above[self.above[at]]
            at = self.above[at]
        return at

    def tie(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self.above[second] = first

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for at in range(len(self.above)):
            found.setdefault(self.root(at), []).append(at)
        return list(found.values())


@dataclass(slots=True)
class _SessionReading:
    """What a session has, while it is read."""

    ties: _Ties
    temporary: dict[str, int] = field(default_factory=dict)
    """Which statement made each temporary table."""
    manual: int | None = None
    """Where autocommit went off: transactions begin by themselves from there on."""
    opened: int | None = None
    """Where the transaction that is open began."""
    read: dict[str, int] = field(default_factory=dict)
    """Which statement that belongs to a temporary table read each table last."""
    until_commit: set[str] = field(default_factory=set)
    """Temporary tables that end with the transaction."""
    written: set[str] = field(default_factory=set)
    """What such statements wrote."""


def slices_of(ran: list[TemplateInSession]) -> list[list[int]]:
    """Return which statements of a session belong together, each group in order."""
    reading = _SessionReading(_Ties(list(range(len(ran)))))
    for at, template in enumerate(ran):
        _read(reading, at, template, ran)
    session_blocks: list[list[int]] = []
    for group in reading.ties.groups():
        if len(group) <= _MAX_BLOCK:
            session_blocks.append(group)
            continue
        writers = [at for at in group if ran[at].effects.writes or ran[at].effects.stateful]
        session_blocks.append(writers)
        session_blocks.extend([at] for at in group if at not in set(writers))
    return session_blocks


def tie_without_sessions(effects: Mapping[int, SessionEffects]) -> dict[int, list[int]]:
    """Return by template which others come before it, in a log that has no sessions: what makes its temporary tables.

    Only where one template makes a table of a name: of several nobody knows which one is meant.
    """
    makers: dict[str, list[int]] = {}
    fillers: dict[str, list[int]] = {}
    for key, one in sorted(effects.items()):
        for table in one.temporary:
            makers.setdefault(table, []).append(key)
    makers = {table: keys for table, keys in makers.items() if len(keys) == 1}
    for key, one in sorted(effects.items()):
        for table in one.tables if one.writes else ():
            if table in makers and table not in one.reads and key not in makers[table]:
                fillers.setdefault(table, []).append(key)
    found: dict[int, list[int]] = {}
    for key in effects:
        before: dict[int, None] = {}
        _before(key, effects, makers, fillers, before)
        before.pop(key, None)
        if before and len(before) <= _MAX_BLOCK:
            found[key] = list(before)
    return found


def _before(
    key: int,
    effects: Mapping[int, SessionEffects],
    makers: Mapping[str, list[int]],
    fillers: Mapping[str, list[int]],
    before: dict[int, None],
) -> None:
    """Add what comes before a template, and then the template."""
    before[key] = None
    for table in effects[key].tables:
        if table in makers:
            filled = fillers.get(table, ()) if table in effects[key].reads else ()
            for other in (*makers[table], *filled):
                if other not in before:
                    _before(other, effects, makers, fillers, before)
    before[key] = before.pop(key)  # behind what it needs


def _read(reading: _SessionReading, at: int, template: TemplateInSession, ran: list[TemplateInSession]) -> None:
    effects, ties = template.effects, reading.ties
    own = [table for table in effects.tables if table in reading.temporary]
    for table in own:
        if table not in effects.temporary or table in effects.rebuilds:
            ties.tie(reading.temporary[table], at)
    for table in effects.alters:  # what was read before has the names of before
        if table in reading.read and table not in reading.written:
            ties.tie(reading.read[table], at)
    if own or effects.temporary:
        reading.read.update((table, at) for table in effects.reads if table not in own)
        reading.written.update(table for table in effects.tables if table not in {*effects.reads, *effects.alters})
    for table in effects.temporary:
        reading.temporary[table] = at
        if effects.until_commit:
            reading.until_commit.add(table)
    if effects.discards or effects.transaction in ("commit", "rollback") or reading.opened is None:
        for table in list(reading.temporary) if effects.discards else reading.until_commit:
            if table in reading.temporary:
                ties.tie(reading.temporary.pop(table), at)
        reading.until_commit.clear()
    for old, new in effects.renames:
        if old in reading.temporary:  # what is renamed may be a real one of the name, with its schema
            reading.temporary[new] = reading.temporary[old]
    if effects.transaction in ("rollback", "rollback to") and reading.opened is not None:
        inside = range(reading.opened, at)
        if any(ran[number].effects.writes for number in inside):
            for number in inside:
                ties.tie(number, at)
            if reading.manual is not None:
                ties.tie(reading.manual, at)
    if effects.transaction in ("manual", "automatic"):
        reading.manual = at if effects.transaction == "manual" else None
    if effects.transaction in ("begin", "commit", "rollback", "manual", "automatic"):
        opens = effects.transaction in ("begin", "manual") or effects.chain
        reading.opened = at if opens or reading.manual is not None else None
    if reading.opened is None and not effects.transaction and dialect_named(template.dialect).implicit_transactions:
        reading.opened = at

"""Session blocks: statements tied by a temporary table or a rolled-back transaction are resolved together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.model.dialects import dialect_named
from lineage.sql.script.sessions.transactions import settled
from lineage_ingest.query_log.pipeline.sessions.session_effects import SessionEffects

__all__ = ["TemplateInSession", "SessionBlocks", "session_blocks_of", "tie_without_sessions"]

_MAX_BLOCK = 500
_MAX_CONTEXT = 50
"""Maximum number of statements that give others the values of session variables."""


class TemplateInSession(NamedTuple):
    """A template's effects on its session, its dialect, and its default database and schema in the log."""

    effects: SessionEffects
    dialect: str
    database: str | None
    schema: str | None


@dataclass(slots=True)
class _Ties:
    """A disjoint-set forest of statement indexes; the root of each group is its first statement."""

    parent: list[int]

    def root(self, index: int) -> int:
        while self.parent[index] != index:
            self.parent[index] = self.parent[self.parent[index]]
            index = self.parent[index]
        return index

    def tie(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self.parent[second] = first

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for index in range(len(self.parent)):
            found.setdefault(self.root(index), []).append(index)
        return list(found.values())


@dataclass(slots=True)
class _SessionState:
    """The temporary tables and the transaction of a session, statement by statement."""

    ran: list[TemplateInSession]
    ties: _Ties
    temporary: dict[str, int] = field(default_factory=dict)
    """The index of the statement that created each temporary table."""
    manual: int | None = None
    """The index of the statement that turned autocommit off: later transactions begin implicitly."""
    opened: int | None = None
    """The index of the statement that began the open transaction."""
    depth: int = 0
    """The number of BEGINs within the open transaction, where these nest."""
    prepared: list[range] = field(default_factory=list)
    """The indexes of the statements of each transaction that PREPARE TRANSACTION ended."""
    read: dict[str, int] = field(default_factory=dict)
    """The last statement that uses a temporary table and reads each table."""
    until_commit: set[str] = field(default_factory=set)
    """Temporary tables that are dropped when the transaction ends."""
    rows_until_commit: set[str] = field(default_factory=set)
    """Temporary tables that are emptied when a transaction ends."""
    written: set[str] = field(default_factory=set)
    """The tables that statements with temporary tables write."""
    assigned: dict[str, int] = field(default_factory=dict)
    """The last statement that assigns to each session variable."""
    setters: dict[int, frozenset[int]] = field(default_factory=dict)
    """The statements whose values of variables a statement reads."""

    def run(self, index: int, template: TemplateInSession) -> None:
        """Apply a statement, and tie it to those that its meaning depends on."""
        effects = template.effects
        self._use_variables(index, effects)
        self._use_temporary_tables(index, effects)
        self._create_temporary_tables(index, effects)
        verb = settled(effects.transaction, begun=self._has_begun())
        if effects.discards or verb in ("commit", "rollback", "prepare"):
            self._drop_temporary_tables(index, effects)
        for old, new in effects.renames:
            if old in self.temporary:  # may also be a permanent table of that name in a schema
                self.temporary[new] = self.temporary[old]
        if verb in ("rollback", "rollback to") and self.opened is not None:
            self._roll_back(index, self.opened)
        self._move_transaction(index, template, verb)

    def _use_variables(self, index: int, effects: SessionEffects) -> None:
        if setters := frozenset(self.assigned[name] for name in effects.variables if name in self.assigned):
            self.setters[index] = setters
        self.assigned.update(dict.fromkeys(effects.assigns, index))

    def _use_temporary_tables(self, index: int, effects: SessionEffects) -> None:
        own = [table for table in effects.tables if table in self.temporary]
        for table in own:
            if table not in effects.temporary or table in effects.rebuilds:
                self.ties.tie(self.temporary[table], index)
        for table in effects.alters:  # earlier reads see the column names from before the ALTER
            if table in self.read and table not in self.written:
                self.ties.tie(self.read[table], index)
        if own or effects.temporary:
            self.read.update((table, index) for table in effects.reads if table not in own)
            self.written.update(table for table in effects.tables if table not in {*effects.reads, *effects.alters})

    def _create_temporary_tables(self, index: int, effects: SessionEffects) -> None:
        for table in effects.temporary:
            if effects.unless_there and table in self.temporary:
                self.ties.tie(self.temporary[table], index)
                continue
            self.temporary[table] = index
            if effects.until_commit:
                self.until_commit.add(table)
            if effects.rows_until_commit:
                self.rows_until_commit.add(table)

    def _drop_temporary_tables(self, index: int, effects: SessionEffects) -> None:
        for table in list(self.temporary) if effects.discards else self.until_commit:
            if table in self.temporary:
                self.ties.tie(self.temporary.pop(table), index)
        for table in self.rows_until_commit & self.temporary.keys():
            self.ties.tie(self.temporary[table], index)
        self.until_commit.clear()

    def _roll_back(self, index: int, opened: int) -> None:
        """Tie all statements of a transaction that wrote anything to its ROLLBACK."""
        inside = range(opened, index)
        if any(self.ran[number].effects.writes for number in inside):
            for number in inside:
                self.ties.tie(number, index)
            if self.manual is not None:
                self.ties.tie(self.manual, index)

    def _end_prepared(self, index: int, *, is_undone: bool) -> None:
        """Tie a prepared transaction to its ROLLBACK PREPARED; which of several is meant is not known."""
        if len(self.prepared) == 1 and is_undone:
            for number in self.prepared[0]:
                self.ties.tie(number, index)
        self.prepared.clear()

    def _move_transaction(self, index: int, template: TemplateInSession, verb: str) -> None:
        if verb in ("manual", "automatic"):
            self.manual = index if verb == "manual" else None
        if verb == "prepare" and self.opened is not None:
            self.prepared.append(range(self.opened, index + 1))
        elif verb in ("commit prepared", "rollback prepared"):
            self._end_prepared(index, is_undone=verb == "rollback prepared")
        dialect = dialect_named(template.dialect)
        if verb == "begin" and self._has_begun() and not dialect.begin_commits:
            self.depth += dialect.begins_nest
        elif verb == "commit" and self.depth:
            self.depth -= 1
        elif verb in ("begin", "commit", "rollback", "prepare", "manual", "automatic"):
            self.depth = 0
            opens = verb in ("begin", "manual") or template.effects.chain
            self.opened = index if opens or self.manual is not None else None
        if self.opened is None and not verb and dialect.implicit_transactions:
            self.opened = index

    def _has_begun(self) -> bool:
        return self.opened is not None and self.ran[self.opened].effects.transaction == "begin"

    def left_open(self) -> frozenset[int]:
        """Return the indexes of the statement that began the open transaction, and of those in it that write.

        Where transactions begin by themselves, clients often commit by a call that no log shows: those do not count.
        """
        if self.opened is None or not self.ran[self.opened].effects.transaction:
            return frozenset()
        writers: list[int] = []
        for number in range(self.opened, len(self.ran)):
            if self.ran[number].effects.commits:
                if self.manual is None:
                    return frozenset()
                writers.clear()
            elif self.ran[number].effects.writes:
                writers.append(number)
        return frozenset((self.opened, *writers)) if writers else frozenset()


class SessionBlocks(NamedTuple):
    """The session blocks of a session: the indexes of statements to resolve together, each block in order."""

    blocks: list[list[int]]
    left_open: frozenset[int]
    """The BEGIN and the writing statements of a transaction that the session leaves open."""
    contexts: list[frozenset[int]]
    """For each block, other statements that set the session variables which it reads, and what these need in turn."""


def session_blocks_of(ran: list[TemplateInSession]) -> SessionBlocks:
    """Return the session blocks of a session."""
    state = _SessionState(ran, _Ties(list(range(len(ran)))))
    for index, template in enumerate(ran):
        state.run(index, template)
    session_blocks: list[list[int]] = []
    for group in state.ties.groups():
        if len(group) <= _MAX_BLOCK:
            session_blocks.append(group)
            continue
        writers = [index for index in group if ran[index].effects.writes or ran[index].effects.stateful]
        session_blocks.append(writers)
        session_blocks.extend([index] for index in sorted(set(group).difference(writers)))
    return SessionBlocks(session_blocks, state.left_open(), _contexts(session_blocks, state.setters))


def _contexts(blocks: list[list[int]], setters: Mapping[int, frozenset[int]]) -> list[frozenset[int]]:
    """Return the context of each block; none if it is long: the variable is then reported where it is read."""
    block_of = {index: block for block in blocks for index in block} if setters else {}
    contexts: list[frozenset[int]] = []
    for own in blocks:
        context: set[int] = set()
        waiting = list(own) if setters else []
        while waiting and len(context) <= _MAX_CONTEXT:
            for setter in setters.get(waiting.pop(), ()):
                new = {index for index in block_of[setter] if index <= setter}.difference(own, context)
                context |= new
                waiting += new
        contexts.append(frozenset(context) if len(context) <= _MAX_CONTEXT else frozenset())
    return contexts


def tie_without_sessions(effects: Mapping[int, SessionEffects]) -> dict[int, list[int]]:
    """Return by template the others that create and fill its temporary tables, for a log without sessions.

    A table name that several templates create is ambiguous and skipped.
    """
    makers: dict[str, list[int]] = {}
    fillers: dict[str, list[int]] = {}
    for key, effect in sorted(effects.items()):
        for table in effect.temporary:
            makers.setdefault(table, []).append(key)
    makers = {table: keys for table, keys in makers.items() if len(keys) == 1}
    for key, effect in sorted(effects.items()):
        for table in effect.tables if effect.writes else ():
            if table in makers and table not in effect.reads and key not in makers[table] and not effect.empties:
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
    """Add the templates that a template needs, then the template itself."""
    before[key] = None
    for table in effects[key].tables:
        if table in makers:
            filled = fillers.get(table, ()) if table in effects[key].reads else ()
            for other in (*makers[table], *filled):
                if other not in before:
                    _before(other, effects, makers, fillers, before)
    before[key] = before.pop(key)  # moves it after the templates that it needs

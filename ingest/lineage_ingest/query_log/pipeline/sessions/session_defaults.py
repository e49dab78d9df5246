"""The default database and schemas that each statement of a session ran with.

The log's value applies where it changes from one statement to the next: some sources log the current defaults of the
session, others those at logon. Between such changes, the session's USE, SET and RESET apply. In PostgreSQL, a ROLLBACK
reverts them, and SET LOCAL lasts until the end of its transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage.model.dialects import dialect_named
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession

__all__ = ["Defaults", "defaults_of"]


class Defaults(NamedTuple):
    """A default database and schema, and the schemas that are searched after it."""

    database: str | None = None
    schema: str | None = None
    search_path: tuple[str, ...] = ()


_NOTHING = Defaults()


@dataclass(slots=True)
class _Session:
    """The current defaults, those after a COMMIT, and those after a ROLLBACK."""

    now: Defaults = _NOTHING
    lasting: Defaults = _NOTHING
    before: Defaults = _NOTHING
    stated: Defaults | None = None
    is_open: bool = False
    savepoints: dict[str, tuple[Defaults, Defaults]] = field(default_factory=dict)

    def state(self, database: str | None, schema: str | None) -> None:
        """Apply the defaults that the log has for a statement."""
        if self.stated is None or self.stated[:2] != (database, schema):
            path = self.now.search_path if schema == self.now.schema else ()
            self.stated = Defaults(database, schema)
            self.now = self.lasting = self.before = Defaults(database, schema, path)
            self.savepoints.clear()

    def read(self, template: TemplateInSession) -> None:
        """Apply a statement."""
        effects = template.effects
        after = self._after(template)
        in_transaction = dialect_named(template.dialect).settings_in_transactions
        if effects.transaction and in_transaction:
            self._end_or_begin(template)
        if after is None or (effects.is_local and in_transaction and not self.is_open):
            return
        self.now = after
        if not (effects.is_local and in_transaction):
            self.lasting = after
            if not self.is_open:
                self.before = after

    def _after(self, template: TemplateInSession) -> Defaults | None:
        """Return the defaults that a statement sets; None if it sets none."""
        effects, now = template.effects, self.now
        database = effects.database or now.database
        if effects.resets:
            return Defaults(database, self.stated.schema if self.stated else None)
        if effects.schema or effects.search_path:
            return Defaults(database, effects.schema or now.schema, effects.search_path)
        return now._replace(database=database) if effects.database else None

    def _end_or_begin(self, template: TemplateInSession) -> None:
        effects = template.effects
        if effects.transaction == "savepoint":
            self.savepoints[effects.savepoint] = self.now, self.lasting
            return
        if effects.transaction == "rollback to" and effects.savepoint in self.savepoints:
            self.now, self.lasting = self.savepoints[effects.savepoint]
            return
        if effects.transaction in ("rollback", "rollback to"):
            self.lasting = self.before
        if effects.transaction != "begin":
            self.now = self.lasting
        self.before = self.lasting
        self.savepoints.clear()
        self.is_open = effects.transaction == "begin" or effects.chain


def defaults_of(ran: Iterable[TemplateInSession]) -> list[Defaults]:
    """Return the defaults that each statement of a session ran with."""
    session = _Session()
    found: list[Defaults] = []
    for template in ran:
        session.state(template.database, template.schema)
        found.append(session.now)
        session.read(template)
    return found

"""The policies, tags and grants of a warehouse, after the statements about them so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lineage.frozen import frozen
from lineage.model.policies import PolicyAct, PolicyStatement

__all__ = ["Place", "PolicyState", "WarehouseTag"]

Place = tuple[str, str]
"""A dataset and the path of one of its columns; "" is the table as a whole."""


@frozen
class WarehouseTag:
    """A tag of the warehouse on a column or a table; the value is known if it may be the name of a class."""

    name: str
    value: str | None
    at: datetime
    source: str


@dataclass(slots=True)
class PolicyState:
    """The policies after the statements so far."""

    masks: dict[Place, str] = field(default_factory=dict)
    rows: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    switched: dict[str, bool] = field(default_factory=dict)
    needs_switch: set[str] = field(default_factory=set)
    """The datasets of products where row policies do nothing until row security is enabled."""
    bodies: dict[str, PolicyStatement] = field(default_factory=dict)
    tags: defaultdict[Place, dict[str, WarehouseTag]] = field(default_factory=lambda: defaultdict(dict))
    tag_masks: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    grants: defaultdict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    unmask: defaultdict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    granted: dict[tuple[Place, str], datetime | None] = field(default_factory=dict)
    """Since when each grant of a table or column holds, according to a log; None if that is not known."""
    revoked: dict[tuple[Place, str], datetime] = field(default_factory=dict)
    members: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """Who has each role of a namespace: users, and roles."""
    attached: dict[str, tuple[datetime, str | None]] = field(default_factory=dict)
    """When each policy was last attached to anything, and by which file."""
    dropped: set[str] = field(default_factory=set)
    source: str = ""
    file: str | None = None
    first_seen: datetime | None = None
    """When the statement was first run, if it was run and its table has been the same since."""

    @property
    def columns(self) -> set[Place]:
        """The columns with a mask, a tag or a grant."""
        return {*self.masks, *self.tags, *self.grants}

    def limits_rows(self, dataset: str) -> bool:
        """Return whether the row policies of a dataset are in force: PostgreSQL's only if row security is enabled."""
        return self.switched.get(dataset, dataset not in self.needs_switch)

    def apply(self, statement: PolicyStatement, dataset: str, paths: Collection[str], at: datetime) -> None:
        """Apply a statement about a dataset, and about `paths` if it names columns."""
        if statement.columns and not paths:
            return
        keys = [(dataset, path) for path in paths or ("",)]
        name = statement.policy or ""
        if statement.act in (PolicyAct.SET_MASK, PolicyAct.SET_ROWS, PolicyAct.TAG_MASK):
            self.attached[statement.other or name if statement.act is PolicyAct.TAG_MASK else name] = at, self.file
        if statement.act is PolicyAct.SET_MASK:
            self.masks.update(dict.fromkeys(keys, name))
        elif statement.act is PolicyAct.UNSET_MASK:
            for key in keys:
                self.masks.pop(key, None)
        elif statement.act is PolicyAct.SET_ROWS:
            self.rows[dataset].add(name)
        elif statement.act is PolicyAct.UNSET_ROWS:
            self.rows[dataset] = self.rows[dataset] - {name} if name else set()
        elif statement.act in (PolicyAct.ROWS_ON, PolicyAct.ROWS_OFF):
            self.switched[dataset] = statement.act is PolicyAct.ROWS_ON
        elif statement.act in (PolicyAct.DEFINE, PolicyAct.DROP, PolicyAct.RENAME):
            self._change_policy(statement, name, dataset, at)
        elif statement.act in (PolicyAct.SET_TAG, PolicyAct.UNSET_TAG, PolicyAct.TAG_MASK, PolicyAct.TAG_UNMASK):
            self._change_tag(statement, name, keys if dataset else [], at)
        elif statement.act is PolicyAct.GRANT_ROLE:
            self.members[statement.other or "", name] |= set(statement.roles)
        elif statement.act is PolicyAct.REVOKE_ROLE:
            self.members[statement.other or "", name] -= set(statement.roles)
        else:
            self._grant(statement, keys if dataset else [(name, "")], at)

    def detach(self, policies: Collection[str]) -> None:
        """Take policies from all columns, tables and tags."""
        self.masks = {key: policy for key, policy in self.masks.items() if policy not in policies}
        for listed in (*self.rows.values(), *self.tag_masks.values()):
            listed.difference_update(policies)

    def _change_policy(self, statement: PolicyStatement, name: str, dataset: str, at: datetime) -> None:
        if statement.act is PolicyAct.DEFINE:
            self.bodies[name] = statement
            self.dropped.discard(name)
        elif statement.act is PolicyAct.DROP:
            self.bodies.pop(name, None)
            attached_at, file = self.attached.get(name, (at, self.file))
            if attached_at < at or file == self.file:  # a policy in use cannot be dropped
                self.detach([name])
            else:  # by another file of the same ingest, which may create it anew
                self.dropped.add(name)
        elif statement.other is not None:
            if name in self.bodies:
                self.bodies[statement.other] = self.bodies.pop(name)
            self.masks = {key: statement.other if policy == name else policy for key, policy in self.masks.items()}
            own = [self.rows[dataset]] if dataset else [*self.rows.values(), *self.tag_masks.values()]
            for listed in own:
                if name in listed:
                    listed.discard(name)
                    listed.add(statement.other)
            if name in self.tag_masks:
                self.tag_masks[statement.other] = self.tag_masks.pop(name)
            for tags in self.tags.values():
                if name in tags:
                    old = tags.pop(name)
                    tags[statement.other] = WarehouseTag(statement.other, old.value, old.at, old.source)

    def _change_tag(self, statement: PolicyStatement, name: str, keys: Iterable[Place], at: datetime) -> None:
        if statement.act is PolicyAct.TAG_MASK:
            self.tag_masks[name].add(statement.other or "")
        elif statement.act is PolicyAct.TAG_UNMASK:
            self.tag_masks[name].discard(statement.other or "")
        elif statement.act is PolicyAct.SET_TAG:
            for key in keys:
                self.tags[key][name] = WarehouseTag(name, statement.other, at, self.source)
        else:
            for key in keys or list(self.tags):  # without a table, the tag itself is dropped
                self.tags[key].pop(name, None)

    def _grant(self, statement: PolicyStatement, keys: Iterable[Place], at: datetime) -> None:
        is_read = statement.act in (PolicyAct.GRANT, PolicyAct.REVOKE)
        of = self.grants if is_read else self.unmask
        for key in keys:
            if statement.act in (PolicyAct.GRANT, PolicyAct.GRANT_UNMASK):
                new = set(statement.roles) - of[key]
                of[key] |= new
                if is_read:
                    self.granted.update({(key, role): self._since(key, role) for role in new})
                continue
            # What is taken from a table as a whole is taken from its columns, too.
            for other in [each for each in of if each == key or (not key[1] and each[0] == key[0])]:
                of[other] -= set(statement.roles)
                if is_read:
                    self.revoked.update(((other, role), at) for role in statement.roles)

    def _since(self, key: Place, role: str) -> datetime | None:
        """Return when a grant that is made now was made: of a statement that was run often, the first time counts."""
        revoked = self.revoked.get((key, role))
        if self.first_seen is None or (revoked is not None and revoked >= self.first_seen):
            return None  # of a statement that was run before and after a REVOKE, the times between are not known
        return self.first_seen

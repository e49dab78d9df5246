"""What the warehouse itself says: who sees a column as it is, who may read it, and which tags it has there.

All statements about policies are replayed in order of time: by files, logs and databases together. Those of one moment
(of files that are ingested together) count in order of the files' names, and within a file as they stand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lineage.frozen import frozen
from lineage.governance.warehouse.policy_state import Place, PolicyState, WarehouseTag
from lineage.model.batch import JobKind
from lineage.model.names import column_key, dataset_of, is_column_key, split_column_key, split_dataset_key
from lineage.model.policies import PolicyAct, PolicyStatement, keeps_grants, last_name, made_anew, policies_from
from lineage.model.statement import ChangeKind
from lineage.store.protocol import GraphStore
from lineage.store.values import JobSelection, StoredColumn, StoredDataset, StoredJob

__all__ = ["Mask", "Protection", "WarehousePolicies", "WarehouseTag", "class_of_tag", "load_warehouse_policies"]

_READER = "reader:"
_GRANTS = (PolicyAct.GRANT, PolicyAct.REVOKE, PolicyAct.GRANT_UNMASK, PolicyAct.REVOKE_UNMASK)
_FAR = datetime.max.replace(tzinfo=UTC)
_LOGGED = (JobKind.DEFINITION, JobKind.DBT)
_SWITCHED = ("postgres",)
"""Dialects in which `CREATE POLICY` does nothing until the table has `ENABLE ROW LEVEL SECURITY`."""


@frozen
class Mask:
    """A policy that masks a column: for all but `roles`, if these are known (None: they are not).

    `behind` is the name of the column that has the policy, if it is one behind a view.
    """

    policy: str
    roles: tuple[str, ...] | None
    by_tag: str | None = None
    behind: str | None = None

    @property
    def text(self) -> str:
        """What it says, in words."""
        place = f" of {self.behind}" if self.behind else ""
        if self.roles is None:
            return f"by {self.policy}{place}, for whom is not known"
        but = f" but {', '.join(self.roles)}" if self.roles else ""
        return f"by {self.policy}{place}, for all{but}"


@frozen
class Protection:
    """What limits who sees a column: masks, policies that limit the rows, and who may read at all (if it is known)."""

    masks: tuple[Mask, ...] = ()
    rows: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()

    @property
    def is_masked(self) -> bool:
        """Whether a policy masks the values for some."""
        return bool(self.masks)

    def with_masks(self, masks: Collection[Mask]) -> Protection:
        """Return it with masks of other columns, behind a view, that are not its own as well."""
        own = {(one.policy, one.roles) for one in self.masks}
        more = [one for one in masks if (one.policy, one.roles) not in own]
        return replace(self, masks=(*self.masks, *more)) if more else self

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; roles are null where a policy does not say."""
        masks = [
            {
                "policy": one.policy, "seen_by": None if one.roles is None else list(one.roles), "by_tag": one.by_tag,
                "behind": one.behind,
            }
            for one in self.masks
        ]  # fmt: skip
        return {"masks": masks, "row_policies": list(self.rows), "granted_to": list(self.readers)}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it says, as short sentences."""
        found = [f"masked {one.text}" for one in self.masks]
        found += [f"rows limited by {', '.join(self.rows)}"] if self.rows else []
        return (*found, *([f"granted to {', '.join(self.readers)}"] if self.readers else []))


class WarehousePolicies:
    """The protection and the tags of columns as of now."""

    def __init__(
        self, state: PolicyState, columns: Iterable[StoredColumn], readers: Mapping[str, Collection[str]]
    ) -> None:
        """`readers` are the roles that a live database names, by the key of a dataset or column."""
        self._state = state
        self._readers = readers
        self._paths: dict[str, str] = {}
        named = {one.key for one in columns}
        for column in columns:
            for alias in column.aliases:  # it had that name when the statement was made
                if (
                    column_key(column.dataset, alias) not in named
                    and (column.dataset, column.path) not in state.columns
                ):
                    self._paths[column.key] = alias

    @property
    def is_empty(self) -> bool:
        """Whether nothing that was ingested says what the warehouse has: policies may be there all the same."""
        state = self._state
        return not (state.columns or state.rows or state.bodies or any(self._readers.values()))

    def protection(self, column: str) -> Protection:
        """Return what limits who sees a column, by its key."""
        dataset, path = self._named(column)
        state = self._state
        masks = [self._mask(dataset, path, policy) for policy in filter(None, [state.masks.get((dataset, path))])]
        tags = {**state.tags.get((dataset, ""), {}), **state.tags.get((dataset, path), {})}
        if not masks:  # a policy of the column itself comes first
            masks = [
                self._mask(dataset, path, policy, tag)
                for tag in sorted(tags)
                for policy in sorted(state.tag_masks.get(tag, ()))
            ]
        rows = tuple(sorted(state.rows.get(dataset, ()))) if state.limits_rows(dataset) else ()
        if not rows and state.switched.get(dataset):
            rows = ("row security, without a policy",)
        granted = state.grants.get((dataset, ""), set()) | state.grants.get((dataset, path), set())
        granted |= {*self._readers.get(dataset, ()), *self._readers.get(column, ())}
        return Protection(tuple(masks), rows, tuple(sorted(granted)))

    def tags(self, column: str) -> tuple[WarehouseTag, ...]:
        """Return the tags of a column itself in the warehouse, and those of its table."""
        dataset, path = self._named(column)
        tags = {**self._state.tags.get((dataset, ""), {}), **self._state.tags.get((dataset, path), {})}
        return tuple(tags[name] for name in sorted(tags))

    def grants(self, key: str) -> dict[str, datetime | None]:
        """Return the roles that may read a table as a whole, or a column by a grant of its own, each with since when.

        What a live database says has no time.
        """
        place = self._named(key) if is_column_key(key) else (key, "")
        found: dict[str, datetime | None] = dict.fromkeys(self._readers.get(key, ()))
        return found | {role: self._state.granted.get((place, role)) for role in self._state.grants.get(place, ())}

    def members(self, namespace: str) -> dict[str, set[str]]:
        """Return who has each role of a namespace, as far as it is stated: users, and other roles."""
        return {role: found for (where, role), found in self._state.members.items() if where == namespace and found}

    @property
    def tagged(self) -> dict[str, tuple[WarehouseTag, ...]]:
        """The columns that have tags of their own, by their key."""
        keys = {column_key(dataset, path) for (dataset, path), tags in self._state.tags.items() if path and tags}
        keys |= {key for key in self._paths if self._state.tags.get(self._named(key))}
        return {key: tuple(self._state.tags[self._named(key)].values()) for key in sorted(keys)}

    @property
    def mask_of_classes(self) -> Mapping[str, str]:
        """By the value or name of a tag: the policy that most columns with it have."""
        counts: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for (dataset, path), policy in self._state.masks.items():
            for tag in self._state.tags.get((dataset, path), {}).values():
                counts[class_of_tag(tag)][policy] += 1
        return {name: max(sorted(policies), key=policies.__getitem__) for name, policies in counts.items()}

    def _named(self, column: str) -> Place:
        dataset, path = split_column_key(column)
        return dataset, self._paths.get(column, path)

    def _mask(self, dataset: str, path: str, policy: str, tag: str | None = None) -> Mask:
        if policy.endswith("()"):  # SQL Server: whoever has UNMASK sees the value
            places = ((split_dataset_key(dataset)[0], ""), (dataset, ""), (dataset, path))
            return Mask(policy, tuple(sorted({role for place in places for role in self._state.unmask.get(place, ())})))
        body = self._state.bodies.get(policy)
        return Mask(policy, body.roles if body is not None and body.is_known else None, tag)


def class_of_tag(tag: WarehouseTag) -> str:
    """Return what may be the name of a class: the value, but if it says yes or nothing, the last part of the name."""
    value = (tag.value or "").lower()
    return value if value not in ("", "true", "yes") else tag.name.rpartition(".")[2].lower()


def load_warehouse_policies(store: GraphStore, columns: Collection[str] = ()) -> WarehousePolicies:
    """Return the policies of the warehouse; `columns` are the keys of those that will be asked for.

    Raises:
        StoreError: the store could not be read.
    """
    heads = store.select_jobs(JobSelection(kinds=(JobKind.POLICY,)))
    jobs = store.jobs([one.key for one in heads]) if heads else []
    datasets = {key for job in jobs for key in job.reads}
    state = _replayed(jobs, _ends(store, jobs, datasets))
    asked = {dataset_of(key) for key in columns} | datasets
    stored = store.columns(sorted(datasets)) if datasets else []
    others = set(columns) - {one.key for one in stored}
    stored += store.columns_by_key(others) if others else []
    nodes: list[StoredDataset | StoredColumn] = [*store.datasets(asked), *stored]
    readers = {one.key: [tag.removeprefix(_READER) for tag in one.tags if tag.startswith(_READER)] for one in nodes}
    return WarehousePolicies(state, stored, readers)


def _replayed(jobs: Iterable[StoredJob], ends: defaultdict[Place, list[_End]]) -> PolicyState:
    """Return what the statements of policies leave, in the order of their times."""
    state = PolicyState()
    stated = [(job, one) for job in jobs for one in policies_from(job.policies)]
    for job, one in sorted(stated, key=lambda pair: (pair[0].last_seen, pair[0].file_key or "", pair[1].order)):
        state.source, state.file = job.source or job.kind, job.file_key
        if job.dialect in _SWITCHED:
            state.needs_switch.update(job.reads)
        for dataset in job.reads or ("",):
            is_same = not any(end.at > job.first_seen for end in ends[dataset, ""])
            # Files say what is to be there, not since when.
            state.first_seen = job.first_seen if job.file_key is None and is_same else None
            over = [path for path in ("", *one.columns) if any(end.ends(job, one) for end in ends[dataset, path])]
            if "" not in over:
                state.apply(one, dataset, [path for path in one.columns if path not in over], job.last_seen)
    state.detach(state.dropped)
    return state


@frozen
class _End:
    """When a table or column was dropped or made anew; what was said before that is over.

    With `name` (the key of a dataset), a table took that name from another one: what was said of the other is over.
    """

    at: datetime
    keeps_grants: bool = False
    name: str | None = None

    def ends(self, job: StoredJob, statement: PolicyStatement) -> bool:
        """Return whether a statement does not hold any more."""
        if job.last_seen >= self.at or (self.name is not None and not job.key.endswith(f">{self.name}")):
            return False
        return not (self.keeps_grants and statement.act in _GRANTS)


def _ends(store: GraphStore, jobs: Iterable[StoredJob], datasets: Collection[str]) -> defaultdict[Place, list[_End]]:
    """Return when tables and columns with policies were dropped, or made anew according to a log.

    Files are no log: they say what is to be there, in any order.
    """
    ends: defaultdict[Place, list[_End]] = defaultdict(list)
    since = min((one.first_seen for one in jobs), default=None)
    if since is None or not datasets:
        return ends
    for change in store.dataset_changes(since, _FAR):
        if change.kind in (ChangeKind.DROP, ChangeKind.DROP_COLUMN) and change.dataset in datasets:
            ends[change.dataset, change.column or ""].append(_End(change.at))
    keys = {key for listed in store.job_keys_of(sorted(datasets)).values() for key in listed}
    for job in store.jobs(sorted(keys)):
        made = made_anew(job.sql, job.dialect) if job.kind in _LOGGED and job.sql else None
        for dataset in job.writes if made is not None else ():
            is_renamed = made != last_name(split_dataset_key(dataset)[1])
            end = _End(job.last_seen, keeps_grants(job.sql or ""), dataset if is_renamed else None)
            ends[dataset, ""].append(end)
    return ends

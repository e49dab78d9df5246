"""What the statements of a batch say of who may see what: a job for each file, or query template, and table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from lineage.model.batch import JobKind, JobRecord, policy_job_key
from lineage.model.dialect import Dialect
from lineage.model.policies import PolicyAct, PolicyStatement, policies_text
from lineage.model.statement import ChangeKind, StatementLineage, TableChange
from lineage.sql import mask_literals
from lineage_ingest.batch.attribution import Attribution

__all__ = ["BatchPolicies"]

_GRANTS = (PolicyAct.GRANT, PolicyAct.REVOKE, PolicyAct.GRANT_UNMASK, PolicyAct.REVOKE_UNMASK)


@dataclass(slots=True)
class _Stated:
    of: Attribution
    line: int | None
    policies: list[PolicyStatement] = field(default_factory=list)
    sql: list[str] = field(default_factory=list)


class BatchPolicies:
    """Collects what statements say, in order, by the names that tables have at the time."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._stated: dict[tuple[str, str | None], _Stated] = {}

    def add(self, statement: StatementLineage, of: Attribution, text: str) -> None:
        """Add what a statement says."""
        span = statement.span
        written = mask_literals(text[span.start : span.end], self._dialect) if span is not None else ""
        for policy in statement.policies:
            if of.file_key is None and policy.act is PolicyAct.DEFINE:  # its template has policies for other roles, too
                policy = replace(policy, roles=(), is_known=False)  # noqa: PLW2901
            if of.file_key is not None and span is not None:
                policy = replace(policy, order=span.start)  # noqa: PLW2901
            place = (of.file_key or of.key, policy.table)
            stated = self._stated.setdefault(place, _Stated(of, span.line if span else None))
            stated.policies.append(policy)
            if written not in stated.sql:
                stated.sql.append(written)

    def change(self, change: TableChange, file: str | None) -> None:
        """Apply a change of a table that a file makes: what was said follows names, and ends with the table or column.

        What another file says goes on: files say what is to be there, in any order.
        """
        if change.kind is ChangeKind.DROP:
            self.forget(change.table, file, keeps_grants=False)
        elif change.kind.of_column:
            for (_, table), stated in self._stated.items():
                if table == change.table and (change.other is not None or stated.of.file_key == file):
                    stated.policies = list(_with_column(stated.policies, str(change.column), change.other))
        elif change.other is not None and change.kind in (ChangeKind.RENAME, ChangeKind.SWAP):
            names = {change.table: str(change.other)}
            if change.kind is ChangeKind.SWAP:
                names[str(change.other)] = change.table
            before, self._stated = self._stated, {}
            for (origin, table), stated in before.items():
                place = (origin, names.get(table, table) if table is not None else None)
                known = self._stated.setdefault(place, stated)
                if known is not stated:
                    known.policies += stated.policies
                    known.sql += stated.sql

    def forget(self, table: str, file: str | None, *, keeps_grants: bool) -> None:
        """Forget what a file said of a table that it drops or replaces."""
        for (_, named), stated in self._stated.items():
            if named == table and stated.of.file_key == file:
                stated.policies = [one for one in stated.policies if keeps_grants and one.act in _GRANTS]

    @property
    def tables(self) -> list[str]:
        """The tables of which something is said, by their last names."""
        return [table for (_, table), stated in self._stated.items() if table is not None and stated.policies]

    def records(self, key_of: Callable[[str], str]) -> Iterator[JobRecord]:
        """Yield the jobs."""
        for (origin, table), stated in self._stated.items():
            if not stated.policies:
                continue
            dataset = key_of(table) if table is not None else None
            of = stated.of
            yield JobRecord(
                key=policy_job_key(origin, dataset),
                kind=JobKind.POLICY,
                first_seen=of.first_seen,
                last_seen=of.last_seen,
                reads=(dataset,) if dataset is not None else (),
                sql=";\n".join(stated.sql),
                dialect=self._dialect.name,
                source=of.source,
                source_line=stated.line if of.source and len(stated.sql) == 1 else None,
                operation="POLICY",
                file_key=of.file_key,
                policies=policies_text(stated.policies),
            )


def _with_column(policies: Iterable[PolicyStatement], column: str, other: str | None) -> Iterator[PolicyStatement]:
    """Yield statements with another name of a column, or without it."""
    for policy in policies:
        if column not in policy.columns:
            yield policy
        elif columns := tuple(filter(None, (other if path == column else path for path in policy.columns))):
            yield replace(policy, columns=columns)

"""What the statements of a batch say of who may see what: a job for each file, or query template, and table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from lineage.model.batch import JobKind, JobRecord, policy_job_key
from lineage.model.dialect import Dialect
from lineage.model.policies import PolicyAct, PolicyStatement, policies_text
from lineage.model.statement import StatementLineage
from lineage.sql import mask_literals
from lineage_ingest.batch.attribution import Attribution
from lineage_ingest.batch.renamed_tables import LaterNames

__all__ = ["BatchPolicies"]

_GRANTS = (PolicyAct.GRANT, PolicyAct.REVOKE, PolicyAct.GRANT_UNMASK, PolicyAct.REVOKE_UNMASK)


@dataclass(slots=True)
class _Stated:
    of: Attribution
    table: str | None
    line: int | None
    policies: list[PolicyStatement] = field(default_factory=list)
    sql: list[str] = field(default_factory=list)


class BatchPolicies:
    """Collects what statements say, in order. A table that is dropped or replaced in a file begins anew."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._stated: dict[tuple[str, str | None], _Stated] = {}

    def add(self, statement: StatementLineage, of: Attribution, text: str, later: LaterNames) -> Iterator[str]:
        """Add what a statement says; yield the tables that it names, by their last names."""
        span = statement.span
        written = mask_literals(text[span.start : span.end], self._dialect) if span is not None else ""
        for one in statement.policies:
            table = later.table(one.table) if one.table is not None else None
            if table is not None and one.table is not None:
                columns = tuple(later.column(one.table, path) for path in one.columns)
                one = replace(one, table=table, columns=columns)  # noqa: PLW2901  by its last names
                yield table
            if of.file_key is None and one.act is PolicyAct.DEFINE:  # its template has policies for other roles, too
                one = replace(one, roles=(), is_known=False)  # noqa: PLW2901
            origin = of.file_key or of.key
            stated = self._stated.setdefault((origin, table), _Stated(of, table, span.line if span else None))
            stated.policies.append(one)
            if written not in stated.sql:
                stated.sql.append(written)

    def forget(self, table: str, *, keeps_grants: bool) -> None:
        """Forget what was said of a table that is dropped or replaced."""
        for (_, named), stated in self._stated.items():
            if named == table:
                stated.policies = [one for one in stated.policies if keeps_grants and one.act in _GRANTS]

    def records(self, key_of: Callable[[str], str]) -> Iterator[JobRecord]:
        """Yield the jobs."""
        for (origin, table), stated in self._stated.items():
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

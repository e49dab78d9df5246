"""Files that define the same table or view: what both say is kept, with a diagnostic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage.model.batch import JobKind
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import DatasetKind, StatementLineage
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredJob
from lineage_ingest.renamed_tables import table_after

__all__ = ["find_duplicate_definitions", "find_stored_definitions"]

_HINT = "if they are different tables, say their schemas (--default-schema) or their namespaces (--namespace)"


def find_duplicate_definitions(
    statements: Mapping[str, Iterable[StatementLineage]], sources: Mapping[str, str]
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield a diagnostic for each file but the first that defines what others define, too, with the file's name.

    `statements` are those of each file, `sources` is how people call it. A definition that a later file drops or
    replaces has ended, and says so itself.
    """
    found: dict[str, dict[str, StatementLineage]] = {}
    for file, listed in statements.items():
        for statement in listed:
            name = table_after(statement)
            if name is not None and _lasts(statement):
                found.setdefault(name, {}).setdefault(file, statement)
    for name, by_file in found.items():
        if len(by_file) == 1:
            continue
        _, *others = by_file
        for file in others:
            rest = ", ".join(sources[one] for one in by_file if one != file)
            yield (
                file,
                _defined_twice(by_file[file], f"{name} is defined in {sources[file]} and in {rest}"),
            )


def find_stored_definitions(
    store: GraphStore,
    definitions: Iterable[tuple[str, StatementLineage]],
    sources: Mapping[str, str],
    elsewhere: Collection[str],
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield a diagnostic for each file that defines what a file does that was ingested before, with the file's name.

    `definitions` are the statements by the datasets that they define, `elsewhere` the keys of files that are ingested
    now or are gone.
    """
    defining = {(key, one.source or ""): one for key, one in definitions if _lasts(one)}
    if not defining:
        return
    found = store.job_keys_of({key for key, _ in defining}, JobFilter(kinds=(JobKind.SQL_FILE,)))
    others: dict[str, dict[str, None]] = defaultdict(dict)
    for job in store.jobs({job for jobs in found.values() for job in jobs}):
        # One from before files had projects is taken over, or a notice says how to end it.
        if job.file_key is not None and job.file_key not in elsewhere and _defines(job):
            for key in job.writes:
                others[key][_named(job)] = None
    for (key, file), statement in defining.items():
        if others.get(key):
            name = statement.target or key
            rest = ", ".join(others[key])
            yield file, _defined_twice(statement, f"{name} is defined in {sources[file]} and in {rest}")


def _defines(job: StoredJob) -> bool:
    return (job.operation or "").startswith(("CREATE", "SELECT"))


def _named(job: StoredJob) -> str:
    return f"{job.path} of project {job.project}" if job.project else str(job.path)


def _defined_twice(statement: StatementLineage, message: str) -> Diagnostic:
    kept = f"{message}: the lineage of all of them is kept"
    return Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, kept, statement.span, _HINT)


def _lasts(statement: StatementLineage) -> bool:
    replaced = any(one.code is DiagnosticCode.REPLACED_LATER for one in statement.diagnostics)
    return statement.defines and statement.target_kind is not DatasetKind.TEMPORARY and not replaced

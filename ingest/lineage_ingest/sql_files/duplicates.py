"""Files and statements that define the same table or view: the lineage of both is kept, with a diagnostic."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage.model.batch import JobKind, file_of_job
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.statement import ChangeKind, DatasetKind, StatementLineage
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredJob
from lineage_ingest.batch.renamed_tables import table_after

__all__ = ["find_duplicate_definitions", "find_idle_definitions", "find_stored_definitions"]

_ENDS = (ChangeKind.DROP, ChangeKind.RENAME, ChangeKind.SWAP)
_UNLESS_THERE = re.compile(r"\bcreate\b[^();]*?\bif\s+not\s+exists\b", re.IGNORECASE)
_HINT = "if they are different tables, give their schemas (--default-schema) or their namespaces (--namespace)"


def find_duplicate_definitions(
    statements: Mapping[str, Iterable[StatementLineage]], sources: Mapping[str, str]
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield a diagnostic, with the file's name, for each file but the first that defines the same table or view.

    `statements` and `sources` (display names) are by file. A definition that a later file drops or replaces has its
    own diagnostic.
    """
    found: dict[str, dict[str, StatementLineage]] = {}
    for file, listed in statements.items():
        for statement in listed:
            name = table_after(statement)
            if name is not None and _is_permanent(statement):
                found.setdefault(name, {}).setdefault(file, statement)
    for name, by_file in found.items():
        if len(by_file) == 1:
            continue
        _, *others = by_file
        for file in others:
            rest = ", ".join(sources[one] for one in by_file if one != file)
            yield (
                file,
                _duplicate(by_file[file], f"{name} is defined in {sources[file]} and in {rest}"),
            )


def find_idle_definitions(statements: Iterable[StatementLineage], text: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each CREATE … IF NOT EXISTS of a file that finds what the file has made before.

    It makes nothing then, which the file alone does not prove: a statement between may have failed.
    """
    made: set[str] = set()
    for statement in statements:
        made -= {change.table for change in statement.changes if change.kind in _ENDS}
        name, span = table_after(statement), statement.span
        if name is None or span is None or not _is_permanent(statement):
            continue
        if name in made and statement.sources and _UNLESS_THERE.search(text, span.start, span.end):
            message = f"{name} is created before in this file: IF NOT EXISTS leaves it, and the lineage of both is kept"
            yield Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message, span, "remove one of them")
        made.add(name)


def find_stored_definitions(
    store: GraphStore,
    definitions: Iterable[tuple[str, StatementLineage]],
    sources: Mapping[str, str],
    elsewhere: Collection[str],
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield a diagnostic, with the file's name, for each file that defines a dataset of a file ingested earlier.

    `definitions` are pairs of dataset and defining statement; `elsewhere` are the keys of files that are part of this
    ingest or no longer exist.
    """
    defining = {(key, one.source or ""): one for key, one in definitions if _is_permanent(one)}
    if not defining:
        return
    found = store.job_keys_of({key for key, _ in defining}, JobFilter(kinds=(JobKind.SQL_FILE,)))
    others: dict[str, dict[str, None]] = defaultdict(dict)
    jobs = {job for listed in found.values() for job in listed}
    for job in store.jobs({job for job in jobs if file_of_job(job) not in elsewhere}):
        if job.file_key is not None and job.file_key not in elsewhere and _defines(job):
            for key in job.writes:
                others[key][_display_name(job)] = None
    for (key, file), statement in defining.items():
        if others.get(key):
            name = statement.target or key
            rest = ", ".join(others[key])
            yield file, _duplicate(statement, f"{name} is defined in {sources[file]} and in {rest}")


def _defines(job: StoredJob) -> bool:
    return (job.operation or "").startswith(("CREATE", "SELECT"))


def _display_name(job: StoredJob) -> str:
    return f"{job.path} of project {job.project}" if job.project else str(job.path)


def _duplicate(statement: StatementLineage, message: str) -> Diagnostic:
    kept = f"{message}: the lineage of all of them is kept"
    return Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, kept, statement.span, _HINT)


def _is_permanent(statement: StatementLineage) -> bool:
    replaced = any(one.code is DiagnosticCode.REPLACED_LATER for one in statement.diagnostics)
    return statement.defines and statement.target_kind is not DatasetKind.TEMPORARY and not replaced

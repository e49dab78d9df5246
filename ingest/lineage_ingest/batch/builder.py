"""Build a batch (datasets, jobs, edges, diagnostics) from the lineage of statements. Every ingest of SQL uses it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from lineage.catalog import Catalog
from lineage.model.batch import DatasetRecord, DiagnosticRecord, EdgeRecord, LineageBatch, RunRecord
from lineage.model.diagnostics import Diagnostic
from lineage.model.names import ColumnPath, Naming
from lineage.model.policies import keeps_grants, loses_policies
from lineage.model.statement import (
    ChangeKind,
    ColumnRef,
    Completeness,
    DatasetKind,
    Edge,
    StatementLineage,
    TableChange,
)
from lineage_ingest.batch.attribution import Attribute, Attribution, FileOrigin, of_files
from lineage_ingest.batch.records.changes import changes_in_order
from lineage_ingest.batch.records.datasets import BatchDatasets
from lineage_ingest.batch.records.diagnostics import BatchDiagnostics
from lineage_ingest.batch.records.edges import BatchEdges
from lineage_ingest.batch.records.job_sql import StatedJob
from lineage_ingest.batch.records.policy_jobs import BatchPolicies
from lineage_ingest.batch.records.uses import Use, use_of
from lineage_ingest.batch.renamed_tables import LaterNames, compose_names, table_after

__all__ = ["Attribution", "BatchBuilder", "FileOrigin", "Use", "of_files"]

_COUNTED = {
    "resolved": Completeness.FULL,
    "partial": Completeness.PARTIAL,
    "tables_only": Completeness.TABLES,
    "unresolved": Completeness.NONE,
}


class BatchBuilder:
    """Collects statements, attributed to jobs."""

    def __init__(
        self,
        naming: Naming,
        catalog: Catalog,
        at: datetime,
        attribute: Attribute,
        source: str | None = None,
        files: Mapping[str, FileOrigin] | None = None,
        *,
        with_uses: bool = True,
    ) -> None:
        """Start a batch. `source` is the source of its diagnostics; by default, that is the name of the text.

        `files` are the files that the texts are in, by the names of the texts. `with_uses` collects `uses`.
        """
        self._naming = naming
        self._catalog = catalog.qualified(naming)
        self._at = at
        self._attribute = attribute
        self._files = files or {}
        self._texts: dict[str, str] = {}
        """The texts of the statements that are being added, by name."""
        self._datasets = BatchDatasets(naming)
        self._edges = BatchEdges(self._datasets, naming.dialect, self._texts, self._files)
        self._diagnostics = BatchDiagnostics(source, self._files)
        self._jobs: dict[str, StatedJob] = {}
        self._changes: list[tuple[TableChange, datetime]] = []
        self._policies = BatchPolicies(naming.dialect)
        self._sources: list[str] = []
        self._removed: list[str] = []
        self._with_uses = with_uses
        self._statements: list[StatementLineage] = []
        self._waiting: list[tuple[Mapping[str, str], list[StatementLineage]]] = []
        """Texts and their statements, until all are known: a later file may rename what an earlier one names."""
        self.uses: list[Use] = []
        """What each statement that reads or writes does, in order."""

    def add_file(self, name: str, text: str, statements: Iterable[StatementLineage]) -> None:
        """Add the statements of one file; their spans are positions in its text."""
        self._sources.append(self._files[name].key if name in self._files else name)
        self.add_texts({name: text}, statements)

    def add_texts(self, texts: Mapping[str, str], statements: Iterable[StatementLineage]) -> None:
        """Add statements in the order in which they ran; `source` names the text of a statement's spans."""
        self._waiting.append((texts, list(statements)))

    def add_gone_file(self, key: str) -> None:
        """Add a file that no longer exists: it has no statements."""
        self._removed.append(key)

    def add_diagnostic(self, source: str, diagnostic: Diagnostic) -> None:
        """Add a diagnostic about a whole file."""
        self._diagnostics.add(source, [diagnostic])

    def targets(self) -> set[str]:
        """Return the keys of the datasets that statements write."""
        self._add_waiting()
        return {key for job in self._jobs.values() for key in job.writes}

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """The diagnostics so far: those of whole files at once, those of statements once these are looked at."""
        return tuple(self._diagnostics.records)

    def counts_by_text(self) -> dict[str, dict[str, int]]:
        """Return the number of statements of each text, and how many of them were resolved how far."""
        self._add_waiting()
        counts = {name: dict.fromkeys(("statements", *_COUNTED), 0) for name in self._files}
        levels = {level: name for name, level in _COUNTED.items()}
        for statement in self._statements:
            own = counts[statement.source or ""]
            own["statements"] += 1
            own[levels[statement.completeness]] += 1
        return counts

    def keys_by_name(self) -> dict[str, str]:
        """Return the keys of the datasets of the batch, by the names that statements use."""
        return self._datasets.keys_by_name()

    def definitions(self) -> Iterator[tuple[str, StatementLineage]]:
        """Yield the statements that define datasets, each with the dataset's key."""
        self._add_waiting()
        for job in self._jobs.values():
            for statement in job.statements:
                if statement.defines:
                    yield from ((key, statement) for key in job.writes)

    def batch(self, kind: str, source: str, content: Iterable[str], seconds: float | None = None) -> LineageBatch:
        """Return the batch. `content` identifies it: the run's key is its hash."""
        self._add_waiting()
        for table in self._catalog:
            self._datasets.add_schema(table)
        for name in self._policies.tables:
            self._datasets.add(name)
        policies = tuple(self._policies.records(self._datasets.key_of))
        datasets = self._datasets.records()
        for job in self._jobs.values():
            job.append_earlier()
        jobs = tuple(job.record(self._naming.dialect) for job in self._jobs.values())
        edges = self._edges.records(self._jobs.values(), self._diagnostics)
        digest = hashlib.sha256("\x1f".join((kind, *content)).encode()).hexdigest()[:24]
        return LineageBatch(
            run=RunRecord(f"{kind}:{digest}", kind, source, self._at, self._counts(datasets, edges), seconds),
            datasets=datasets,
            jobs=(*jobs, *policies),
            edges=edges,
            changes=tuple(changes_in_order(self._changes, self._datasets.key_of)),
            diagnostics=tuple(self._diagnostics.records),
            complete_sources=(*self._sources, *self._removed),
        )

    def _counts(self, datasets: Collection[DatasetRecord], edges: Collection[EdgeRecord]) -> dict[str, int]:
        statements = self._statements
        return {
            "files": len(self._sources),
            "statements": len(statements),
            **{name: sum(s.completeness is level for s in statements) for name, level in _COUNTED.items()},
            "diagnostics": len(self._diagnostics.records),
            "tables": len(datasets),
            "columns": sum(len(dataset.columns) for dataset in datasets),
            "edges": sum(not edge.of_rows for edge in edges),
        }

    def _add_waiting(self) -> None:
        names, left = compose_names([statement for _, listed in self._waiting for statement in listed])
        together = iter(zip(names, left, strict=True))
        self._texts.update((name, text) for texts, _ in self._waiting for name, text in texts.items())
        for texts, listed in self._waiting:
            for statement in listed:
                later, changes = next(together)
                name = statement.source or ""
                at = self._attribute(statement, None).last_seen if statement.changes or statement.altered else self._at
                self._changes.extend((change, at) for change in changes)
                self._statements.append(statement)
                self._add(name, texts[name], _to_own_target(statement), later, at)
                for one in _to_other_targets(statement):
                    self._add(name, texts[name], one, later)
                for change in statement.changes:
                    if change.kind is ChangeKind.DROP:
                        self._datasets.end(later.table(change.table))
                self._add_policies(statement, texts[name])
        self._waiting.clear()
        self._texts.clear()

    def _add_policies(self, statement: StatementLineage, text: str) -> None:
        """Add what a statement says of who may see what; a table that is dropped or replaced has no policies left."""
        written = _text_of(statement, text)
        replaces = statement.defines and loses_policies(written, self._naming.dialect.name)
        if not (statement.changes or statement.policies or replaces):
            return
        of = self._attribute(statement, None)
        for change in statement.changes:
            self._policies.change(change, of.file_key)
        if replaces and statement.target is not None:
            self._policies.forget(statement.target, of.file_key, keeps_grants=keeps_grants(written))
        if statement.policies:
            self._policies.add(statement, of, text)

    def _add(
        self, source: str, text: str, statement: StatementLineage, later: LaterNames, at: datetime | None = None
    ) -> None:
        """Add a statement whose edges all end in its target."""
        name = table_after(statement)
        target = later.table(name) if name is not None and statement.target_kind is not DatasetKind.TEMPORARY else None
        if target is not None:
            self._datasets.alter(target, statement, later, at)
        if (statement.changes and not statement.edges) or (name is None and not statement.sources):  # belongs to no job
            if statement.spells:
                self._datasets.spell_tables(statement, later)
            self._diagnostics.add(source, statement.diagnostics)
            return
        output = self._datasets.key_of(target) if target is not None else None
        job = self._job_of(statement, output)
        self._diagnostics.add(source, statement.diagnostics, job.of.key)
        offset = job.add_text(text, statement, self._naming.dialect)
        self._add_reads(job, statement, later)
        if self._with_uses:
            self.uses.append(use_of(statement, source, job.of.key, output, later, self._datasets.key_of))
        if target is not None:
            self._datasets.add(target)
        if self._naming.dialect.shows_tables:
            self._datasets.spell_tables(statement, later)
        if target is not None and output is not None:
            job.writes.setdefault(output)
            self._datasets.add_output(target, statement, later, _text_of(statement, text))
            self._edges.add(job, statement, output, later, offset)

    def _job_of(self, statement: StatementLineage, output: str | None) -> StatedJob:
        """Return the job that the statement belongs to, with the statement added to it."""
        of = self._attribute(statement, output)
        job = self._jobs.get(of.key)
        if job is None:
            job = self._jobs[of.key] = StatedJob(of)
        job.statements.append(statement)
        return job

    def _add_reads(self, job: StatedJob, statement: StatementLineage, later: LaterNames) -> None:
        for name in statement.sources:
            table = later.table(name)
            job.reads.setdefault(self._datasets.key_of(table))
            self._datasets.add(table)
        for reference in statement.inferred:
            self._datasets.add_inferred(reference, later)


def _text_of(statement: StatementLineage, text: str) -> str:
    return text[statement.span.start : statement.span.end] if statement.span is not None else ""


def _to_own_target(statement: StatementLineage) -> StatementLineage:
    """Return the statement with only the edges into its target."""
    own = [edge for edge in statement.edges if edge.target.table == statement.target]
    rows = tuple(one for one in statement.row_references if one.target.table == statement.target)
    return replace(statement, edges=own, row_references=rows)


def _to_other_targets(statement: StatementLineage) -> Iterator[StatementLineage]:
    """Yield, for each other table that the statement writes, the statement with the edges into that table."""
    others: dict[str, list[Edge]] = defaultdict(list)
    for edge in statement.edges:
        if edge.target.table not in (None, statement.target):
            others[str(edge.target.table)].append(edge)
    for target, edges in others.items():
        if target in statement.temporary:
            continue
        columns = dict.fromkeys(edge.target.column for edge in edges if isinstance(edge.target, ColumnRef))
        yield replace(
            statement,
            target=target,
            target_kind=DatasetKind.TABLE,
            edges=edges,
            row_references=tuple(one for one in statement.row_references if one.target.table == target),
            output_columns=[ColumnPath.parse(column).name for column in columns],
            schema=(),
            diagnostics=[],
        )

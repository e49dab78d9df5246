"""Edges of a batch: from what a statement reads to what it writes, by keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lineage.model.batch import EdgeRecord
from lineage.model.diagnostics import Diagnostic
from lineage.model.dialect import Dialect
from lineage.model.influence.transformations import EdgeKind
from lineage.model.names import column_key, dataset_of
from lineage.model.statement import ColumnRef, Edge, RowReference, StatementLineage, TableRef
from lineage.sql import mask_literals
from lineage_ingest.batch.attribution import FileOrigin
from lineage_ingest.batch.composition import DECLARES, edges_past, merged_edge
from lineage_ingest.batch.records.datasets import BatchDatasets
from lineage_ingest.batch.records.diagnostics import BatchDiagnostics
from lineage_ingest.batch.records.job_sql import EarlierText, StatedJob
from lineage_ingest.batch.renamed_tables import LaterNames, is_gone, last_path

__all__ = ["BatchEdges"]


class BatchEdges:
    """Adds the edges of statements to their jobs, and returns those of the batch."""

    def __init__(
        self, datasets: BatchDatasets, dialect: Dialect, texts: Mapping[str, str], files: Mapping[str, FileOrigin]
    ) -> None:
        """Start without edges.

        `texts` are the texts of the statements that are being added, `files` the files that they are in, both by the
        names of the texts.
        """
        self._datasets = datasets
        self._dialect = dialect
        self._texts = texts
        self._files = files
        self._dropped: dict[str, str] = {}
        """Columns that statements name and a later one drops, by a key that no dataset record has: their last key."""
        self._declared: set[str] = set()
        """The tables that are created without a query: others may have filled them."""

    def add(self, job: StatedJob, statement: StatementLineage, output: str, later: LaterNames, offset: int) -> None:
        """Add the edges of a statement to its job.

        `output` is the key of the dataset that it writes; `offset` maps its spans to the job's SQL.
        """
        if statement.operation == DECLARES:
            self._declared.add(output)
        for edge in statement.edges:
            self._add_edge(job, edge, output, later, offset)
        for reference in statement.row_references:
            self._add_row_reference(job, reference, output, later, offset)

    def records(self, jobs: Iterable[StatedJob], diagnostics: BatchDiagnostics) -> tuple[EdgeRecord, ...]:
        """Return the edges of all jobs; paths through columns that are dropped later become direct edges.

        A dropped column that was read stays if others may have filled its table.
        """
        edges = [edge for job in jobs for edge in _edges_of(job, diagnostics)]
        if not self._dropped:
            return tuple(edges)
        read = {edge.source for edge in edges if self._dropped.get(edge.target) != self._dropped.get(edge.source)}
        staying = {
            key: last for key, last in self._dropped.items() if key in read and dataset_of(key) in self._declared
        }
        if staying:
            edges = [
                replace(e, source=staying.get(e.source, e.source), target=staying.get(e.target, e.target))
                for e in edges
            ]
        dropped = self._dropped.keys() - staying
        merged: dict[tuple[str, str, EdgeKind, str, str], EdgeRecord] = {}
        kept = (edge for edge in edges if edge.source not in dropped and edge.target not in dropped)
        into = (edge for edge in edges if edge.target in dropped)
        out_of = (edge for edge in edges if edge.source in dropped and edge.target not in dropped)
        for edge in (*kept, *edges_past(into, out_of, dropped.__contains__)):
            key = (edge.source, edge.target, edge.kind, edge.job, edge.output)
            merged[key] = merged_edge(merged[key], edge) if key in merged else edge
        return tuple(merged.values())

    def _add_edge(self, job: StatedJob, edge: Edge, output: str, later: LaterNames, offset: int) -> None:
        source, target = edge.source, edge.target
        if source.table is None:
            return
        table, path = later.table(source.table), later.column(source.table, source.column)
        self._datasets.add(table)
        end = self._target_key(target, output, later)
        key = (self._column_key(self._datasets.key_of(table), path), end, edge.kind, output)
        self._add_earlier(job, edge)
        job.edges[key].append((edge, offset))

    def _add_row_reference(
        self, job: StatedJob, reference: RowReference, output: str, later: LaterNames, offset: int
    ) -> None:
        if reference.source.table is None:
            return
        table = later.table(reference.source.table)
        source = self._datasets.key_of(table)
        if source == output:  # after a rename: a table always decides its own rows
            return
        self._datasets.add(table)
        end = self._target_key(reference.target, output, later)
        edge = reference.as_edge()
        self._add_earlier(job, edge)
        job.edges[source, end, EdgeKind.REFERENCES, output].append((edge, offset))

    def _target_key(self, target: ColumnRef | TableRef, output: str, later: LaterNames) -> str:
        if isinstance(target, ColumnRef):
            return self._column_key(output, later.column(target.table or "", target.column))
        return output

    def _column_key(self, dataset: str, path: str) -> str:
        key = column_key(dataset, path)
        if is_gone(path):
            self._dropped[key] = column_key(dataset, last_path(path))
        return key

    def _add_earlier(self, job: StatedJob, edge: Edge) -> None:
        """Add the statements that created the temporary tables of an edge to the SQL of a file's job."""
        for statement in (each for before in edge.earlier for each in before.in_order()) if job.of.source else ():
            if statement.key not in job.earlier and (text := self._texts.get(statement.source)) is not None:
                masked = mask_literals(text[statement.span.start : statement.span.end], self._dialect)
                is_of_file = job.of.file_key is None or self._file_key(statement.source) == job.of.file_key
                job.earlier[statement.key] = EarlierText(masked, statement.span, is_of_file)

    def _file_key(self, text: str) -> str | None:
        file = self._files.get(text)
        return file.key if file is not None else None


def _edges_of(job: StatedJob, diagnostics: BatchDiagnostics) -> Iterator[EdgeRecord]:
    misplaced: list[Diagnostic] = []
    yield from job.edge_records(misplaced)
    diagnostics.add_of_job(job.of.key, job.of.source, misplaced)

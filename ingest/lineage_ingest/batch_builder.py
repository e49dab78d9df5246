"""From statements to a batch: datasets, jobs, edges with keys. Every way in ends here."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum

from lineage.catalog import Catalog
from lineage.model.batch import (
    ColumnRecord,
    DatasetChange,
    DatasetRecord,
    DiagnosticRecord,
    EdgeRecord,
    LineageBatch,
    RunRecord,
)
from lineage.model.diagnostics import Diagnostic
from lineage.model.names import (
    ColumnPath,
    Naming,
    column_key,
    column_text,
    dataset_key,
    path_spelling,
    plain_name,
    split_location,
)
from lineage.model.spelling import Spelled, spelling_of
from lineage.model.statement import (
    ChangeKind,
    ColumnRef,
    Completeness,
    DatasetKind,
    Edge,
    RowReference,
    StatementLineage,
    TableChange,
)
from lineage.model.transformations import EdgeKind
from lineage.sql import mask_literals
from lineage_ingest.attribution import Attribute, Attribution, FileOrigin, Use, of_files
from lineage_ingest.composition import edges_past, merged_edge
from lineage_ingest.job_sql import EarlierText, StatedJob
from lineage_ingest.renamed_tables import LaterNames, compose_names, is_gone, table_after

__all__ = ["Attribution", "BatchBuilder", "FileOrigin", "Use", "of_files"]

_COUNTED = {
    "resolved": Completeness.FULL,
    "partial": Completeness.PARTIAL,
    "tables_only": Completeness.TABLES,
    "unresolved": Completeness.NONE,
}
_STAR = "*"


class _SpelledBy(IntEnum):
    """What says how a name is written; what is greater counts before the rest."""

    NOTHING = 0
    REFERENCE = 1
    CATALOG = 2
    DEFINITION = 3


@dataclass(slots=True)
class _Dataset:
    kind: DatasetKind = DatasetKind.TABLE
    columns: dict[str, ColumnRecord] = field(default_factory=dict)
    schema_known: bool = False
    is_target: bool = False
    at: datetime | None = None
    """When an ALTER TABLE last said what its columns are."""
    spelling: str | None = None
    spelled_by: _SpelledBy = _SpelledBy.NOTHING


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
    ) -> None:
        """Begin a batch; `source` is what diagnostics name, where that is not the name of the text.

        `files` are the files that texts stand in, by the names of the texts.
        """
        self._naming = naming
        self._catalog = catalog.completed(naming)
        self._at = at
        self._attribute = attribute
        self._source = source
        self._files = files or {}
        self._keys: dict[str, str] = {}
        self._datasets: dict[str, _Dataset] = {}
        self._jobs: dict[str, StatedJob] = {}
        self._changes: list[tuple[TableChange, datetime]] = []
        self._diagnostics: list[DiagnosticRecord] = []
        self._sources: list[str] = []
        self._gone: list[str] = []
        self._statements: list[StatementLineage] = []
        self._earlier_paths: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
        """By table and column, what the column was called before the batch renamed it."""
        self._waiting: list[tuple[Mapping[str, str], list[StatementLineage]]] = []
        """Texts and their statements: what a later file renames is known when all are there."""
        self._texts: dict[str, str] = {}
        """The texts of the statements that are being added, by name."""
        self._gone_columns: set[str] = set()
        """Keys of columns that statements name and a later one drops: they are in no record."""
        self.uses: list[Use] = []
        """What each statement that reads or writes does, in order."""

    def add_file(self, name: str, text: str, statements: Iterable[StatementLineage]) -> None:
        """Add the statements of one file, whose text their spans lie in."""
        self._sources.append(self._files[name].key if name in self._files else name)
        self.add_texts({name: text}, statements)

    def add_texts(self, texts: Mapping[str, str], statements: Iterable[StatementLineage]) -> None:
        """Add statements that ran one after the other; `source` names the text that a statement's spans lie in."""
        self._waiting.append((texts, list(statements)))

    def _add_waiting(self) -> None:
        names, left = compose_names([statement for _, listed in self._waiting for statement in listed])
        together = iter(zip(names, left, strict=True))
        self._texts = {name: text for texts, _ in self._waiting for name, text in texts.items()}
        for texts, listed in self._waiting:
            for statement in listed:
                later, changes = next(together)
                name = statement.source or ""
                at = self._attribute(statement, None).last_seen if statement.changes or statement.altered else self._at
                self._changes.extend((change, at) for change in changes)
                own = [edge for edge in statement.edges if edge.target.table == statement.target]
                rows = tuple(one for one in statement.row_references if one.target.table == statement.target)
                self._statements.append(statement)
                self._add(name, texts[name], replace(statement, edges=own, row_references=rows), later, at)
                self._besides(name, texts[name], statement, later)
        self._waiting.clear()
        self._texts = {}

    def add_gone_file(self, key: str) -> None:
        """Add a file that is no longer there: it states nothing."""
        self._gone.append(key)

    def add_diagnostic(self, source: str, diagnostic: Diagnostic) -> None:
        """Add a finding about a whole file."""
        self._diagnostics.append(self._finding(diagnostic, source))

    def _finding(self, diagnostic: Diagnostic, text: str, job: str | None = None) -> DiagnosticRecord:
        """Return a finding in a text."""
        file = self._files.get(text)
        if file is not None:
            return DiagnosticRecord(diagnostic, file.source, job, file.key)
        return DiagnosticRecord(diagnostic, self._source or text, job)

    def targets(self) -> set[str]:
        """Return the keys of the datasets that statements write."""
        self._add_waiting()
        return {key for job in self._jobs.values() for key in job.writes}

    def definitions(self) -> Iterator[tuple[str, StatementLineage]]:
        """Yield the statements that define datasets, each with the dataset's key."""
        self._add_waiting()
        for job in self._jobs.values():
            for statement in job.statements:
                if statement.defines:
                    yield from ((key, statement) for key in job.writes)

    def batch(self, kind: str, source: str, content: Iterable[str], seconds: float | None = None) -> LineageBatch:
        """Return the batch. `content` is what makes it this batch and no other: its hash is the run's key."""
        self._add_waiting()
        for table in self._catalog:
            self._know(table.name, ColumnRecord.of_schema(table.columns))
            spelling = table.name.spelling if isinstance(table.name, Spelled) else None
            self._spell(table.name, spelling, _SpelledBy.CATALOG)
        datasets = tuple(self._record(name, dataset) for name, dataset in sorted(self._datasets.items()))
        for job in self._jobs.values():
            job.append_earlier()
        jobs = tuple(job.record(self._naming.dialect) for job in self._jobs.values())
        edges = self._all_edges()
        statements = self._statements
        counts = {
            "files": len(self._sources),
            "statements": len(statements),
            **{name: sum(s.completeness is level for s in statements) for name, level in _COUNTED.items()},
            "diagnostics": len(self._diagnostics),
            "tables": len(datasets),
            "columns": sum(len(dataset.columns) for dataset in datasets),
            "edges": sum(not edge.of_rows for edge in edges),
        }
        digest = hashlib.sha256("\x1f".join((kind, *content)).encode()).hexdigest()[:24]
        return LineageBatch(
            run=RunRecord(f"{kind}:{digest}", kind, source, self._at, counts, seconds),
            datasets=datasets,
            jobs=jobs,
            edges=edges,
            changes=tuple(self._changes_in_order()),
            diagnostics=tuple(self._diagnostics),
            complete_sources=(*self._sources, *self._gone),
        )

    def _all_edges(self) -> tuple[EdgeRecord, ...]:
        """Return the edges of all jobs; what was read of columns that are dropped since comes from behind them."""
        edges = [edge for job in self._jobs.values() for edge in self._edges(job)]
        if not self._gone_columns:
            return tuple(edges)
        gone = self._gone_columns
        merged: dict[tuple[str, str, EdgeKind, str, str], EdgeRecord] = {}
        kept = (edge for edge in edges if edge.source not in gone and edge.target not in gone)
        made = (edge for edge in edges if edge.target in gone)
        read = (edge for edge in edges if edge.source in gone and edge.target not in gone)
        for edge in (*kept, *edges_past(made, read, gone.__contains__)):
            key = (edge.source, edge.target, edge.kind, edge.job, edge.output)
            merged[key] = merged_edge(merged[key], edge) if key in merged else edge
        return tuple(merged.values())

    # One statement

    def _add(
        self, source: str, text: str, statement: StatementLineage, later: LaterNames, at: datetime | None = None
    ) -> None:
        named_then = table_after(statement)
        target = later.table(named_then) if named_then is not None else None
        is_stored = target is not None and statement.target_kind is not DatasetKind.TEMPORARY
        if is_stored and target is not None:
            self._note_earlier_paths(target, statement, later, at)
        if is_stored and target is not None and (statement.altered or (statement.changes and statement.schema)):
            self._alter(target, statement, later, at)
        # nothing that a job would hold
        if (statement.changes and not statement.edges) or (target is None and not statement.sources):
            if statement.spells:
                self._spell_tables(statement, later)
            self._diagnostics.extend(self._finding(diagnostic, source) for diagnostic in statement.diagnostics)
            return
        end = self._table_key(target) if is_stored and target is not None else None
        of = self._attribute(statement, end)
        job = self._jobs.setdefault(of.key, StatedJob(of))
        job.statements.append(statement)
        self._diagnostics.extend(self._finding(diagnostic, source, of.key) for diagnostic in statement.diagnostics)
        offset = job.add_text(text, statement, self._naming.dialect)
        for name in statement.sources:
            full = later.table(name)
            job.reads.setdefault(self._table_key(full))
            self._datasets.setdefault(full, _Dataset())
        for reference in statement.inferred:
            if reference.table is not None:
                path = later.column(reference.table, reference.column)
                spelling = reference.column.spelling if isinstance(reference.column, Spelled) else None
                self._infer(later.table(reference.table), path, spelling_of(path, spelling))
        self.uses.append(self._use(source, of.key, statement, end, later))
        if is_stored and target is not None:
            self._datasets.setdefault(target, _Dataset())
        if self._naming.dialect.shows_tables:
            self._spell_tables(statement, later)
        if end is None or target is None:
            return
        job.writes.setdefault(end)
        dataset = self._datasets[target]
        dataset.is_target = True
        if statement.defines:
            dataset.kind = statement.target_kind
        named = ((later.column(str(named_then), column_text(name)), name) for name in statement.output_columns)
        paths = [(str(path), path_spelling(name, path)) for path, name in named if not is_gone(path)]
        if statement.schema and not statement.altered:
            self._know(target, self._columns(statement, later))
        for position, (path, spelling) in enumerate(paths):
            if not dataset.schema_known:
                place = position if statement.defines else None
                known = dataset.columns.setdefault(path, ColumnRecord(path, None, place, True, spelling=spelling))
                if statement.defines and known.spelling != spelling:
                    dataset.columns[path] = replace(known, spelling=spelling)
        for edge in statement.edges:
            self._add_edge(job, edge, end, later, offset)
        for decided in statement.row_references:
            self._add_row_reference(job, decided, end, later, offset)

    def _note_earlier_paths(
        self, target: str, statement: StatementLineage, later: LaterNames, at: datetime | None
    ) -> None:
        table = str(table_after(statement))
        for change in statement.changes:
            if change.kind is ChangeKind.RENAME_COLUMN and change.column is not None and change.other is not None:
                path = later.column(table, change.other)
                if is_gone(path):
                    continue
                self._earlier_paths[target][path][change.column] = None
                dataset = self._datasets.setdefault(target, _Dataset())
                dataset.at = at
                spelling = path_spelling(change.other, path)
                dataset.columns.setdefault(path, ColumnRecord(str(path), inferred=True, spelling=spelling))

    def _columns(self, statement: StatementLineage, later: LaterNames) -> list[ColumnRecord]:
        """Return the columns that a statement says its target has, as they are called in the end."""
        table = str(table_after(statement))
        return [
            column if path == column.path else replace(column, path=path, spelling=spelling_of(path, column.spelling))
            for column in ColumnRecord.of_schema(statement.schema)
            if not is_gone(path := later.column(table, column.path))
        ]

    def _alter(self, target: str, statement: StatementLineage, later: LaterNames, at: datetime | None) -> None:
        """Take in what an ALTER TABLE leaves of its target's columns; of an unknown table, what it says of some."""
        dataset = self._datasets.setdefault(target, _Dataset())
        dataset.at = at
        table = str(table_after(statement))
        known = dataset.columns
        if statement.schema:
            dataset.columns = {
                one.path: replace(one, data_type=one.data_type or getattr(known.get(one.path), "data_type", None))
                for one in self._columns(statement, later)
            }
            dataset.schema_known = dataset.is_target = True
            return
        for column in statement.altered:
            path = later.column(table, column_text(column.name))
            if not is_gone(path):
                known[path] = ColumnRecord(str(path), column.data_type, spelling=path_spelling(column.name, path))

    def _use(self, source: str, job: str, statement: StatementLineage, target: str | None, later: LaterNames) -> Use:
        keys = {name: self._table_key(later.table(name)) for name in statement.sources}
        reads = dict.fromkeys(keys.values())
        for table, column in {edge.source: None for edge in statement.edges}:
            if table is not None and column != _STAR:
                key = keys.get(table) or self._table_key(later.table(table))
                if not is_gone(path := later.column(table, column)):
                    reads[column_key(key, path)] = None
        writes = dict.fromkeys([target] if target is not None else [])
        if target is not None:
            columns = (e.target.column for e in statement.edges if isinstance(e.target, ColumnRef))
            table = str(table_after(statement))
            paths = (*map(column_text, statement.output_columns), *columns)
            named = dict.fromkeys(later.column(table, path) for path in paths)
            kept = (name for name in named if name != _STAR and not is_gone(name))
            writes.update(dict.fromkeys(column_key(target, name) for name in kept))
        return Use(source, job, tuple(reads), tuple(writes))

    def _besides(self, source: str, text: str, statement: StatementLineage, later: LaterNames) -> None:
        """Add what a statement writes beside its target: each other target is a job of its own."""
        by_target: dict[str, list[Edge]] = defaultdict(list)
        for edge in statement.edges:
            if edge.target.table not in (None, statement.target):
                by_target[str(edge.target.table)].append(edge)
        for target, edges in by_target.items():
            if target in statement.temporary:
                continue
            columns = dict.fromkeys(e.target.column for e in edges if isinstance(e.target, ColumnRef))
            names = [ColumnPath.parse(column).name for column in columns]
            rows = tuple(one for one in statement.row_references if one.target.table == target)
            beside = replace(
                statement,
                target=target,
                target_kind=DatasetKind.TABLE,
                edges=edges,
                row_references=rows,
                output_columns=names,
                schema=(),
                diagnostics=[],
            )
            self._add(source, text, beside, later)

    def _add_edge(self, job: StatedJob, edge: Edge, output: str, later: LaterNames, offset: int) -> None:
        source, target = edge.source, edge.target
        if source.table is None:
            return
        table, path = later.table(source.table), later.column(source.table, source.column)
        self._datasets.setdefault(table, _Dataset())
        end = output
        if isinstance(target, ColumnRef):
            end = self._column_key(output, later.column(target.table or "", target.column))
        key = (self._column_key(self._table_key(table), path), end, edge.kind, output)
        self._note_earlier(job, edge)
        job.edges[key].append((edge, offset))

    def _note_earlier(self, job: StatedJob, edge: Edge) -> None:
        """Note the statements that made the temporary tables of an edge: the SQL of a file's job has them, too."""
        if edge.before is None or not job.of.source:
            return
        for one in edge.before.in_order():
            if one.key not in job.earlier and (text := self._texts.get(one.source)) is not None:
                masked = mask_literals(text[one.span.start : one.span.end], self._naming.dialect)
                is_of_file = job.of.file_key is None or self._file_key(one.source) == job.of.file_key
                job.earlier[one.key] = EarlierText(masked, one.span, is_of_file)

    def _file_key(self, text: str) -> str | None:
        file = self._files.get(text)
        return file.key if file is not None else None

    def _add_row_reference(
        self, job: StatedJob, reference: RowReference, output: str, later: LaterNames, offset: int
    ) -> None:
        name = reference.source.table
        if name is None:
            return
        source = self._table_key(later.table(name))
        if source == output:  # renamed: it decides its own rows
            return
        self._datasets.setdefault(later.table(name), _Dataset())
        target, end = reference.target, output
        if isinstance(target, ColumnRef):
            end = self._column_key(output, later.column(target.table or "", target.column))
        edge = reference.as_edge()
        self._note_earlier(job, edge)
        job.edges[source, end, EdgeKind.REFERENCES, output].append((edge, offset))

    # Datasets

    def _place(self, name: str) -> tuple[str, str]:
        """Return the namespace and name of a dataset: a file's are in its path."""
        return split_location(name) or (self._naming.dataset_namespace, name)

    def _table_key(self, name: str) -> str:
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = dataset_key(*self._place(name))
        return key

    def _column_key(self, dataset: str, path: str) -> str:
        key = column_key(dataset, path)
        if is_gone(path):
            self._gone_columns.add(key)
        return key

    def _know(self, name: str, columns: Iterable[ColumnRecord]) -> None:
        dataset = self._datasets.setdefault(name, _Dataset())
        if dataset.schema_known and dataset.is_target:
            return
        dataset.columns = {column.path: column for column in columns}
        dataset.schema_known = True

    def _infer(self, name: str, column: str, spelling: str | None) -> None:
        if is_gone(column):
            return
        dataset = self._datasets.setdefault(name, _Dataset())
        dataset.columns.setdefault(column, ColumnRecord(str(column), inferred=True, spelling=spelling))

    def _spell_tables(self, statement: StatementLineage, later: LaterNames) -> None:
        """Take in how a statement writes the tables that it names."""
        target = table_after(statement)
        written = dict(statement.spellings)
        for name in dict.fromkeys((*([target] if target is not None else []), *statement.sources, *written)):
            by = _SpelledBy.DEFINITION if statement.spells and name == target else _SpelledBy.REFERENCE
            self._spell(later.table(name), written.get(name), by)

    def _spell(self, name: str, spelling: str | None, by: _SpelledBy) -> None:
        """Take in how a table's name is written: of definitions the last one counts, of others the first."""
        dataset = self._datasets.get(name)
        if dataset is not None and (by > dataset.spelled_by or by is _SpelledBy.DEFINITION):
            dataset.spelling, dataset.spelled_by = spelling_of(plain_name(name), spelling), by

    def _record(self, name: str, dataset: _Dataset) -> DatasetRecord:
        namespace, own = self._place(name)
        earlier = self._earlier_paths.get(name, {})
        is_file = split_location(name) is not None or name.startswith("@")
        return DatasetRecord(
            namespace=namespace,
            name=str(own),
            kind=DatasetKind.FILE if is_file else dataset.kind,
            dialect=self._naming.dialect.name,
            columns=tuple(
                replace(column, aliases=tuple(earlier[path])) if path in earlier else column
                for path, column in dataset.columns.items()
            ),
            schema_known=dataset.schema_known and not any(c.inferred for c in dataset.columns.values()),
            at=dataset.at,
            spelling=dataset.spelling if self._naming.dialect.shows_tables and not is_file else None,
            is_spelled=self._naming.dialect.shows_tables and dataset.spelled_by >= _SpelledBy.CATALOG,
        )

    # Edges and changes

    def _edges(self, job: StatedJob) -> Iterable[EdgeRecord]:
        misplaced: list[Diagnostic] = []
        yield from job.edge_records(misplaced)
        source = self._source or job.of.source or ""
        self._diagnostics.extend(DiagnosticRecord(diagnostic, source, job.of.key) for diagnostic in misplaced)

    def _changes_in_order(self) -> Iterable[DatasetChange]:
        """Yield the changes; of those of one time each is a microsecond before the next: their order is kept."""
        left = Counter(at for _, at in self._changes)
        for change, at in self._changes:
            left[at] -= 1
            yield self._change(change, at - timedelta(microseconds=left[at]))

    def _change(self, change: TableChange, at: datetime) -> DatasetChange:
        other = change.other
        spelling = other.spelling if isinstance(other, Spelled) else None
        if other is not None:
            other = str(other) if change.kind.of_column else self._table_key(other)
        return DatasetChange(change.kind, self._table_key(change.table), at, other, change.column, spelling)

"""The batch of an export: its queries and dashboards as datasets of kind EXPOSURE, with a job for each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.batch import (
    ColumnRecord,
    DatasetChange,
    DatasetRecord,
    DiagnosticRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    dashboard_job_key,
)
from lineage.model.diagnostics import Diagnostic, Severity
from lineage.model.files import Environment, FileKey
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import column_key, column_text, dataset_key, dataset_of, is_column_key, split_column_key
from lineage.model.namespaces import normal_namespace
from lineage.model.statement import ChangeKind, Completeness, DatasetKind, StatementLineage
from lineage_ingest.batch.attribution import Attribution, FileOrigin
from lineage_ingest.batch.builder import BatchBuilder
from lineage_ingest.bi.connections import BiConnection, naming_of
from lineage_ingest.bi.export_resolution import ResolvedQuery
from lineage_ingest.bi.exported import BiExport, Board, BoardFilter, not_read

__all__ = ["ExportNames", "build_batch"]


@frozen
class ExportNames:
    """The names in one export: of datasets, files and jobs."""

    kind: str
    server: str

    @property
    def namespace(self) -> str:
        """The namespace of the export's datasets."""
        return normal_namespace(f"{self.kind}://{self.server}")

    @property
    def project(self) -> str:
        """The project that its jobs belong to."""
        return f"bi/{self.kind}/{self.server}"

    def location(self, key: str) -> str:
        """Return the full name of a dataset of the export."""
        return f"{self.namespace}/{key}"

    def dataset_key(self, key: str) -> str:
        """Return the key of a dataset of the export."""
        return dataset_key(self.namespace, key)

    def file_key(self, key: str) -> str:
        """Return the key under which a query or dashboard, its job and its diagnostics are known."""
        return str(FileKey(self.project, key, Environment(self.kind)))


@dataclass(slots=True)
class _BoardJob:
    job: JobRecord
    dataset: DatasetRecord
    edges: list[EdgeRecord] = field(default_factory=list)
    tables: list[DatasetRecord] = field(default_factory=list)
    """The tables by whose columns it is filtered."""
    problems: tuple[Diagnostic, ...] = ()


def build_batch(
    names: ExportNames,
    export: BiExport,
    resolved: Mapping[str, ResolvedQuery],
    gone: Iterable[str],
    at: datetime,
    seconds: float,
) -> LineageBatch:
    """Return the batch; `gone` are the file keys of what the export no longer contains."""
    batches = [_batch_of_connection(names, connection, queries, at) for connection, queries in _by_connection(resolved)]
    boards = [_board_job(names, board, resolved, at) for board in export.boards]
    edges = [edge for listed in (*(one.edges for one in batches), *(one.edges for one in boards)) for edge in listed]
    datasets = _datasets(names, resolved, batches, boards)
    _add_columns_of_edges(datasets, edges)
    jobs = [replace(job, positions=(), source_line=None) for batch in batches for job in batch.jobs]
    jobs += [one.job for one in boards]
    files = names.file_key("files")
    diagnostics = [
        *_diagnostics(names, export, batches, boards),
        *(DiagnosticRecord(problem, source, file_key=files) for source, problem in export.problems),
    ]
    counts = _counts(export, resolved, datasets, edges, diagnostics)
    label = f"{names.kind}://{names.server}"
    content = (f"{one.key}={one.operation}{one.dialect}{one.sql}{one.reads}{one.writes}" for one in jobs)
    digest = hashlib.sha256("\x1f".join(("bi", label, *sorted(content), *sorted(gone))).encode()).hexdigest()[:24]
    return LineageBatch(
        run=RunRecord(f"bi:{digest}", "bi", label, at, counts, seconds),
        datasets=tuple(datasets.values()),
        jobs=tuple(jobs),
        edges=tuple(edges),
        diagnostics=tuple(diagnostics),
        complete_sources=(
            *(source for batch in batches for source in batch.complete_sources),
            *(str(one.job.file_key) for one in boards),
            *gone,
            files,
        ),
        changes=tuple(
            DatasetChange(ChangeKind.DROP, names.dataset_key(FileKey.parse(key).path), at) for key in sorted(gone)
        ),
    )


def _datasets(
    names: ExportNames,
    resolved: Mapping[str, ResolvedQuery],
    batches: Sequence[LineageBatch],
    boards: Sequence[_BoardJob],
) -> dict[str, DatasetRecord]:
    """Return all datasets by key: those of the queries, and of the dashboards with what filters them."""
    listed = [*(batch.datasets for batch in batches), *(one.tables for one in boards)]
    datasets = _merge(record for records in listed for record in records)
    datasets.update((one.dataset.key, one.dataset) for one in boards)
    own = {names.dataset_key(key): one for key, one in resolved.items()}
    return {key: _as_exposure(record, own.get(key)) for key, record in datasets.items()}


def _diagnostics(
    names: ExportNames, export: BiExport, batches: Sequence[LineageBatch], boards: Sequence[_BoardJob]
) -> Iterator[DiagnosticRecord]:
    """Yield the diagnostics of queries and dashboards, each where the export has it."""
    places = {names.file_key(one.key): one.at for one in export.assets}
    for batch in batches:
        for record in batch.diagnostics:
            yield replace(record, source=places.get(record.file_key or "", record.source))
    for board, one in zip(export.boards, boards, strict=True):
        for problem in one.problems:
            yield DiagnosticRecord(problem, board.at, one.job.key, one.job.file_key)


def board_columns(board: Board, resolved: Mapping[str, ResolvedQuery]) -> Iterator[tuple[str, str, str]]:
    """Yield a dashboard's columns: the key of the query that it shows, that query's column, its own name for it."""
    titles = Counter(resolved[key].query.title for key in board.shows if key in resolved)
    for key in dict.fromkeys(board.shows):
        if key not in resolved:
            continue
        title = resolved[key].query.title
        shown = title if titles[title] == 1 else f"{title} ({key.rpartition('/')[2]})"
        wanted = board.columns.get(key)
        for column in resolved[key].columns:
            if wanted is None or column in wanted:
                yield key, column, f"{shown} / {column}"


def _by_connection(resolved: Mapping[str, ResolvedQuery]) -> Iterator[tuple[BiConnection, list[ResolvedQuery]]]:
    found: dict[BiConnection, list[ResolvedQuery]] = {}
    for one in resolved.values():
        found.setdefault(one.query.connection, []).append(one)
    yield from found.items()


def _batch_of_connection(
    names: ExportNames, connection: BiConnection, queries: Sequence[ResolvedQuery], at: datetime
) -> LineageBatch:
    naming = naming_of(connection)
    files = {one.query.key: FileOrigin(one.query.at, names.file_key(one.query.key)) for one in queries}

    def attribute(statement: StatementLineage, _target: str | None) -> Attribution:
        file = files[statement.source or ""]
        return Attribution(dashboard_job_key(file.key), JobKind.DASHBOARD, file.source, at, at, file.key)

    builder = BatchBuilder(naming, Catalog((), naming.dialect), at, attribute, files=files)
    for one in queries:
        builder.add_file(one.query.key, one.query.sql or "", [one.statement])
    return builder.batch("bi", connection.names[0], ())


def _board_job(names: ExportNames, board: Board, resolved: Mapping[str, ResolvedQuery], at: datetime) -> _BoardJob:
    output = names.dataset_key(board.key)
    file_key = names.file_key(board.key)
    shown = [key for key in dict.fromkeys(board.shows) if key in resolved]
    shown_columns = list(board_columns(board, resolved))
    filters, problems = _board_filters(names, board, resolved)
    full = (
        all(one.severity is Severity.INFO for one in problems)
        and len(shown) == len(set(board.shows))
        and all(resolved[key].columns for key in shown)
    )
    job = JobRecord(
        key=dashboard_job_key(file_key),
        kind=JobKind.DASHBOARD,
        first_seen=at,
        last_seen=at,
        reads=tuple(dict.fromkeys((*map(names.dataset_key, shown), *(one.key for one, _ in filters)))),
        writes=(output,),
        source=board.at,
        operation=board.operation,
        completeness=Completeness.FULL if full else Completeness.PARTIAL if shown_columns else Completeness.TABLES,
        file_key=file_key,
    )
    columns = tuple(ColumnRecord(column_text(name), None, n) for n, (_, _, name) in enumerate(shown_columns))
    dataset = DatasetRecord(
        names.namespace, board.key, DatasetKind.EXPOSURE, columns=columns, schema_known=bool(columns) and full
    )
    edges = [
        EdgeRecord(
            column_key(names.dataset_key(key), column_text(column)),
            column_key(output, column_text(name)),
            EdgeKind.CONTRIBUTES,
            job.key,
            output,
            (Subtype.IDENTITY,),
        )
        for key, column, name in shown_columns
    ]
    edges += [
        EdgeRecord(column_key(table.key, path), output, EdgeKind.REFERENCES, job.key, output, (Subtype.FILTER,))
        for table, path in filters
    ]
    tables = [table for table, _ in filters if table.namespace != names.namespace]
    return _BoardJob(job, dataset, edges, tables, problems)


def _board_filters(
    names: ExportNames, board: Board, resolved: Mapping[str, ResolvedQuery]
) -> tuple[list[tuple[DatasetRecord, str]], tuple[Diagnostic, ...]]:
    """Return the columns by which a dashboard is filtered, each with its table, and the dashboard's problems."""
    found: dict[tuple[str, str], tuple[DatasetRecord, str]] = {}
    problems = list(board.problems)
    for board_filter in board.filters:
        if board_filter.connection is None:
            column = _column_named(resolved.get(board_filter.key), board_filter)
            if column is None:
                problems.append(
                    not_read(
                        f"it is filtered by the column {board_filter.column!r}, which {board_filter.key} does not have"
                    )
                )
                continue
            table = DatasetRecord(names.namespace, board_filter.key, DatasetKind.EXPOSURE)
        else:
            naming = naming_of(board_filter.connection)
            column = naming.dialect.fold_column(board_filter.column, quoted=True)
            parts = [str(naming.dialect.fold_table(part, quoted=True)) for part in board_filter.parts]
            path = column_text(column)
            table = DatasetRecord(
                naming.dataset_namespace,
                str(naming.qualify(parts)),
                dialect=naming.dialect.name,
                columns=(ColumnRecord(path, inferred=True),),
            )
        found.setdefault((table.key, column), (table, column_text(column)))
    return list(found.values()), tuple(dict.fromkeys(problems))


def _column_named(query: ResolvedQuery | None, one: BoardFilter) -> str | None:
    columns = query.columns if query is not None else ()
    fold = {column.casefold(): column for column in columns}
    return one.column if one.column in columns else fold.get(one.column.casefold())


def _merge(records: Iterable[DatasetRecord]) -> dict[str, DatasetRecord]:
    """Return the datasets by key; one that several connections name has the columns that each of them saw."""
    datasets: dict[str, DatasetRecord] = {}
    for record in records:
        known = datasets.get(record.key)
        if known is None:
            datasets[record.key] = record
        elif not known.schema_known:
            paths = {column.path for column in record.columns}
            left = () if record.schema_known else tuple(one for one in known.columns if one.path not in paths)
            datasets[record.key] = replace(record, columns=(*record.columns, *left))
        elif not record.schema_known:
            continue
    return datasets


def _as_exposure(record: DatasetRecord, resolved: ResolvedQuery | None) -> DatasetRecord:
    """Return a dataset of the export with its kind, and with the columns that the export lists if SQL shows none."""
    if resolved is None:
        return record
    record = replace(record, kind=DatasetKind.EXPOSURE)
    if record.schema_known or not resolved.columns or resolved.statement.schema:
        return record
    columns = tuple(ColumnRecord(column_text(name), None, n) for n, name in enumerate(resolved.columns))
    return replace(record, columns=columns, schema_known=True)


def _add_columns_of_edges(datasets: dict[str, DatasetRecord], edges: Iterable[EdgeRecord]) -> None:
    """Add the columns that edges come from: a schema of the tool has them, which is no proof that they are all."""
    known = {key: {column.path for column in record.columns} for key, record in datasets.items()}
    missing: dict[str, dict[str, None]] = {}
    for edge in edges:
        if is_column_key(edge.source):
            dataset, path = split_column_key(edge.source)
            if dataset in known and path not in known[dataset]:
                missing.setdefault(dataset_of(edge.source), {})[path] = None
    for key, paths in missing.items():
        record = datasets[key]
        if not record.schema_known:
            more = tuple(ColumnRecord(path, inferred=True) for path in paths)
            datasets[key] = replace(record, columns=(*record.columns, *more))


def _counts(
    export: BiExport,
    resolved: Mapping[str, ResolvedQuery],
    datasets: Mapping[str, DatasetRecord],
    edges: Sequence[EdgeRecord],
    diagnostics: Sequence[DiagnosticRecord],
) -> dict[str, int]:
    levels = Counter(one.statement.completeness for one in resolved.values())
    return {
        "queries": len(resolved),
        "dashboards": len(export.boards),
        "resolved": levels[Completeness.FULL],
        "partial": levels[Completeness.PARTIAL],
        "tables_only": levels[Completeness.TABLES],
        "unresolved": levels[Completeness.NONE],
        "diagnostics": len(diagnostics),
        "errors": sum(one.diagnostic.severity == "error" for one in diagnostics),
        "tables": len(datasets),
        "columns": sum(len(one.columns) for one in datasets.values()),
        "edges": sum(not edge.of_rows for edge in edges),
    }

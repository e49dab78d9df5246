"""The batch of a project: jobs of models and consumers, their edges, and the tables with their schemas."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from lineage.catalog import Catalog, TableSchema
from lineage.frozen import frozen
from lineage.model.batch import (
    ColumnRecord,
    DatasetRecord,
    DiagnosticRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    dbt_job_key,
)
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.facts import FactsRecord
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import column_key, column_text, dataset_key, split_location
from lineage.model.statement import Completeness, DatasetKind, StatementLineage
from lineage_ingest.batch.attribution import Attribution, FileOrigin
from lineage_ingest.batch.builder import BatchBuilder
from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, DbtNode, ResourceType
from lineage_ingest.dbt.builds.project_hooks import HOOK_TEXT, ReadHook
from lineage_ingest.dbt.facts import TableFacts
from lineage_ingest.dbt.project import DbtModel, DbtProject, DbtTable
from lineage_ingest.dbt.relation_names import ProjectNames
from lineage_ingest.dbt.semantic.saved_query_exports import SavedQueryExport
from lineage_ingest.dbt.semantic.semantic_layer import inputs_of, is_read_in_full, metrics_of, subtype_of
from lineage_ingest.dbt.semantic.semantic_uses import groups_of, has_all_groups, uses_of

__all__ = ["CONSUMERS", "ProjectBatch", "consumer_key", "python_model_diagnostic"]

CONSUMERS = "dbt"
"""Namespace of exposures, metrics, semantic models and saved queries: they are in no database."""


_BUILD = "\x1fbuild "
"""Between a model's key and the number of another query of it, in the name of that text."""


@frozen
class _Alone:
    """A job that is stated without SQL: its dataset, what it reads, and a diagnostic."""

    job: JobRecord
    dataset: DatasetRecord
    problem: Diagnostic | None = None
    edges: tuple[EdgeRecord, ...] = ()


class ProjectBatch:
    """Collects what one ingest states of a project."""

    def __init__(self, project: DbtProject, at: datetime) -> None:
        self._names: ProjectNames = project.names
        self._project = project
        self._at = at
        self._models: dict[str, tuple[DbtModel, StatementLineage]] = {}
        self._other_builds: dict[str, Mapping[int, StatementLineage]] = {}
        self._lacking: dict[str, frozenset[str]] = {}
        self._hooks: dict[str, ReadHook] = {}
        self._tables: dict[str, DbtTable] = {}
        self._alone: list[_Alone] = []
        self._gone: list[str] = []
        self._problems: list[tuple[str, Diagnostic]] = []
        self._facts: list[FactsRecord] = []
        self._edges: list[EdgeRecord] = []

    def add_table(self, table: DbtTable) -> None:
        """Add a table with its known columns."""
        self._tables[table.node.unique_id] = table

    def add_model(
        self,
        model: DbtModel,
        statement: StatementLineage,
        other_builds: Mapping[int, StatementLineage],
        lacking: Collection[str] = (),
    ) -> None:
        """Add a model's lineage and its table; `other_builds` are further queries of it, by their number.

        Columns (paths) that the table is `lacking` are known by the query only: the next ingest finds them lacking.
        """
        if lacking:
            self._lacking[self.key_of(model.table.name)] = frozenset(lacking)
        self._other_builds[model.given.key] = other_builds
        types = model.table.types()
        schema = tuple(
            replace(column, data_type=known)
            if column.data_type is None and (known := types.get(column_text(column.name))) is not None
            else column
            for column in statement.schema
        )
        self._models[model.given.key] = model, replace(statement, schema=schema)
        self.add_table(model.table)

    def add_hook(self, hook: ReadHook) -> None:
        """Add what a hook does to tables: it is a job of its own."""
        self._hooks[hook.hook.key] = hook

    def add_without_sql(self, table: DbtTable, problem: Diagnostic | None) -> None:
        """Add a table whose SQL is not known, of a Python model: what it reads is all that the manifest knows."""
        reads = self._project.reads(table.node.depends_on.nodes)
        dataset = self._dataset(table) or DatasetRecord(*self._location(table.name), table.kind)
        job = self._job(table.node.unique_id, table.node.original_file_path, map(self.key_of, reads), dataset.key)
        operation = f"DBT_{table.node.config.materialized or 'table'}".upper()
        self._alone.append(_Alone(replace(job, operation=operation), dataset, problem))

    def add_consumer(self, consumer: Consumer) -> None:
        """Add an exposure, metric, saved query, or a semantic model without columns."""
        output = consumer_key(consumer.unique_id)
        consumers = self._project.consumers
        others = (consumer_key(key) for key in consumer.depends_on.nodes if key in consumers)
        uses = tuple(uses_of(consumer, consumers))
        read = (consumer_key(one.unique_id) for one in uses)
        reads = (*map(self.key_of, self._project.reads(consumer.depends_on.nodes)), *others, *read)
        job = self._job(consumer.unique_id, consumer.original_file_path, reads, output)
        inputs = tuple(inputs_of(consumer, consumers))
        subtype = subtype_of(consumer)
        edges = tuple(
            EdgeRecord(
                column_key(consumer_key(key), self._column_of(consumers[key], column)),
                column_key(output, column_text(own)),
                EdgeKind.CONTRIBUTES,
                job.key,
                output,
                (subtype,),
            )
            for key, column, own in inputs
        ) + tuple(
            EdgeRecord(
                column_key(consumer_key(use.unique_id), self._column_of(consumers[use.unique_id], use.column)),
                column_key(output, column_text(use.own)) if use.own else output,
                EdgeKind.CONTRIBUTES if use.is_value else EdgeKind.REFERENCES,
                job.key,
                output,
                (use.subtype,),
            )
            for use in uses
        )
        named = (*groups_of(consumer, consumers), *metrics_of(consumer))
        columns = tuple(ColumnRecord(column_text(name), None, n) for n, name in enumerate(dict.fromkeys(named)))
        known = bool(columns) and has_all_groups(consumer, consumers)
        dataset = DatasetRecord(
            CONSUMERS, consumer.unique_id, DatasetKind.EXPOSURE, columns=columns, schema_known=known
        )
        full = is_read_in_full(consumer, len(inputs))
        completeness = Completeness.FULL if full else Completeness.PARTIAL if edges else Completeness.TABLES
        job = replace(job, operation=f"DBT_{consumer.resource_type}".upper(), completeness=completeness)
        self._alone.append(_Alone(job, dataset, edges=edges))

    def add_export(self, export: SavedQueryExport) -> None:
        """Add a table that has the columns of a saved query."""
        names = (*groups_of(export.query, self._project.consumers), *metrics_of(export.query))
        source, fold = consumer_key(export.query.unique_id), self._names.naming.dialect.fold_column
        columns = {column_text(name): column_text(fold(name)) for name in names}
        listed = tuple(ColumnRecord(path, None, n) for n, path in enumerate(dict.fromkeys(columns.values())))
        namespace, name = self._location(export.table)
        dialect = self._names.naming.dialect.name
        known = bool(listed) and has_all_groups(export.query, self._project.consumers)
        dataset = DatasetRecord(namespace, name, export.kind, dialect, listed, schema_known=known)
        job = self._job(export.key, export.query.original_file_path, (source,), dataset.key)
        rows = EdgeRecord(source, dataset.key, EdgeKind.REFERENCES, job.key, dataset.key, (Subtype.ROWS,))
        values = (
            EdgeRecord(
                column_key(source, own), column_key(dataset.key, path), EdgeKind.CONTRIBUTES, job.key, dataset.key,
                (Subtype.IDENTITY,),
            )
            for own, path in columns.items()
        )  # fmt: skip
        completeness = Completeness.FULL if known else Completeness.PARTIAL if listed else Completeness.TABLES
        job = replace(job, operation="DBT_EXPORT", completeness=completeness)
        self._alone.append(_Alone(job, dataset, edges=(rows, *values)))

    def _column_of(self, consumer: Consumer, name: str) -> str:
        """Return the path of a consumer's column; those of a semantic model are named by its query."""
        is_query = consumer.resource_type == ResourceType.SEMANTIC_MODEL
        return column_text(self._names.naming.dialect.fold_column(name) if is_query else name)

    def add_facts(self, dataset: str, facts: TableFacts) -> None:
        """Add the facts of a node about its dataset."""
        self._facts.append(FactsRecord(dataset, facts.table, facts.columns))

    def add_edges(self, edges: Iterable[EdgeRecord]) -> None:
        """Add edges of models that their SQL does not state."""
        self._edges += edges

    def add_gone(self, file_key: str) -> None:
        """Add a node that the project no longer has."""
        self._gone.append(file_key)

    def add_problem(self, source: str, problem: Diagnostic) -> None:
        """Add a problem of an artifact."""
        self._problems.append((source, problem))

    def key_of(self, table: str) -> str:
        """Return the key of a table's dataset."""
        return dataset_key(*self._location(table))

    def records(self, run: str, content: Iterable[str], counts: Mapping[str, int], seconds: float) -> LineageBatch:
        """Return the batch; `content` identifies it, `counts` are those of the whole project."""
        files = {
            name: FileOrigin(model.source, str(self._names.file_key(key)))
            for key, (model, _) in self._models.items()
            for name in (key, *(f"{key}{_BUILD}{number}" for number in self._other_builds[key]))
        }
        files |= {
            name: FileOrigin(one.hook.node.original_file_path, str(self._names.file_key(key)))
            for key, one in self._hooks.items()
            for name in one.texts
        }
        naming = self._names.naming
        tables = (one for one in self._tables.values() if one.complete and split_location(one.name) is None)
        schemas = (TableSchema(one.name, one.complete, exact=True) for one in tables)
        builder = BatchBuilder(naming, Catalog(schemas, naming.dialect), self._at, self._attribute, files=files)
        for key, (model, statement) in self._models.items():
            builder.add_file(key, model.given.text, [statement])
            for number, other in self._other_builds[key].items():
                name = f"{key}{_BUILD}{number}"
                builder.add_texts({name: model.given.other_builds[number]}, [replace(other, source=name)])
        for one in self._hooks.values():
            for name, text in one.texts.items():
                builder.add_file(name, text, [replace(each, source=name) for each in one.statements_of(name)])
        for file_key in (*self._gone, *(str(one.job.file_key) for one in self._alone)):
            builder.add_gone_file(file_key)
        batch = builder.batch("dbt", run, content, seconds)
        alone = {one.dataset.key: one.dataset for one in self._alone}
        batch = self._with_consumers(batch)
        return replace(
            batch,
            run=replace(batch.run, counts=counts),
            datasets=(*self._datasets(batch.datasets, alone), *alone.values()),
            jobs=(*map(self._finished, batch.jobs), *(one.job for one in self._alone)),
            edges=(*batch.edges, *self._edges, *(edge for one in self._alone for edge in one.edges)),
            diagnostics=(*batch.diagnostics, *self._own_diagnostics()),
            complete_sources=(*batch.complete_sources, str(self._names.file_key("artifacts"))),
            facts=tuple(self._facts),
        )

    def _with_consumers(self, batch: LineageBatch) -> LineageBatch:
        """Return the batch with semantic models in the namespace of consumers; as queries they had a table's name."""
        keys = {
            self.key_of(model.table.name): consumer_key(key)
            for key, (model, _) in self._models.items()
            if model.table.kind is DatasetKind.EXPOSURE
        }
        if not keys:
            return batch
        records = []
        for record in batch.datasets:
            if record.key in keys:
                name = keys[record.key].partition("/")[2]
                records.append(replace(record, namespace=CONSUMERS, name=name, kind=DatasetKind.EXPOSURE))
                continue
            records.append(record)
        return replace(
            batch,
            datasets=tuple(records),
            jobs=tuple(replace(job, writes=tuple(keys.get(key, key) for key in job.writes)) for job in batch.jobs),
            edges=tuple(
                replace(edge, output=keys[edge.output], target=keys[edge.output] + edge.target[len(edge.output) :])
                if edge.output in keys
                else edge
                for edge in batch.edges
            ),
        )

    def _attribute(self, statement: StatementLineage, _target: str | None) -> Attribution:
        key = (statement.source or "").partition(_BUILD)[0].partition(HOOK_TEXT)[0]
        file_key = str(self._names.file_key(key))
        node = self._hooks[key].hook.node if key in self._hooks else self._models[key][0].table.node
        source = node.original_file_path
        return Attribution(dbt_job_key(file_key), JobKind.DBT, source, self._at, self._at, file_key)

    def _finished(self, job: JobRecord) -> JobRecord:
        """Return a model's job: how it is stored; positions in the compiled text are not those in the source file."""
        key = self._names.id_of(str(job.file_key))
        if key in self._hooks:
            operation = f"DBT_{self._hooks[key].hook.kind.replace('-', '_')}".upper()
            return replace(job, source_line=None, positions=(), operation=operation)
        node = self._models[key][0].table.node
        kind = node.config.materialized or node.resource_type
        return replace(job, source_line=None, positions=(), operation=f"DBT_{kind}".upper())

    def _job(self, unique_id: str, source: str, reads: Iterable[str], output: str) -> JobRecord:
        file_key = str(self._names.file_key(unique_id))
        return JobRecord(
            key=dbt_job_key(file_key),
            kind=JobKind.DBT,
            first_seen=self._at,
            last_seen=self._at,
            reads=tuple(dict.fromkeys(reads)),
            writes=(output,),
            dialect=self._names.naming.dialect.name,
            source=source or None,
            completeness=Completeness.TABLES,
            file_key=file_key,
        )

    def _own_diagnostics(self) -> Iterator[DiagnosticRecord]:
        artifacts = str(self._names.file_key("artifacts"))
        for source, problem in self._problems:
            yield DiagnosticRecord(problem, source, file_key=artifacts)
        for one in self._alone:
            if one.problem is not None:
                yield DiagnosticRecord(one.problem, str(one.job.source), one.job.key, one.job.file_key)

    # Datasets

    def _location(self, table: str) -> tuple[str, str]:
        return split_location(table) or (self._names.naming.dataset_namespace, table)

    def _datasets(self, records: Collection[DatasetRecord], alone: Collection[str]) -> Iterator[DatasetRecord]:
        """Yield the records, with the described columns of tables whose schema is not known."""
        known = {record.key: record for record in records if record.key not in alone}
        for table in self._tables.values():
            key = self.key_of(table.name)
            if key in alone or (key in known and known[key].schema_known):
                continue
            described = self._dataset(table)
            if key not in known:
                if described is not None:
                    known[key] = described
            elif described is not None:
                own = {column.path: column for column in known[key].columns}
                for column in described.columns:
                    own[column.path] = replace(column, ordinal=getattr(own.get(column.path), "ordinal", None))
                known[key] = replace(known[key], columns=tuple(own.values()))
        kinds = self._kinds_where_hooks_write()
        for key, record in known.items():
            placed = replace(record, kind=kinds[key]) if key in kinds else record
            yield self._without_lacking(placed) if key in self._lacking else placed

    def _kinds_where_hooks_write(self) -> dict[str, DatasetKind]:
        """Return the kinds of the project's tables by key that hooks write: INSERT and DELETE name views, too."""
        written = {name for hook in self._hooks.values() for name in hook.writes}
        tables = self._project.tables.values() if written else ()
        return {self.key_of(table.name): table.kind for table in tables if table.name in written}

    def _without_lacking(self, record: DatasetRecord) -> DatasetRecord:
        lacking = self._lacking[record.key]
        columns = (replace(one, inferred=one.inferred or one.path in lacking) for one in record.columns)
        return replace(record, columns=tuple(columns))

    def _dataset(self, table: DbtTable) -> DatasetRecord | None:
        """Return a table with the columns that the artifacts know; None if they know none."""
        namespace, name = self._location(table.name)
        dialect = self._names.naming.dialect.name
        if table.complete:
            columns = ColumnRecord.of_schema(table.complete)
            return DatasetRecord(namespace, name, table.kind, dialect, columns, schema_known=True)
        if table.described:
            is_model = self._names.is_built(table.node)  # its schema is known if its SQL was readable before
            columns = tuple(
                replace(one, inferred=True, ordinal=None, described=is_model)
                for one in ColumnRecord.of_schema(table.described)
            )
            return DatasetRecord(namespace, name, table.kind, dialect, columns)
        return None


def consumer_key(unique_id: str) -> str:
    """Return the key of the dataset of an exposure, metric, semantic model or saved query."""
    return dataset_key(CONSUMERS, unique_id)


_READS_BY_NAME = re.compile(r"\.\s*(?:sql|table|execute|read_\w+|parquet|csv|load)\s*\(")
"""Calls by which Python reads what dbt does not list: SQL, tables and files by their names."""


def python_model_diagnostic(node: DbtNode) -> Diagnostic:
    """Return the diagnostic of a Python model whose columns are unknown."""
    message = f"{node.name} is a Python model: only the tables that it reads are known"
    if _READS_BY_NAME.search(node.raw_code or node.compiled_code or ""):
        message += ", of these only those that it names by dbt.ref and dbt.source; it reads by SQL or names, too"
    hint = "OpenLineage events of its Spark run add its columns: `lineage ingest openlineage`"
    return Diagnostic(DiagnosticCode.PYTHON_MODEL, Severity.ERROR, message, hint=hint)

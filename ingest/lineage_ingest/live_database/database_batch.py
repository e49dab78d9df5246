"""The batch of a live database: jobs of views, functions and generated columns, and the tables with their schemas."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.catalog import Catalog, TableSchema
from lineage.model.batch import (
    DatasetChange,
    DatasetRecord,
    DiagnosticRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    definition_job_key,
    file_job_key,
    policy_job_key,
)
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.files import Environment, FileKey
from lineage.model.names import Naming, dataset_key
from lineage.model.policies import PolicyAct, PolicyStatement, policies_text
from lineage.model.statement import ChangeKind, ColumnSchema, Completeness, StatementLineage
from lineage_ingest.batch.attribution import Attribution, FileOrigin
from lineage_ingest.batch.builder import BatchBuilder
from lineage_ingest.live_database.broken_views import (
    over_broken_view,
    unreadable_view,
    views_over_broken_ones,
    without_tables,
)
from lineage_ingest.live_database.called_functions import function_reads, with_called_functions
from lineage_ingest.live_database.column_positions import named_by_position
from lineage_ingest.live_database.linked_tables import foreign_table_diagnostic, link_jobs, table_links
from lineage_ingest.live_database.missing_tables import missing_tables
from lineage_ingest.live_database.objects import LiveDatabase, LiveRelation
from lineage_ingest.live_database.stated_text import StatedText, is_function

__all__ = ["DatabaseBatch", "DatabaseNames", "schemas_of"]

_WHEN = "(WHEN …)"
"""What the names of triggers and rules with a condition end with."""


class DatabaseNames:
    """The names in one database: of relations, files and jobs."""

    def __init__(self, database: LiveDatabase, naming: Naming) -> None:
        self._database = database
        self.naming = naming
        self.environment = Environment.of(naming)

    @property
    def label(self) -> str:
        """The database, as the source of runs and the project of jobs."""
        return self._database.path or f"{self.naming.dataset_namespace}/{self._database.name}"

    def key_of(self, relation: LiveRelation) -> str:
        """Return the key of a relation's dataset."""
        return self.key_named(self._database.full_name(relation))

    def key_named(self, name: str) -> str:
        """Return the key of the dataset with a full name."""
        return dataset_key(self.naming.dataset_namespace, name)

    def file_key(self, name: str) -> str:
        """Return the key under which the jobs and diagnostics of an object are known, by its full name."""
        return str(FileKey(self.label, name, self.environment))


class DatabaseBatch:
    """Collects what one ingest states of a database."""

    def __init__(self, database: LiveDatabase, names: DatabaseNames, texts: Sequence[StatedText]) -> None:
        self._database = database
        self._names = names
        self._texts = {text.name: text for text in texts}
        self._statements: dict[str, list[StatementLineage]] = {name: [] for name in self._texts}
        self._kinds = {names.key_of(one): one.kind.dataset_kind for one in database.relations}
        self._problems: list[tuple[str, str, Diagnostic]] = []
        """Name and display name of an object, and what there is to say of it."""
        self._columns: dict[str, tuple[ColumnSchema, ...]] = {}
        """The columns of views, by full name, if some of their names are masked."""
        self._broken: set[str] = set()
        """The full names of views that fail, as their statements say."""

    def add(self, statements: Iterable[StatementLineage]) -> None:
        """Add the resolved statements of the texts."""
        for statement in statements:
            text = self._texts[statement.source or ""]
            if text.relation is not None and statement.defines:
                statement = self._checked(text, statement)  # noqa: PLW2901  the same one, with its types
            elif text.relation is None:
                statement = self._in_doubt(text, statement)  # noqa: PLW2901  the same one, with diagnostics
            self._statements[text.name].append(statement)
        functions = function_reads(self._database, self._statements)
        for text, statement in list(self.statements()):
            if text.is_view and text.relation is not None and text.relation.calls:
                followed = with_called_functions(text.relation, statement, functions)
                if followed is not statement:
                    self.replace_statement(statement, followed)
        views = {name: self._statements[name] for name, text in self._texts.items() if text.is_view}
        shown = {name: self._texts[name].source for name in views}
        whole = {name: listed for name, listed in views.items() if name not in self._broken}
        for name, view in list(views_over_broken_ones(whole, self._broken)):
            self._statements[name] = [over_broken_view(shown[name], one, shown[view]) for one in views[name]]

    def add_problem(self, relation: LiveRelation, problem: Diagnostic) -> None:
        """Add a diagnostic about a relation."""
        self._problems.append((self._database.full_name(relation), relation.local_name, problem))

    def schema_of(self, relation: LiveRelation) -> TableSchema:
        """Return the schema of a relation; names that the engine made of an expression are masked."""
        schema = self._database.schema_of(relation)
        return replace(schema, columns=self._columns.get(schema.name, schema.columns))

    def statements(self) -> Iterator[tuple[StatedText, StatementLineage]]:
        """Yield the statements with their texts."""
        for name, listed in self._statements.items():
            for statement in listed:
                yield self._texts[name], statement

    def replace_statement(self, statement: StatementLineage, revised: StatementLineage) -> None:
        """Replace a statement by a revised one."""
        listed = self._statements[statement.source or ""]
        listed[listed.index(statement)] = revised

    def records(self, gone: Mapping[str, str], seconds: float) -> LineageBatch:
        """Return the batch. `gone` has the objects that no longer exist: the file key, and the full name."""
        database, names = self._database, self._names
        files = {name: FileOrigin(text.source, names.file_key(name)) for name, text in self._texts.items()}
        known = (one for one in database.relations if one.columns or one.problem is None)
        schemas = (replace(self.schema_of(one), exact=True) for one in known)
        catalog = Catalog(schemas, names.naming.dialect)
        builder = BatchBuilder(names.naming, catalog, database.at, self._attribute, files=files)
        for name, text in self._texts.items():
            builder.add_file(name, text.text, self._statements[name])
        for relation in database.relations:
            if database.full_name(relation) not in self._texts:
                builder.add_gone_file(names.file_key(database.full_name(relation)))
        for key in gone:
            builder.add_gone_file(key)
        builder.add_gone_file(names.file_key(""))
        batch = builder.batch(database.product, names.label, self._content(gone), seconds)
        links = list(table_links(database, names.key_of))
        linked = list(link_jobs(links, database, names.key_of, names.file_key))
        batch = replace(
            batch,
            datasets=(*map(self._dataset, batch.datasets), *_remote_tables(link.remote for link in links)),
            jobs=(*batch.jobs, *(job for job, _ in linked), *self._policies()),
            edges=(*batch.edges, *(edge for _, edges in linked for edge in edges)),
            changes=(*batch.changes, *self._drops(gone.values())),
            diagnostics=(*batch.diagnostics, *self._own_diagnostics()),
        )
        return replace(batch, run=replace(batch.run, counts=self._counts(batch)))

    # Statements

    def _checked(self, text: StatedText, statement: StatementLineage) -> StatementLineage:
        """Return a definition with the columns of its relation as the database has them, and their types."""
        relation = text.relation
        assert relation is not None
        missing = list(missing_tables(self._database, statement)) if text.is_view else []
        has_columns = relation.problem is None or bool(relation.columns)
        if missing or not has_columns:
            self._broken.add(text.name)
        if not has_columns:
            if missing:
                return without_tables(relation.local_name, statement, missing)
            return unreadable_view(relation, statement)
        schema = self._database.schema_of(relation).columns
        if text.is_view and statement.output_columns:
            named = named_by_position(statement, schema, text.text)
            if named is not None:
                statement, schema = named
                self._columns[self._database.full_name(relation)] = schema
        if missing:
            return without_tables(relation.local_name, statement, missing)
        own = [column.name for column in schema]
        statement = replace(statement, schema=schema)
        if not text.is_view or statement.output_columns == own or statement.completeness is not Completeness.FULL:
            return statement
        problem = Diagnostic(
            DiagnosticCode.DATABASE_DIFFERS,
            Severity.WARNING,
            f"the database says that {relation.local_name} has other columns than its definition was read to have",
            statement.span,
            "if its tables have changed since, create it again; else please report this bug with the definition, its "
            "names and literals replaced",
        )
        return statement.in_doubt(problem)

    def _in_doubt(self, text: StatedText, statement: StatementLineage) -> StatementLineage:
        """Return a statement of a function or trigger with diagnostics of what is not known of it."""
        if missing := list(missing_tables(self._database, statement)):
            statement = without_tables(text.source, statement, missing)
        if text.has_condition and statement.target is not None:
            message = f"the columns in the condition (WHEN) of the {text.source} are not followed"
            problem = Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, statement.span)
            statement = statement.in_doubt(problem)
        return statement

    def _attribute(self, statement: StatementLineage, target: str | None) -> Attribution:
        text, at = self._texts[statement.source or ""], self._database.at
        file_key = self._names.file_key(text.name)
        if text.is_view and target is not None:
            return Attribution(definition_job_key(target), JobKind.DEFINITION, text.source, at, at, file_key)
        return Attribution(file_job_key(file_key, target), JobKind.SQL_FILE, text.source, at, at, file_key)

    def _policies(self) -> Iterator[JobRecord]:
        """Yield what limits the rows of each table with row security, and who has which role."""
        if self._database.members:
            namespace, file_key = self._names.naming.dataset_namespace, self._names.file_key("")
            had = [
                PolicyStatement(PolicyAct.GRANT_ROLE, policy=role, other=namespace, roles=(member,))
                for role, member in self._database.members
            ]
            yield JobRecord(
                policy_job_key(file_key, None), JobKind.POLICY, self._database.at, self._database.at,
                dialect=self._names.naming.dialect.name, operation="POLICY", file_key=file_key,
                policies=policies_text(had),
            )  # fmt: skip
        for relation in self._database.relations:
            if not relation.policies:
                continue
            dataset, file_key = self._names.key_of(relation), self._names.file_key(self._database.full_name(relation))
            said = [PolicyStatement(PolicyAct.ROWS_ON), PolicyStatement(PolicyAct.UNSET_ROWS)]
            said += [PolicyStatement(PolicyAct.SET_ROWS, policy=name) for name in relation.policies]
            yield JobRecord(
                policy_job_key(file_key, dataset), JobKind.POLICY, self._database.at, self._database.at, (dataset,),
                dialect=self._names.naming.dialect.name, source=relation.local_name, operation="POLICY",
                file_key=file_key, policies=policies_text(said),
            )  # fmt: skip

    # Datasets

    def _dataset(self, record: DatasetRecord) -> DatasetRecord:
        """Return a dataset with its kind as the database has it."""
        kind = self._kinds.get(record.key)
        return record if kind is None else replace(record, kind=kind, is_kind_stated=True)

    def _drops(self, names: Iterable[str]) -> Iterator[DatasetChange]:
        """Yield a DROP for each relation that no longer exists; functions are no datasets."""
        for name in sorted(names):
            if not is_function(name):
                yield DatasetChange(ChangeKind.DROP, self._names.key_named(name), self._database.at)

    # Diagnostics and counts

    def _own_diagnostics(self) -> Iterator[DiagnosticRecord]:
        names, database = self._names, self._database
        of_database = names.file_key("")
        for message in database.problems:
            problem = Diagnostic(DiagnosticCode.CATALOG_UNREADABLE, Severity.ERROR, message)
            yield DiagnosticRecord(problem, names.label, file_key=of_database)
        for language, count in database.other_languages:
            message = f"{count:,} functions in {language} are not read"
            problem = Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message)
            yield DiagnosticRecord(problem, names.label, file_key=of_database)
        for relation in database.relations:
            file_key = names.file_key(database.full_name(relation))
            is_said = database.full_name(relation) in self._broken
            for problem in _problems_of(relation, is_said=is_said):
                yield DiagnosticRecord(problem, relation.local_name, file_key=file_key)
        for name, source, problem in self._problems:
            yield DiagnosticRecord(problem, source, file_key=names.file_key(name))

    def _counts(self, batch: LineageBatch) -> dict[str, int]:
        relations = self._database.relations
        views = sum(one.kind.is_view for one in relations)
        own = ("resolved", "partial", "tables_only", "unresolved", "columns")
        return {
            "relations": len(relations),
            "views": views,
            "functions": len(self._database.functions),
            "statements": batch.run.counts["statements"],
            "tables": len(batch.datasets),
            **{name: batch.run.counts[name] for name in own},
            "edges": sum(not edge.of_rows for edge in batch.edges),
            "diagnostics": len(batch.diagnostics),
        }

    def _content(self, gone: Mapping[str, str]) -> Iterator[str]:
        """Yield the content that identifies the ingest."""
        yield str(self._names.environment)
        yield " ".join(self._database.schemas)
        for name, text in sorted(self._texts.items()):
            yield f"{name}={hashlib.sha256(text.text.encode()).hexdigest()}"
        for relation in self._database.relations:
            yield f"{relation.local_name}:{relation.kind}:{self.schema_of(relation).columns!r}"
        for key in sorted(gone):
            yield f"-{key}"


def _problems_of(relation: LiveRelation, *, is_said: bool) -> Iterator[Diagnostic]:
    """Yield what is not known, or not followed, of a relation; `is_said`: its statement says that it is broken."""
    if relation.problem is not None and not is_said:
        if relation.columns:
            message = f"the definition of {relation.local_name} could not be read: {relation.problem}"
            hint = "its columns are known; ingest again"
        else:
            message = f"the columns of {relation.local_name} are not known: {relation.problem}"
            hint = "what it reads was dropped or renamed, or needs an extension: mend it or drop it"
        yield Diagnostic(DiagnosticCode.CATALOG_UNREADABLE, Severity.ERROR, message, hint=hint)
    if (problem := foreign_table_diagnostic(relation)) is not None:
        yield problem
    for what, names in (("trigger", relation.triggers), ("rule", relation.rules)):
        if names:
            listed = ", ".join(names)
            subject = f"{what} {listed} on" if len(names) == 1 else f"{what}s {listed} on"
            decided = ", and by which columns WHEN decides," if _WHEN in listed else ""
            yield Diagnostic(
                DiagnosticCode.NOT_FOLLOWED,
                Severity.WARNING,
                f"{subject} {relation.local_name}: what it changes in written rows{decided} is not followed",
                hint="other tables that a trigger's function writes are in the graph",
            )
    if relation.policies:
        listed = ", ".join(relation.policies)
        yield Diagnostic(
            DiagnosticCode.NOT_FOLLOWED,
            Severity.INFO,
            f"row-level security of {relation.local_name} ({listed}): its columns are not followed",
        )


def _remote_tables(records: Iterable[DatasetRecord | None]) -> Iterator[DatasetRecord]:
    yield from {record.key: record for record in records if record is not None}.values()


def schemas_of(database: LiveDatabase) -> Iterator[TableSchema]:
    """Yield the schemas of all tables of a database, those of schemas that are left out included."""
    for relation in (*database.relations, *database.outside):
        if relation.columns or relation.problem is None:
            yield replace(database.schema_of(relation), exact=bool(relation.schema))

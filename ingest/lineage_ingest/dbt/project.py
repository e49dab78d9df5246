"""A project as it is ingested: its names, its models with their SQL, its tables with their schemas, its consumers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming, column_text, format_name
from lineage.model.statement import ColumnSchema, DatasetKind
from lineage.sql.extraction import ExtractionOptions
from lineage_ingest.dbt.artifacts.compiled_files import CompiledFiles
from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, DbtNode, ResourceType
from lineage_ingest.dbt.artifacts.target_folder import Artifacts
from lineage_ingest.dbt.asked_columns import AskedColumns
from lineage_ingest.dbt.builds.build_steps import BuildSteps
from lineage_ingest.dbt.builds.built_otherwise import ReferredTables, cloned
from lineage_ingest.dbt.builds.hooks import Hook
from lineage_ingest.dbt.builds.project_hooks import HookEffects, HookTables, read_hooks, tables_of_hooks
from lineage_ingest.dbt.model_resolution import Earlier, ModelInput
from lineage_ingest.dbt.model_sql import ModelSql, ModelTexts
from lineage_ingest.dbt.project_functions import called_functions
from lineage_ingest.dbt.relation_names import ProjectNames
from lineage_ingest.dbt.schemas import catalog_columns, described_columns, seed_columns
from lineage_ingest.dbt.semantic.saved_query_exports import exports_of
from lineage_ingest.dbt.semantic.semantic_layer import semantic_sql, with_metric_measures
from lineage_ingest.dbt.templates.template_relations import KnownColumns

__all__ = ["DbtModel", "DbtProject", "DbtTable"]


@frozen(slots=False)
class DbtTable:
    """A relation of the project: its full name, what is known of its columns, and its node.

    `complete` are all its columns in order, from catalog.json or the header of a seed.
    """

    node: DbtNode
    name: str
    kind: DatasetKind
    naming: Naming
    complete: tuple[ColumnSchema, ...] = ()

    @cached_property
    def described(self) -> tuple[ColumnSchema, ...]:
        """The columns of a properties file, which need not be all. Of tables that did not change, nobody asks."""
        return described_columns(self.node, self.naming)

    def types(self) -> dict[str, str]:
        """Return the known types of its columns, by path; the catalog's take precedence."""
        return {column_text(one.name): one.data_type for one in (*self.described, *self.complete) if one.data_type}


@frozen
class DbtModel:
    """A model that SQL builds: its table, its SQL, and the file whose text that is."""

    table: DbtTable
    source: str
    given: ModelInput


class DbtProject:
    """The content of one manifest, with the names that SQL and logs of the warehouse use."""

    def __init__(
        self, artifacts: Artifacts, names: ProjectNames, folder: Path | None, *, as_defined: bool = False
    ) -> None:
        """Read a project. `as_defined`: what dbt deferred to another environment is read as the project's own."""
        self.names = names
        self.artifacts = artifacts
        self._as_defined = as_defined
        self._referred = ReferredTables()
        self._folder = folder
        manifest = artifacts.manifest
        self._compiled = CompiledFiles(artifacts.target, folder, manifest, artifacts.macros)
        self._nodes: Mapping[str, DbtNode] = {**manifest.sources, **manifest.nodes}
        self.tables: dict[str, DbtTable] = {
            key: self._table(node) for key, node in self._nodes.items() if not node.is_ephemeral
        }
        """The relations, by unique id."""
        self.failures: Mapping[str, DbtNode] = {} if as_defined else manifest.failures
        """The tests whose failing rows are stored in a relation: it has copies of what they test."""
        self.tables |= {key: self._table(node) for key, node in self.failures.items()}
        self.consumers: Mapping[str, Consumer] = with_metric_measures(manifest.consumers)
        self.exports = exports_of(self.consumers, names)
        self.asked = self.asked_columns(ExtractionOptions(names.naming))
        """The columns that templates ask for."""

    @property
    def python_models(self) -> Iterator[DbtTable]:
        """The models in Python."""
        return (table for table in self.tables.values() if self.names.is_built(table.node) and table.node.is_python)

    def models(self) -> list[DbtModel]:
        """Return the models that SQL builds, each after those that the manifest says it needs, if there is no cycle."""
        manifest = self.artifacts.manifest
        texts = self._texts()
        self._referred = ReferredTables()
        steps = self._build_steps()
        found = []
        tests = (key for key, node in self.failures.items() if node.compiled_code or self._compiled.has(node))
        for key in (*self._in_order(), *tests):
            table = self.tables[key]
            sql = texts.sql_of(table.node)
            reads = tuple(dict.fromkeys(self._reads_of(table, sql)))
            functions, unfollowed = called_functions(table.node, manifest.functions, texts.body_of)
            unread = (*sql.unread, *self.hooks.unread_of(key), *steps.unread_of(table.node), *unfollowed)
            given = ModelInput(
                key, table.name, sql.text, table.kind, reads, sql.doubts, unread, sql.other_builds, functions,
                self.hooks.read_for(key), self.hooks.temporary_for(key), _contract_of(table),
            )  # fmt: skip
            self.asked.add(given)
            found.append(DbtModel(table, sql.source, given))
        return [*found, *self._semantic_models()]

    def ephemeral_models(self) -> Iterator[DbtModel]:
        """Yield the ephemeral models: no relation is theirs, but tests, exposures and metrics name them."""
        texts = self._texts()
        for key, node in self._nodes.items():
            if not node.is_ephemeral:
                continue
            sql = texts.sql_of(node)
            name = format_name(["dbt", key])
            reads = tuple(dict.fromkeys(self.reads(node.depends_on.nodes)))
            table = DbtTable(node, name, DatasetKind.VIEW, self.names.naming)
            yield DbtModel(table, sql.source, ModelInput(key, name, sql.text, table.kind, reads, sql.doubts))

    def _semantic_models(self) -> Iterator[DbtModel]:
        """Yield the semantic models as queries over their models."""
        for key, consumer in self.consumers.items():
            sql = semantic_sql(consumer) if consumer.resource_type == ResourceType.SEMANTIC_MODEL else None
            if sql is None:
                continue
            node = DbtNode.model_construct(
                unique_id=key,
                resource_type=consumer.resource_type,
                name=consumer.name,
                original_file_path=consumer.original_file_path,
                depends_on=consumer.depends_on,
            )
            name = format_name(["dbt", key])
            reads = tuple(dict.fromkeys(self.reads(consumer.depends_on.nodes)))
            table = DbtTable(node, name, DatasetKind.EXPOSURE, self.names.naming)
            yield DbtModel(table, consumer.original_file_path, ModelInput(key, name, sql, DatasetKind.EXPOSURE, reads))

    @cached_property
    def all_hooks(self) -> tuple[Hook, ...]:
        """The hooks of the project and of its nodes."""
        return tuple(self._texts().hooks())

    @cached_property
    def hooks(self) -> HookEffects:
        """What the hooks do to tables."""
        return HookEffects() if self._as_defined else self.effects_of(self.all_hooks)

    def effects_of(self, hooks: Iterable[Hook]) -> HookEffects:
        """Return what some of the hooks do to tables."""
        built = {table.name for table in self.tables.values() if table.node.resource_type != ResourceType.SOURCE}
        return read_hooks(hooks, self._build_steps(), ExtractionOptions(self.names.naming), built)

    def hook_tables(self) -> dict[str, HookTables]:
        """Return the tables of the hooks that are known to do nothing else than to write and read them, by key."""
        return tables_of_hooks(self.all_hooks, self._build_steps(), ExtractionOptions(self.names.naming))

    def asked_columns(
        self,
        options: ExtractionOptions,
        learnt: Callable[[str], Collection[str] | None] = lambda _: None,
        earlier: Earlier = lambda _: None,
    ) -> AskedColumns:
        """Return the columns that templates ask for; the arguments are those of the resolution of the project."""
        return AskedColumns(options, self.complete_names(), self.described_names(), learnt, earlier)

    def _texts(self) -> ModelTexts:
        return ModelTexts(
            self.artifacts, self._folder, self._compiled, as_defined=self._as_defined, columns=self.columns_of
        )

    def columns_of(self, node: DbtNode) -> KnownColumns | None:
        """Return the columns of a relation that a template asks for; of a properties file, these need not be all."""
        table = self.tables.get(node.unique_id)
        if table is None:
            return None
        is_built = self.names.is_built(node) and not node.is_python
        names = self.asked.of(table.name, is_built=is_built)
        # A revision is compared with another one, of which other columns may be described.
        listed = names or ([] if self._as_defined else [one.name for one in table.described])
        types = table.types()
        columns = tuple(ColumnSchema(name, types.get(column_text(name))) for name in listed)
        has_placeholder = any("{{" in name for name in listed)  # it may stand for any number of columns
        return KnownColumns(columns, complete=bool(names)) if columns and not has_placeholder else None

    def _reads_of(self, table: DbtTable, sql: ModelSql) -> Iterator[str]:
        """Yield the full names of the relations that a model needs; note those that are not its project's own."""
        others = {self.tables[key].name: self.names.relation(name) for key, name in sql.deferred.items()}
        self._referred.add(others, is_part=sql.is_part)
        yield from (others.get(name, name) for name in self.reads(table.node.depends_on.nodes))

    def complete_names(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the columns of all tables that are known completely, by the table's full name."""
        return {one.name: tuple(column.name for column in one.complete) for one in self.tables.values() if one.complete}

    def described_names(self) -> Callable[[str], Collection[str]]:
        """Return a function that returns the names of the described columns of a table by its full name."""
        tables = {one.name: one for one in self.tables.values() if one.node.columns}

        def names(table: str) -> Collection[str]:
            return {column.name for column in tables[table].described} if table in tables else ()

        return names

    def reads(self, needed: tuple[str, ...]) -> Iterator[str]:
        """Yield the full names of the relations among some nodes; for what has none, of those that it needs."""
        seen: set[str] = set()
        stack = list(reversed(needed))
        while stack:
            key = stack.pop()
            if key in seen:
                continue
            seen.add(key)
            if key in self.tables:
                yield self.tables[key].name
            elif (node := self._nodes.get(key) or self.artifacts.manifest.functions.get(key)) is not None:
                stack.extend(reversed(node.depends_on.nodes))

    def problems(self) -> Iterator[tuple[str, Diagnostic]]:
        """Yield the problems of the artifacts, and what builds without SQL do besides, each with the file's name."""
        yield from self.artifacts.problems
        if self._compiled.found:
            yield "manifest.json", _compiled_earlier(self._compiled.found)
        yield from (("manifest.json", problem) for problem in self._referred.problems())
        last = self.artifacts.last_run
        if last is not None and last.command == "clone" and last.built:
            yield "run_results.json", cloned(len(last.built))
        steps = self._build_steps()
        for node in self._nodes.values():
            if node.resource_type == ResourceType.SEED or node.is_python:
                problems = (*self.hooks.unread_of(node.unique_id), *steps.unread_of(node))
                yield from ((node.original_file_path, problem) for problem in problems)
        yield from ((hook.node.original_file_path, problem) for hook, problem in self.hooks.of_project())

    def _build_steps(self) -> BuildSteps:
        return BuildSteps(self.artifacts.macros, self.artifacts.manifest.metadata.adapter_type)

    def _table(self, node: DbtNode) -> DbtTable:
        naming = self.names.naming
        is_view = node.config.materialized == "view" and node.resource_type == ResourceType.MODEL
        is_view = is_view or node.config.store_failures_as == "view"
        return DbtTable(
            node,
            self.names.table(node),
            DatasetKind.VIEW if is_view or node.config.materialized == "materialized_view" else DatasetKind.TABLE,
            naming,
            catalog_columns(self.artifacts, node.unique_id, naming) or seed_columns(node, self._folder, naming),
        )

    def _in_order(self) -> Iterator[str]:
        """Yield the unique ids of the models that SQL builds, needed ones first."""
        done: set[str] = set()
        for first in self._nodes:
            stack = [(first, False)]
            while stack:
                key, expanded = stack.pop()
                if expanded:
                    if key in self.tables and self.names.is_built(self._nodes[key]) and not self._nodes[key].is_python:
                        yield key
                    continue
                if key in done or key not in self._nodes:
                    continue
                done.add(key)
                stack.append((key, True))
                stack.extend((other, False) for other in reversed(self._nodes[key].depends_on.nodes))


def _contract_of(table: DbtTable) -> tuple[str, ...]:
    """Return the columns of an enforced contract of a table; that of a view does not order them.

    https://docs.getdbt.com/reference/resource-configs/contract
    """
    config = table.node.config
    is_table = config.materialized in ("table", "incremental") and not table.node.is_python
    return tuple(one.name for one in table.described) if config.contract.enforced and is_table else ()


def _compiled_earlier(models: int) -> Diagnostic:
    message = (
        f"models that this dbt command did not compile: {models:,}; the SQL that an earlier one compiled is read, "
        "which is newer than the files that it is made of"
    )
    hint = "if variables or the environment differ, run `dbt compile`, and ingest again"
    return Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.INFO, message, hint=hint)

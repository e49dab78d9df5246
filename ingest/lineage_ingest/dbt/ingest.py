"""`ingest_project`: resolve a dbt project and store its lineage, apart from what has not changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import starmap
from types import MappingProxyType

from lineage.model.batch import JobKind, JobRecord, LineageBatch, dbt_job_key, definition_job_key
from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.model.files import FileKey, beginning
from lineage.model.names import dataset_of, is_column_key
from lineage.model.statement import ColumnSchema, Completeness
from lineage.saved_file import digest_of
from lineage.store.page_requests import JobFilter
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges, JobIdentity, JobSelection
from lineage_ingest.batch.application import apply_batch
from lineage_ingest.dbt.artifacts.manifest_nodes import ResourceType
from lineage_ingest.dbt.builds.hooks import is_hook
from lineage_ingest.dbt.earlier.earlier_builds import earlier_edges, read_table_columns
from lineage_ingest.dbt.earlier.learnt_schemas import LearntSchemas
from lineage_ingest.dbt.earlier.node_digests import digest_input, digest_stated
from lineage_ingest.dbt.earlier.node_states import count_edges, hook_state
from lineage_ingest.dbt.earlier.order_of_ingests import is_known_by_its_keys, is_newest, refuse_older
from lineage_ingest.dbt.earlier.other_environments import nodes_built_here, notices_of_others
from lineage_ingest.dbt.earlier.other_projects import StoredNode, nodes_to_state_again
from lineage_ingest.dbt.earlier.saved_state import NodeState, ProjectState
from lineage_ingest.dbt.facts import ProjectFacts, absent_columns
from lineage_ingest.dbt.model_resolution import ModelInput, ProjectResolution, ResolvedModel
from lineage_ingest.dbt.project import DbtProject, DbtTable
from lineage_ingest.dbt.project_batch import ProjectBatch, consumer_key, python_model_diagnostic
from lineage_ingest.dbt.project_summary import DbtSummary
from lineage_ingest.dbt.request import ProjectRequest
from lineage_ingest.dbt.semantic.semantic_layer import inputs_of, metrics_of
from lineage_ingest.dbt.semantic.semantic_uses import groups_of, uses_of

__all__ = ["ingest_project"]

Progress = Callable[[str, int, int | None], None]
_COUNTED = {
    Completeness.FULL: "resolved",
    Completeness.PARTIAL: "partial",
    Completeness.TABLES: "tables_only",
    Completeness.NONE: "unresolved",
}


def ingest_project(request: ProjectRequest, store: GraphStore, progress: Progress | None = None) -> DbtSummary:
    """Resolve a project, store its lineage, and retire what it no longer has.

    Raises:
        OlderManifestError: the store has the project as of a later time. Nothing is stored.
        StoreError: the store could not be read or written.
    """
    return _Ingest(request, store, progress or (lambda _stage, _done, _total: None)).run()


class _Ingest:
    def __init__(self, request: ProjectRequest, store: GraphStore, notify: Progress) -> None:
        self.request = request
        self.store = store
        self.notify = notify
        self.began = time.perf_counter()
        self.label = f"{request.names.project}@{request.names.environment}"
        self.project = DbtProject(request.artifacts, request.names, request.folder)
        self.batch = ProjectBatch(self.project, request.at)
        self.concerned: frozenset[str] = frozenset()
        """The nodes that are stated again because of what other projects have stated since."""
        self.hooks: Mapping[str, NodeState] = {}
        """The hooks that were stated before."""
        self.earlier = self._earlier_state()
        self.known = self._nodes_to_compare()
        self.nodes: dict[str, NodeState] = {}
        self.not_compiled = 0
        self.skipped: list[str] = []
        """The nodes that are not stated again."""
        self.elsewhere: list[str] = []
        """The file keys of the project's stored nodes in other environments."""
        self.replaced: set[str] = set()
        """The file keys of stored nodes in other environments whose tables are now those of this one."""

    def run(self) -> DbtSummary:
        """Resolve, store, and save the state."""
        request, store = self.request, self.store
        if self.earlier is None:
            refuse_older(store, self.label, request)
        if request.state is not None:
            request.state.forget()
        unchanged = self._add_models()
        self._add_other_tables()
        self._add_hooks()
        self._add_consumers()
        silent = self._add_facts()
        for source, problem in self.project.problems():
            self.batch.add_problem(source, problem)
        gone = self._gone()
        for file_key in (*gone, *sorted(self.replaced)):
            self.batch.add_gone(file_key)
        if self.replaced:
            stated = self.store.fact_sources(beginning(f"dbt/{request.names.project}"))
            silent += [one for one in stated if one[0] in self.replaced]
        content = (self.label, *(f"{key}={node.input}{node.stated}" for key, node in sorted(self.nodes.items())))
        batch = self.batch.records(self.label, content, self._counts(), time.perf_counter() - self.began)
        newest = self._is_newest(batch)
        self._see_skipped_again()
        applied = self._apply(batch)
        if silent:
            store.forget_facts(silent)
        if request.state is not None:
            lasting = newest and is_known_by_its_keys(store, batch)
            state = ProjectState(request.basis, request.at, self.nodes, lasting=lasting)
            request.state.write(store.last_session, state)
        return DbtSummary(
            batch,
            applied,
            time.perf_counter() - self.began,
            request.names.project,
            request.names.naming.dialect.name,
            unchanged,
            tuple(FileKey.parse(key).path for key in gone),
            tuple(notices_of_others(store, batch, request.names.project, self.elsewhere, self.replaced)),
        )

    def _earlier_state(self) -> ProjectState | None:
        """Return the state of the last ingest, if stating it again would only be an observation of the same.

        Nobody but other projects may have written to the store since, nothing else may differ, and nothing that the
        store knew by then may be from after that ingest's time: stating the same again would be newer than that.
        """
        store, request = self.store, self.request
        state = request.state.read(store.last_session) if request.state is not None else None
        if state is None or state.basis != request.basis or state.at > request.at:
            return None
        if not state.lasting and (state.at != request.at or state.others_since):
            return None
        self.hooks = {key: node for key, node in state.nodes.items() if is_hook(key)}
        if state.others_since:
            stored = {key: self._stored_node(key, node) for key, node in state.nodes.items()}
            self.concerned = nodes_to_state_again(store, stored, state.at)
        jobs, datasets = self._stored(key for key in state.nodes if key not in self.concerned)
        return None if store.is_seen_after(jobs, datasets, state.at) else state

    def _stored_node(self, key: str, node: NodeState) -> StoredNode:
        """Return the job and the datasets of a node."""
        (job,), datasets = self._stored([key])
        return StoredNode(job, next(iter(datasets), None), frozenset(map(self.batch.key_of, node.lookups.tables)))

    def _stored(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the jobs and the datasets of nodes."""
        listed = list(keys)
        datasets = [found for key in listed for found in (self._dataset_of(key), *self._written_by(key)) if found]
        return [dbt_job_key(str(self.request.names.file_key(key))) for key in listed], datasets

    def _dataset_of(self, key: str) -> str | None:
        """Return the dataset of a node of the project."""
        project = self.project
        if key in project.tables:
            return self.batch.key_of(project.tables[key].name)
        if key in project.exports:
            return self.batch.key_of(project.exports[key].table)
        return consumer_key(key) if key in project.consumers else None

    def _written_by(self, key: str) -> list[str]:
        """Return the datasets that a hook wrote when it was stated last."""
        node = self.hooks.get(key)
        return list(map(self.batch.key_of, node.lookups.schemas)) if node is not None else []

    def _nodes_to_compare(self) -> dict[str, NodeState]:
        """Return the nodes that were stated before, apart from those that are to be stated again in any case."""
        nodes = self.earlier.nodes if self.earlier is not None else {}
        return {key: node for key, node in nodes.items() if key not in self.concerned}

    def _see_skipped_again(self) -> None:
        """Let the store know that what is skipped was there at this time, too: what comes late may be from before."""
        at = self.request.at
        if self.earlier is not None and self.earlier.at != at and self.skipped:
            self.store.see_again(*self._stored(self.skipped), self.earlier.at, at)

    def _is_newest(self, batch: LineageBatch) -> bool:
        """Return, before a batch is applied, whether it is newer than all that is known of what it states."""
        if self.earlier is not None and not (batch.jobs or batch.datasets):
            return self.earlier.lasting  # nothing is stated
        return is_newest(self.store, batch, self.request.at)

    # Models

    def _add_models(self) -> int:
        """Resolve the models and add those that have changed; return the number of the others."""
        learnt = self._asked_from_store()
        models = self.project.models()
        columns = read_table_columns(models, self.request.artifacts, self.store, self.batch.key_of)
        models = (
            [replace(one, given=replace(one.given, table_columns=columns.get(one.given.key))) for one in models]
            if columns
            else models
        )
        known = self.known
        doubts = ({doubt.code for doubt in model.given.doubts} for model in models)
        self.not_compiled = sum(DiagnosticCode.NOT_COMPILED in codes for codes in doubts)
        inputs = {model.given.key: digest_input(model.given) for model in models}
        stated = {model.given.key: digest_stated(model.table, model.source) for model in models}

        def earlier(model: ModelInput) -> ResolvedModel | None:
            node = known.get(model.key)
            if node is None or (node.input, node.stated) != (inputs[model.key], stated[model.key]):
                return self.project.asked.resolved(model)
            if model.table_columns is not None and not model.table_columns.are_all_in(node.columns):
                return None
            return ResolvedModel(None, node.columns, node.lookups)

        resolution = ProjectResolution(
            [model.given for model in models],
            self.request.options,
            self.project.complete_names(),
            self.project.described_names(),
            learnt,
            earlier,
        )
        results = resolution.resolve(lambda done, total: self.notify("resolving", done, total))
        kept: dict[str, tuple[str, Collection[ColumnSchema]]] = {}
        unchanged = 0
        for model in models:
            key, resolved = model.given.key, results[model.given.key]
            if resolved.statement is None:
                self.nodes[key] = known[key]
                self.skipped.append(key)
                unchanged += 1
                continue
            statement = resolved.statement
            self.batch.add_model(model, statement, resolved.other_builds, resolved.lacking)
            problems = [found for one in (statement, *resolved.other_builds.values()) for found in one.diagnostics]
            self.nodes[key] = NodeState(
                # A time limit, and what a table keeps or lacks, depend on more than the input: try again next time.
                ""
                if resolved.kept
                or resolved.lacking
                or any(one.code is DiagnosticCode.TIME_EXCEEDED for one in problems)
                else inputs[key],
                stated[key],
                resolved.columns,
                resolved.lookups,
                str(statement.completeness),
                len(problems),
                count_edges((statement, *resolved.other_builds.values())),
                len(resolved.columns or model.table.complete or model.table.described),
                sum(one.severity is Severity.ERROR for one in problems),
            )
            if resolved.kept:
                job = dbt_job_key(str(self.request.names.file_key(key)))
                kept[job] = self.batch.key_of(model.given.table), resolved.kept
        self.batch.add_edges(earlier_edges(self.store, kept))
        return unchanged

    def _asked_from_store(self) -> LearntSchemas:
        """Let templates ask for the columns of tables, also of those that the store knows; return what it knows."""
        project, names = self.project, self.request.names
        bare = [one for one in project.tables.values() if not one.complete]
        built = {one.name for one in bare if names.is_built(one.node) and not one.node.is_python}
        learnt = self._learnt([one.name for one in bare if one.name not in built], project.hooks.created_columns())

        def earlier(model: ModelInput) -> ResolvedModel | None:
            node = self.known.get(model.key)
            is_same = node is not None and node.input == digest_input(model)
            return ResolvedModel(None, node.columns, node.lookups) if node is not None and is_same else None

        project.asked = project.asked_columns(self.request.options, learnt, earlier)
        return learnt

    # Other nodes

    def _add_other_tables(self) -> None:
        """Add the tables whose SQL is not known, if they have changed: sources, seeds, Python models, tests."""
        python = {table.node.unique_id for table in self.project.python_models}
        built = python | self.project.failures.keys()
        for key, table in self.project.tables.items():
            if key in self.nodes:
                continue
            problem = None
            if key in python and not self._is_stated_by_events(table):
                problem = python_model_diagnostic(table.node)
            reads = tuple(self.project.reads(table.node.depends_on.nodes)) if key in built else ()
            columns = len(table.complete or table.described)
            found = int(problem is not None)
            state = NodeState(
                digest_of(reads, problem),
                digest_stated(table),
                completeness=str(Completeness.TABLES) if key in built else "",
                diagnostics=found,
                outputs=columns,
                errors=found,
            )
            self.nodes[key] = state
            if self._is_known(key, state):
                continue
            if key in built:
                self.batch.add_without_sql(table, problem)
            else:
                self.batch.add_table(table)

    def _learnt(
        self, tables: Iterable[str] = (), created: Mapping[str, tuple[str, ...] | None] = MappingProxyType({})
    ) -> LearntSchemas:
        """Return what the store knows of these tables, and of others when they are asked for."""
        tables_now = self.project.tables.values()
        built = {self.batch.key_of(one.name) for one in tables_now if one.node.resource_type != ResourceType.SOURCE}
        own = [
            dbt_job_key(str(self.request.names.file_key(f"{kind}."))).rpartition("@")
            for kind in (ResourceType.MODEL, ResourceType.SNAPSHOT)
        ]

        def is_retired(job: str, dataset: str) -> bool:
            of_project = any(job.startswith(begin) and job.endswith(f"@{end}") for begin, _, end in own)
            return of_project and dataset not in built

        return LearntSchemas(self.store, self.batch.key_of, tables, self.request.catalog, is_retired, created)

    def _add_hooks(self) -> None:
        """Add the jobs of hooks that have changed; they see the tables as they are after all models."""
        project = self.project
        if not project.hooks.followed:
            return
        columns: dict[str, Collection[ColumnSchema]] = {
            table.name: table.complete or tuple(ColumnSchema(name) for name in self.nodes[key].columns or ())
            for key, table in project.tables.items()
            if key in self.nodes
        }
        named = project.hooks.named_columns(columns, self._learnt())
        given = project.hooks.digest(named)
        if all(key in self.known and self.known[key].input == given for key in project.hooks.followed):
            self.nodes |= {key: self.known[key] for key in project.hooks.followed}
            self.skipped += project.hooks.followed
            return
        for read_hook in project.hooks.resolve(self.request.options, named):
            key = read_hook.hook.key
            self.nodes[key] = state = hook_state(read_hook, given)
            if not self._is_known(key, state, by_input=False):
                self.batch.add_hook(read_hook)

    def _is_stated_by_events(self, table: DbtTable) -> bool:
        """Return whether OpenLineage events of the model's Spark run have its columns."""
        key = self.batch.key_of(table.name)
        jobs = self.store.job_keys_of([key], JobFilter(kinds=(JobKind.EVENT,)))[key]
        return any(is_column_key(edge.source) and dataset_of(edge.target) == key for edge in self.store.edges_of(jobs))

    def _add_consumers(self) -> None:
        for key, consumer in self.project.consumers.items():
            if key in self.nodes:  # a semantic model whose columns are known
                continue
            reads = (*self.project.reads(consumer.depends_on.nodes), *consumer.depends_on.nodes)
            used = [self.project.consumers[one] for one in consumer.depends_on.nodes if one in self.project.consumers]
            uses = list(uses_of(consumer, self.project.consumers))
            inputs = {(*one, True) for one in inputs_of(consumer, self.project.consumers)}
            inputs |= {(one.unique_id, one.column, one.own, one.is_value) for one in uses}
            state = NodeState(digest_of(reads, used, uses), digest_of(consumer), edges=len(inputs))
            self.nodes[key] = state
            if not self._is_known(key, state):
                self.batch.add_consumer(consumer)
        for key, export in self.project.exports.items():
            made = self.nodes[export.query.unique_id]
            columns = {*groups_of(export.query, self.project.consumers), *metrics_of(export.query)}
            state = NodeState(made.input, digest_of(made.stated, export.table, export.kind), edges=len(columns))
            self.nodes[key] = state
            if not self._is_known(key, state):
                self.batch.add_export(export)

    def _add_facts(self) -> list[tuple[str, str]]:
        """Add the facts that have changed; return what is no longer stated: the source and the dataset."""
        known = self.known
        facts = ProjectFacts(self.request.artifacts, self.request.names, self.request.at)
        for key, node in self.nodes.items():
            table, consumer = self.project.tables.get(key), self.project.consumers.get(key)
            was, given = known.get(key), ""
            if table is not None:
                columns = node.columns or tuple(one.name for one in table.complete) or None
                given = facts.digest_given(key, columns)
                if was is not None and (was.facts_input, was.stated) == (given, node.stated):
                    self.nodes[key] = replace(node, facts=was.facts, facts_input=given, absent=was.absent)
                    self._report_absent(table, was.absent)
                    continue
                node_facts, dataset = facts.of_table(table, columns), self.batch.key_of(table.name)
                self._report_absent(table, node_facts.absent)
            elif consumer is not None:
                node_facts, dataset = facts.of_consumer(consumer), consumer_key(key)
            else:
                continue
            digest = node_facts.digest()
            self.nodes[key] = replace(node, facts=digest, facts_input=given, absent=node_facts.absent)
            # The same facts are stated again if other columns are there to have them.
            if digest and (
                was is None or (was.facts, was.absent, was.stated) != (digest, node_facts.absent, node.stated)
            ):
                self.batch.add_facts(dataset, node_facts)
        if self.earlier is not None and all(starmap(self._states_as_before, self.earlier.nodes.items())):
            return []
        return list(self._no_longer_stated())

    def _states_as_before(self, key: str, was: NodeState) -> bool:
        """Return whether a node states facts of the same dataset as it did, if it did."""
        now = self.nodes.get(key)
        return not was.facts or (now is not None and bool(now.facts) and now.stated == was.stated)

    def _no_longer_stated(self) -> Iterator[tuple[str, str]]:
        """Yield the stored facts, by source and dataset, of nodes that state none, or of another dataset."""
        names = self.request.names
        datasets = {str(names.file_key(key)): self._dataset_of(key) for key, node in self.nodes.items() if node.facts}
        for source, dataset in self.store.fact_sources(beginning(f"dbt/{names.project}")):
            if not source.endswith(f"@{names.environment}") or datasets.get(source) == dataset:
                continue
            if source not in datasets:
                if self.request.artifacts.is_whole:
                    yield source, dataset
            elif str(datasets[source]) not in (
                alias for one in self.store.datasets([dataset]) for alias in one.aliases
            ):
                yield source, dataset

    def _report_absent(self, table: DbtTable, names: Collection[str]) -> None:
        if names:
            self.batch.add_problem(*absent_columns(table, names))

    def _is_known(self, key: str, state: NodeState, *, by_input: bool = True) -> bool:
        """Return whether a node was stated before as it is now, and note that it is skipped."""
        known = self.known.get(key)
        if known is None or known.stated != state.stated or (by_input and known.input != state.input):
            return False
        self.skipped.append(key)
        return True

    def _gone(self) -> list[str]:
        """Return the file keys of stored nodes that the project no longer has; none if the manifest is cut off."""
        if not self.request.artifacts.is_whole:
            return []
        names = self.request.names
        alone = self.project.consumers.keys() | self.project.exports.keys()
        with_jobs = (key for key, node in self.nodes.items() if node.completeness or key in alone)
        here = {str(names.file_key(key)) for key in with_jobs}
        here |= {str(names.file_key(key)) for key, _ in self.request.artifacts.manifest.invalid}
        wanted = JobSelection(files=(beginning(f"dbt/{names.project}"),), kinds=(JobKind.DBT,))
        heads = [str(head.file_key) for head in self.store.select_jobs(wanted)]
        ours = f"@{names.environment}"
        others = {key for key in heads if not key.endswith(ours)}
        if others:
            tables = {key: self.batch.key_of(one.name) for key, one in self.project.tables.items() if key in self.nodes}
            stated = tables.keys() - {*self.skipped}
            self.replaced = nodes_built_here(self.store, others, tables, stated)
        self.elsewhere = sorted(others - self.replaced)
        return [key for key in heads if key.endswith(ours) and key not in here]

    # Storing

    def _apply(self, batch: LineageBatch) -> AppliedChanges:
        self.notify("storing", 0, None)
        self._take_over_definitions(batch)
        return apply_batch(self.store, batch)

    def _take_over_definitions(self, batch: LineageBatch) -> None:
        """Make what a log has stated as definitions of the tables observations of the models, with their history."""
        models = {
            definition_job_key(job.writes[0]): job
            for job in batch.jobs
            if len(job.writes) == 1 and not is_hook(self.request.names.id_of(str(job.file_key)))
        }
        stated = self.store.jobs(sorted(models)) if models else []
        identities = {one.key: _identity(models[one.key]) for one in stated}
        if identities:
            self.store.rekey_jobs(identities)

    def _counts(self) -> Mapping[str, int]:
        models = self.project.tables.keys() - self.project.failures.keys()
        built = [node for key, node in self.nodes.items() if node.completeness and key in models]
        problems = list(self.project.problems())
        return {
            "models": len(built),
            **{name: sum(node.completeness == level for node in built) for level, name in _COUNTED.items()},
            "diagnostics": sum(node.diagnostics + bool(node.absent) for node in self.nodes.values()) + len(problems),
            "errors": sum(node.errors for node in self.nodes.values())
            + sum(one.severity is Severity.ERROR for _, one in problems),
            "tables": len(self.project.tables),
            "columns": sum(node.outputs for node in self.nodes.values()),
            "edges": sum(node.edges for node in self.nodes.values()),
            "consumers": len(self.project.consumers),
            "not_compiled": self.not_compiled,
        }


def _identity(model: JobRecord) -> JobIdentity:
    return JobIdentity(model.key, str(model.file_key), model.source or "", model.kind, model.operation)

"""The SQL of a model: compiled if dbt compiled it, else rendered from its raw code; of a snapshot, what dbt runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.text.name_lists import name_list
from lineage_ingest.dbt.artifacts.compiled_files import CompiledFiles
from lineage_ingest.dbt.artifacts.manifest_nodes import Config, DbtNode, ResourceType
from lineage_ingest.dbt.artifacts.target_folder import Artifacts
from lineage_ingest.dbt.builds.build_kinds import BUILD_KINDS, LATER_BUILD, asks_for_build
from lineage_ingest.dbt.builds.hooks import Hook, HookReader, run_values
from lineage_ingest.dbt.builds.row_matching import batch_query, matching_statement
from lineage_ingest.dbt.templates.call_marks import CallMarks
from lineage_ingest.dbt.templates.macro_calls import called_macros
from lineage_ingest.dbt.templates.project_variables import ProjectVariables
from lineage_ingest.dbt.templates.raw_sql import RawSqlRenderer, RenderingMissingError
from lineage_ingest.dbt.templates.rendered_references import (
    deferred_relations,
    needed_relations,
    replace_relation,
    whole_relations,
)
from lineage_ingest.dbt.templates.template_relations import KnownColumns

__all__ = ["ModelSql", "ModelTexts"]


class ModelSql(NamedTuple):
    """The SQL that defines a model; `source` is the file whose text it is, `doubts` what is not known about it.

    `unread` is what is known to be missing, `other_builds` are the queries of other builds: the first one of an
    incremental model may differ from the later ones. `is_part`: dbt compiled it for some of the rows only. `deferred`
    are the relations of another environment that it reads, by the unique ids of the nodes that these are.
    """

    text: str
    source: str
    doubts: tuple[Diagnostic, ...] = ()
    unread: tuple[Diagnostic, ...] = ()
    other_builds: tuple[str, ...] = ()
    is_part: bool = False
    deferred: Mapping[str, str] = MappingProxyType({})


class ModelTexts:
    """Returns the SQL of the models of one manifest."""

    def __init__(
        self,
        artifacts: Artifacts,
        folder: Path | None,
        compiled: CompiledFiles,
        *,
        as_defined: bool = False,
        columns: Callable[[DbtNode], KnownColumns | None] = lambda _: None,
    ) -> None:
        """Read models of a manifest; `folder` is that of the project, `compiled` has what dbt compiled before.

        `columns` returns the columns of a relation that a template asks for.

        `as_defined`: what dbt deferred to another environment is read as the project's own, and calls that are not
        expanded are marked, to be compared with those of another revision.
        """
        manifest, macros = artifacts.manifest, artifacts.macros
        self._nodes: Mapping[str, DbtNode] = {**manifest.sources, **manifest.nodes}
        self._known = frozenset(one.relation_name for one in self._nodes.values() if one.relation_name)
        self._elsewhere = artifacts.relations_elsewhere
        self._as_defined = as_defined
        self._columns = columns
        self._compiled = compiled
        self._folder = folder
        self._manifest = manifest
        self._macros = macros
        self._renderer: RawSqlRenderer | None = None
        adapter = manifest.metadata.adapter_type
        self._dbt_packages = frozenset(("dbt", f"dbt_{adapter}", "dbt_postgres", "dbt_spark"))

    def sql_of(self, node: DbtNode) -> ModelSql:
        """Return the SQL of a model or snapshot."""
        if node.compiled_code:
            sql = self._as_referred(node, node.compiled_code)
        elif (earlier := self._compiled.find(node)) is not None:
            doubts = (_OF_ANY_TARGET,) if earlier.is_of_any_target else ()
            sql = self._as_referred(node, earlier.text)._replace(source=earlier.path, doubts=doubts)
        else:
            sql = self._rendered(node)
        if self._has_other_builds(node):
            sql = self._with_other_builds(node, sql)
        return self._with_later_builds(node, sql)

    def _as_referred(self, node: DbtNode, compiled: str) -> ModelSql:
        """Return a model's compiled SQL with whole tables; note which of them are of another environment."""
        needed = list(needed_relations(node, self._nodes))
        text = whole_relations(compiled, node.raw_code or "", needed)
        is_part = text != compiled and node.config.incremental_strategy != "microbatch"
        found = list(deferred_relations(text, needed, self._known, self._elsewhere))
        if self._as_defined:
            for other, relation in found:
                text = replace_relation(text, relation, str(other.relation_name))
        source = node.compiled_path or node.original_file_path
        deferred = {} if self._as_defined else {other.unique_id: relation for other, relation in found}
        return ModelSql(text, source, is_part=is_part, deferred=deferred)

    def _with_later_builds(self, node: DbtNode, sql: ModelSql) -> ModelSql:
        """Return the SQL with what later builds of an incremental model or snapshot do to the rows of its table."""
        is_snapshot = node.resource_type == ResourceType.SNAPSHOT
        if not is_snapshot and node.config.materialized != "incremental":
            return sql
        inputs = [self._nodes[key] for key in node.depends_on.nodes if key in self._nodes]
        queries = [batch_query(one, node, inputs) for one in (sql.text, *sql.other_builds)]
        adapter = self._manifest.metadata.adapter_type
        matching = (matching_statement(one, node, adapter) for one in queries)
        others = dict.fromkeys((*sql.other_builds, *queries, *(one for one in matching if one is not None)))
        others.pop(sql.text, None)
        text = _snapshot_sql(sql.text, node.config) if is_snapshot else sql.text
        return sql._replace(text=text, other_builds=tuple(others))

    def hooks(self) -> Iterator[Hook]:
        """Yield the hooks of the project and of its nodes."""

        def renderer() -> RawSqlRenderer | None:
            variables, values = ProjectVariables(self._folder), run_values(self._manifest)
            try:
                return RawSqlRenderer(self._manifest, self._macros, _relation, variables, values)
            except RenderingMissingError:
                return None

        return HookReader(self._manifest, renderer).hooks()

    def body_of(self, function: DbtNode) -> str:
        """Return the body of a function."""
        return function.compiled_code or self._rendered(function).text

    def _has_other_builds(self, node: DbtNode) -> bool:
        """Return whether a template, or a macro that it calls, asks for the model's table or for a full refresh."""
        called = called_macros(node, self._macros, self._dbt_packages)
        texts = [node.raw_code or "", *(str(macro.get("macro_sql", "")) for macro in called)]
        is_incremental = node.config.materialized == "incremental"
        return any((is_incremental and _IS_INCREMENTAL.search(one)) or asks_for_build(one) for one in texts)

    def _with_other_builds(self, node: DbtNode, sql: ModelSql) -> ModelSql:
        """Return a model's SQL with the queries of its other builds; its compiled SQL is that of one."""
        try:
            rendered = [self._loaded().render(node, build=build) for build in BUILD_KINDS]
        except RenderingMissingError:
            rendered = []
        if rendered and not any(one.doubts or "{{" in one.text for one in rendered):
            known = {" ".join(sql.text.split())}
            others = [one.text for one in rendered if " ".join(one.text.split()) not in known]
            return sql._replace(other_builds=tuple(dict.fromkeys(others)))
        if sql.doubts:  # what is not known is reported already
            return sql
        is_later = bool(node.relation_name) and str(node.relation_name) in sql.text
        message = (
            f"the compiled SQL is that of {'later builds' if is_later else 'the first build'}: "
            "the template's other branch has macros or variables that are not known, and is not read"
        )
        # What later builds read is mostly what the first one does, and the model's own table.
        severity = Severity.INFO if is_later else Severity.WARNING
        hint = None if is_later else "run `dbt compile` when the model's table exists, and ingest again"
        unread = Diagnostic(DiagnosticCode.NOT_FOLLOWED, severity, message, hint=hint)
        return sql._replace(unread=(unread,))

    def _loaded(self) -> RawSqlRenderer:
        """Return the renderer.

        Raises:
            RenderingMissingError: Jinja is not installed.
        """
        if self._renderer is None:
            project = self._manifest.metadata.project_name or ""
            marks = CallMarks(self._macros, project, self._dbt_packages) if self._as_defined else None
            variables = ProjectVariables(self._folder)
            self._renderer = RawSqlRenderer(
                self._manifest, self._macros, _relation, variables, marks=marks, columns=self._columns
            )
        return self._renderer

    def _rendered(self, node: DbtNode) -> ModelSql:
        try:
            rendered = self._loaded().render(node, build=LATER_BUILD)
        except RenderingMissingError as error:
            problem = Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.WARNING, str(error), hint=_HINT)
            return ModelSql(node.raw_code or "", node.original_file_path, (problem,))
        message = (
            "dbt has not compiled this model: its raw SQL is read, with references and the project's macros resolved"
        )
        doubts = [Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.INFO, message, hint=_HINT), *rendered.doubts]
        if rendered.without_columns and not self._as_defined:
            doubts.append(_without_columns(rendered.without_columns))
        return ModelSql(rendered.text, node.original_file_path, tuple(doubts))


_IS_INCREMENTAL = re.compile(r"\{[{%](?:[^}%]|[}%](?!\}))*\bis_incremental\b")
_HINT = "run `dbt compile`, and ingest again"
_OF_ANY_TARGET = Diagnostic(
    DiagnosticCode.NOT_COMPILED,
    Severity.WARNING,
    "an earlier dbt command compiled this model, perhaps for another target: its template asks for `target`",
    hint=_HINT,
)


def _without_columns(relations: Sequence[str]) -> Diagnostic:
    message = f"the template asks for the columns of {name_list(relations, 3)}, which are not known"
    hint = "run `dbt docs generate`, or `dbt compile`, and ingest again"
    return Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.WARNING, message, hint=hint)


def _relation(node: DbtNode) -> str:
    if node.relation_name:
        return node.relation_name
    last = node.identifier or node.alias or node.name
    return ".".join(part for part in (node.database, node.schema_, last) if part)


def _snapshot_sql(query: str, config: Config) -> str:
    """Return the SELECT that creates a snapshot's table: the query's columns, and when and under which key a row held.

    https://docs.getdbt.com/docs/build/snapshots#snapshot-meta-fields
    """
    names = config.snapshot_meta_column_names
    keys = (config.unique_key,) if isinstance(config.unique_key, str) else config.unique_key or ()
    since = config.updated_at or "current_timestamp"
    scd_id = " || ".join((*keys, f"cast({since} as varchar)"))
    meta = {
        "dbt_scd_id": f"md5({scd_id})",
        "dbt_updated_at": since,
        "dbt_valid_from": since,
        "dbt_valid_to": f"nullif({since}, {since})",
    }
    if config.hard_deletes == "new_record":
        meta["dbt_is_deleted"] = "'False'"
    listed = ",\n    ".join(f"{value} as {names.get(name) or name}" for name, value in meta.items())
    return f"select *,\n    {listed}\nfrom (\n{query}\n) sbq"

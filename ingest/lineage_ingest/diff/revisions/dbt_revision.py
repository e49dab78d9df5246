"""A dbt project at one revision, from the artifacts of its target folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lineage.model.diagnostics import Severity
from lineage.model.text.name_lists import name_list
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import TableForm, base_table, opaque_table
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType
from lineage_ingest.dbt.artifacts.seed_files import rows_of
from lineage_ingest.dbt.builds.build_kinds import BUILD_KINDS, asks_for_build
from lineage_ingest.dbt.builds.hooks import hook_key
from lineage_ingest.dbt.builds.row_matching import deciding_columns
from lineage_ingest.dbt.project import DbtModel, DbtProject, DbtTable
from lineage_ingest.dbt.request import ProjectRequest
from lineage_ingest.dbt.templates.call_marks import CallMarks, without_marks
from lineage_ingest.dbt.templates.project_variables import ProjectVariables
from lineage_ingest.dbt.templates.raw_sql import RawSqlRenderer, RenderingMissingError
from lineage_ingest.dbt.templates.template_parts import control_blocks, without_comments, without_settings
from lineage_ingest.diff.definitions.table_definitions import (
    TEMPLATE_OF_LATER_BUILDS,
    Build,
    ProjectRevision,
    TableDefinition,
)
from lineage_ingest.diff.revisions.manifest_json import VARIABLE, ManifestJson
from lineage_ingest.diff.revisions.run_values import RunValues
from lineage_ingest.diff.revisions.seed_content import seed_relation

__all__ = ["dbt_revision"]

_NO_CONTENT = frozenset(
    ("tags", "meta", "docs", "group", "access", "persist_docs", "description", "enabled", "contract",
     "full_refresh", "on_configuration_change", "query_tag", "freshness", "severity",
     "static_analysis", "concurrent_batches", "column_types")
)  # fmt: skip
"""Settings that change neither what a model contains nor how it is stored.

Types of a seed's columns are part of these columns.
"""

_PHYSICAL = frozenset(
    ("materialized", "schema", "database", "alias", "quoting", "indexes", "cluster_by", "partition_by", "partitions",
     "sort", "sort_type", "dist", "file_format", "location_root", "table_format", "transient", "unlogged", "bind",
     "automatic_clustering", "kms_key_name", "hours_to_expiration", "require_partition_filter", "buckets",
     "clustered_by", "tblproperties", "liquid_clustered_by", "auto_liquid_cluster", "copy_grants", "secure",
     "snowflake_warehouse", "target_lag", "refresh_mode", "initialize", "external_volume")
)  # fmt: skip
"""Settings that change how a model is stored. Of an incremental model they may decide what is replaced."""

_APPLIED = frozenset(("grants", "labels"))
"""Settings that any build applies to the table, whatever it contains."""

_HOOKS = frozenset(("pre-hook", "post-hook", "pre_hook", "post_hook"))

_GUESS = re.compile(r" is (?:taken|read once)\b")
"""What a template was answered without knowing it, so that some of it is not read."""
_BODY = re.compile(r"\{%[-+]?\s*(?:end)?macro\b.*?%\}", re.DOTALL)
_CALL = re.compile(r"\b(?P<env>env_)?var\s*\(\s*(?:(?P<quote>['\"])(?P<name>[^'\"]*)(?P=quote))?")
_OWN_STATE = re.compile(r"\{[{%](?:[^}%]|[}%](?!\}))*\b(?:is_incremental|this)\b")


def dbt_revision(
    request: ProjectRequest,
    raw: ManifestJson,
    label: str,
    *,
    with_types: bool,
    with_variables: bool = False,
    beside: frozenset[str] = frozenset(),
) -> ProjectRevision:
    """Return the definitions of a dbt project; `raw` is its manifest, `beside` the hooks that change no model.

    `with_types`: types in catalog.json count as part of source columns. `with_variables`: variables in the project's
    file count as part of the SQL that dbt has not compiled.
    """
    artifacts = request.artifacts
    project = DbtProject(artifacts, request.names, request.folder, as_defined=True)
    catalog = {one.name: tuple(one.names) for one in request.catalog}
    project.asked = project.asked_columns(request.options, catalog.get)
    definitions: dict[str, TableDefinition] = {}
    reader = _Reader(project, raw, request.folder, beside, with_types=with_types, with_variables=with_variables)
    for table in project.tables.values():
        if table.node.resource_type == ResourceType.SEED:
            definitions[table.node.unique_id] = reader.seed(table)
        elif request.names.is_built(table.node) and table.node.is_python:
            definitions[table.node.unique_id] = reader.python(table)
    for model in (*project.models(), *project.ephemeral_models()):
        definitions[model.given.key] = reader.model(model)
    tables = {
        table.name: _source(table, with_types)
        for table in project.tables.values()
        if table.node.unique_id not in definitions
    }
    for one in request.catalog:
        if one.name not in tables or tables[one.name].is_open:
            tables[one.name] = base_table(one.name, [(column.name, column.data_type) for column in one.columns])
    problems = tuple(f"{source}: {problem}" for source, problem in artifacts.problems)
    return ProjectRevision(label, request.names.naming, definitions, tables, problems)


def _source(table: DbtTable, with_types: bool) -> TableForm:
    if not table.complete:
        return base_table(table.name)
    return base_table(table.name, [(one.name, one.data_type if with_types else None) for one in table.complete])


class _Reader:
    """Makes definitions of the nodes of one manifest."""

    def __init__(
        self,
        project: DbtProject,
        raw: ManifestJson,
        folder: Path | None,
        beside: frozenset[str],
        *,
        with_types: bool,
        with_variables: bool,
    ) -> None:
        self._with_types = with_types
        self._variables = ProjectVariables(folder) if with_variables else None
        self._project = project
        self._raw = raw
        self._run_values = RunValues(raw)
        self._folder = folder
        artifacts = project.artifacts
        self._beside = beside
        self._hooks = raw.project_hooks(beside)
        try:
            relation = _relation_text
            name, left_out = artifacts.manifest.metadata.project_name or "", raw.packages_of_dbt
            marks = CallMarks(artifacts.macros, name, left_out)
            self._renderer: RawSqlRenderer | None = RawSqlRenderer(
                artifacts.manifest, artifacts.macros, relation, ProjectVariables(folder), marks=marks,
                columns=project.columns_of,
            )  # fmt: skip
        except RenderingMissingError:
            self._renderer = None

    def seed(self, table: DbtTable) -> TableDefinition:
        """Return a seed: its rows are those of its file."""
        node = table.node
        columns = [column.name for column in table.complete]
        relation = seed_relation(node, columns, self._folder)
        is_guessed = columns and node.checksum.name == "sha256" and rows_of(node, self._folder) is None
        unread = None
        if is_guessed and node.unique_id not in self._project.artifacts.catalog:
            unread = "what dbt has read is no longer in its folder, so that columns added or removed are not compared"
        return self._definition(table, "", Build.SEED, relation=relation, written=relation.content, unread=unread)

    def python(self, table: DbtTable) -> TableDefinition:
        """Return a Python model: only its text can be compared."""
        node = table.node
        text = node.raw_code or node.compiled_code or ""
        names = [column.name for column in table.complete] if self._with_types else None
        relation = opaque_table(digest("python", node.unique_id, text), names or None)
        reads = tuple(dict.fromkeys(self._project.reads(node.depends_on.nodes)))
        return self._definition(table, "", _build_of(node), relation=relation, reads=reads, written=text)

    def model(self, model: DbtModel) -> TableDefinition:
        """Return a model, snapshot or semantic model."""
        node, given = model.table.node, model.given
        if node.resource_type == ResourceType.SEMANTIC_MODEL:
            source = node.original_file_path
            return TableDefinition(
                given.key, given.table, node.name, source, given.text, Build.CONSUMER, reads=given.reads
            )
        every = [str(one.message) for one in given.doubts if one.severity is not Severity.INFO]
        guesses = [one for one in every if _GUESS.search(one)]
        doubts = tuple(one for one in every if one not in guesses)
        more: list[tuple[str, str]] = []
        build = _build_of(node)
        unread = None
        raw_code = node.raw_code or ""
        templates = (raw_code, *(macro for _, macro in self._raw.own_macros_of(node.unique_id)))
        text, later = self._run_values.removed_from(given.text, templates), None
        has_own_state = any(_OWN_STATE.search(one) or asks_for_build(one) for one in templates)
        if build is Build.INCREMENTAL and has_own_state:
            rendered = self._all_builds(node)
            if rendered is not None:
                text, later, refresh = rendered
                doubts = ()
                more += [("SQL of a full refresh", digest(refresh))] if refresh not in (text, later) else []
            else:
                more.append((TEMPLATE_OF_LATER_BUILDS, self._template_of(node)))
                values, is_unknown = self._values_in(node.package_name or "", templates)
                more += [("variables of later builds", values)] if values else []
                if is_unknown:
                    unread = "var() or env_var() beside is_incremental(): only the build that dbt compiled is compared"
        elif has_own_state and build is not Build.SNAPSHOT and not self._is_same_for_all_builds(node):
            more.append(("SQL that depends on the build", self._template_of(node)))
        if doubts:
            more.append(("template", self._template_of(node)))
        elif guesses:  # what was left out, or read once, is in these blocks only
            blocks = [without_comments(one) for one in control_blocks(without_settings(raw_code))]
            more.append(("template blocks", digest(blocks, guesses)))
            more += self._macros_that_decide(node)
        functions = tuple(key for key in node.depends_on.nodes if key in self._project.artifacts.manifest.functions)
        if behind := list(self._project.reads(functions)):
            doubts = (*doubts, f"functions that it calls read {name_list(behind, 3)}: it is compared as a whole")
        made = self._definition(
            model.table, text, build, later_text=later, reads=given.reads, doubts=doubts, more=more,
            written=raw_code or None, unread=unread,
        )  # fmt: skip
        return replace(made, guesses=tuple(map(without_marks, guesses)))

    def _template_of(self, node: DbtNode) -> str:
        """Return a digest of a template, without settings and comments, and of the macros that it needs."""
        own = self._raw.own_macros_of(node.unique_id)
        return digest(without_comments(without_settings(node.raw_code or "")), own)

    def _macros_that_decide(self, node: DbtNode) -> Iterator[tuple[str, str]]:
        """Yield the macros that a node needs which have control structures: what they leave out is not known."""
        for key, text in self._raw.own_macros_of(node.unique_id):
            if blocks := control_blocks(_BODY.sub("", text)):
                yield f"macro {key.removeprefix('macro.')}", digest([without_comments(one) for one in blocks])

    def _values_in(self, package: str, templates: Sequence[str]) -> tuple[str, bool]:
        """Return a digest of the variables that templates read, and whether some of their values are not known."""
        calls = [call for text in templates for call in _CALL.finditer(text)]
        if not calls:
            return "", False
        names = sorted({call["name"] for call in calls if call["name"] is not None and not call["env"]})
        known = self._variables is not None and all(call["name"] is not None and not call["env"] for call in calls)
        if self._variables is None:
            return "", True
        return digest([(name, repr(self._variables.value(package, name))) for name in names]), not known

    def _all_builds(self, node: DbtNode) -> tuple[str, str, str] | None:
        """Return an incremental model's SQL of its first build, of later ones, and of a full refresh.

        None if a macro is not known.
        """
        texts = [node.raw_code or "", *(text for _, text in self._raw.own_macros_of(node.unique_id))]
        is_compiled = bool(node.compiled_code)  # then the values of variables are in the compiled SQL only
        if self._renderer is None or (is_compiled and any(map(VARIABLE.search, texts))):
            return None
        first, later, refresh = (self._renderer.render(node, build=build) for build in BUILD_KINDS)
        for one in (first, later, refresh):
            known = () if is_compiled else [doubt for doubt in one.doubts if _GUESS.search(str(doubt.message))]
            if len(known) < len(one.doubts) or (is_compiled and "{{" in one.text):
                return None
        return first.text, later.text, refresh.text

    def _is_same_for_all_builds(self, node: DbtNode) -> bool:
        """Return whether each build has the same SQL, which does not read the model's own table: a hook may name it."""
        rendered = self._all_builds(node)
        return rendered is not None and len(set(rendered)) == 1 and _relation_text(node) not in rendered[0]

    def _definition(
        self,
        table: DbtTable,
        text: str,
        build: Build,
        *,
        relation: TableForm | None = None,
        reads: Sequence[str] = (),
        later_text: str | None = None,
        doubts: tuple[str, ...] = (),
        more: Sequence[tuple[str, str]] = (),
        written: str | None = None,
        unread: str | None = None,
    ) -> TableDefinition:
        node = table.node
        config = self._raw.config(node.unique_id)
        physical = [name for name in config if name in _PHYSICAL]
        applied = _APPLIED | _HOOKS if self._is_beside(node) else _APPLIED
        content = [name for name in config if name not in _NO_CONTENT | _PHYSICAL | applied]
        is_microbatch = config.get("incremental_strategy") == "microbatch"
        if not is_microbatch:  # of any other model, it only says how microbatch models read it
            content = [name for name in content if name != "event_time"]
        if build.has_history:
            content += physical
        settings = [(name, _as_text(config[name])) for name in sorted(content) if config[name] not in _UNSET]
        others = [(name, _as_text(config[name])) for name in sorted(physical) if config[name] not in _UNSET]
        others.append(("materialized", str(config.get("materialized"))))
        settings += [*more, *self._overrides(node, build), *self._raw.other_needs(node.unique_id)]
        if is_microbatch:  # dbt filters what it reads by its event time
            settings += self._raw.event_times(node.unique_id)
        as_applied = [(name, _as_text(config[name])) for name in sorted(applied) if config.get(name) not in _UNSET]
        if any(config.get(hook) for hook in _HOOKS) and (macros := self._raw.own_macros_of(node.unique_id)):
            (as_applied if applied >= _HOOKS else settings).append(("macros of hooks", digest(macros)))
        if self._hooks:
            settings.append(("hooks of the project", self._hooks))
        contract = self._contract(node)
        if constraints := self._raw.contract_constraints(node.unique_id):
            (settings if build.has_history else others).append(("contract", constraints))
        adapter = self._project.artifacts.manifest.metadata.adapter_type
        names = deciding_columns(node.config, adapter) if build.has_history else ()
        version = self._raw.node(node.unique_id).get("version")
        title = node.name if version is None else f"{node.name}.v{version}"  # as dbt selects it
        return TableDefinition(
            node.unique_id, table.name, title, node.original_file_path, text, build, later_text, tuple(reads),
            tuple(settings), tuple(dict(others).items()),
            tuple(self._project.names.naming.dialect.fold_column(name, quoted=False) for name in names),
            relation, {**self._types_in_catalog(table), **contract}, contract if build in _CAST else {},
            tuple(contract) if build in _CAST else (), doubts, (), written, unread, tuple(as_applied),
        )  # fmt: skip

    def _is_beside(self, node: DbtNode) -> bool:
        """Return whether all hooks of a node leave alone what the project's tables contain."""
        counts = (("pre-hook", len(node.config.pre_hook)), ("post-hook", len(node.config.post_hook)))
        keys = {hook_key(kind, node.unique_id, number) for kind, count in counts for number in range(count)}
        return bool(keys) and keys <= self._beside

    def _contract(self, node: DbtNode) -> dict[str, str]:
        """Return the types of an enforced contract, by the names that the columns have in SQL."""
        fold = self._project.names.naming.dialect.fold_column
        return {
            str(fold(name, quoted=quoted)): kind
            for name, quoted, kind in self._raw.contract_types(node.unique_id)
        }  # fmt: skip

    def _types_in_catalog(self, table: DbtTable) -> dict[str, str]:
        """Return the types that the database has; those that a seed declares are names of another kind."""
        known = table.complete if table.node.unique_id in self._project.artifacts.catalog else ()
        return {str(one.name): one.data_type for one in known if one.data_type}

    def _overrides(self, node: DbtNode, build: Build) -> Iterator[tuple[str, str]]:
        """Yield macros of the project that decide how the model is built, though its SQL does not show them."""
        found = self._raw.build_macros(node.config.materialized or "view")
        if found and build is not Build.EPHEMERAL:
            yield "macros that build it", digest(found)


_CAST = (Build.TABLE, Build.INCREMENTAL)
"""Builds of which dbt creates the table with the types of a contract, and then fills it."""
_UNSET: tuple[object, ...] = (None, [], {}, "")


def _as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _build_of(node: DbtNode) -> Build:
    if node.resource_type == ResourceType.SNAPSHOT:
        return Build.SNAPSHOT
    kind = node.config.materialized or "view"
    if kind == "ephemeral":
        return Build.EPHEMERAL
    if kind == "view":
        return Build.VIEW
    # Of a materialization that is not dbt's own, nothing is known but its name.
    return Build.TABLE if kind in ("table", "materialized_view", "dynamic_table") else Build.INCREMENTAL


def _relation_text(node: DbtNode) -> str:
    if node.relation_name:
        return node.relation_name
    last = node.identifier or node.alias or node.name
    return ".".join(part for part in (node.database, node.schema_, last) if part)

"""The edges between a project's columns: which carry personal data, and which columns are read that do not exist."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from lineage.catalog import Catalog
from lineage.catalog.mentioned_tables import TextsByWords
from lineage.frozen import frozen
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.files import Environment, FileKey
from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ColumnRef, StatementLineage
from lineage.sql.extraction import options_for
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.sql.script.reuse.saved_resolutions import SavedResolutions
from lineage.sql.script.script import Script
from lineage_ingest.dbt.model_resolution import ModelInput, ProjectResolution, ResolvedModel
from lineage_ingest.dbt.project import DbtProject
from lineage_ingest.dbt.request import ProjectRequest
from lineage_ingest.diff.revisions.revisions import Revision
from lineage_ingest.sql_files.files.discovery import find_sql_files
from lineage_ingest.sql_files.files.file_reader import read_sql_file

__all__ = ["MissingRead", "ProjectEdges", "project_edges"]

Place = tuple[str, str]
"""A table's full name, and a column."""


@frozen(order=True)
class MissingRead:
    """A table whose SQL reads a column that does not exist: what it is written as, and why it is not found."""

    table: str
    name: str
    message: str


@frozen
class ProjectEdges:
    """The lineage of a project's definitions, by the full name of the table that each makes."""

    statements: Sequence[tuple[str, StatementLineage]]

    def missing(self) -> set[MissingRead]:
        """Return the reads of columns that do not exist."""
        return {
            MissingRead(table, reference.name, str(problem.message))
            for table, statement in self.statements
            for reference in statement.unresolved
            if reference.code is DiagnosticCode.UNKNOWN_COLUMN
            for problem in statement.diagnostics
            if problem.code is reference.code and problem.span == reference.span
        }

    def carriers(self, starts: Collection[Place]) -> dict[Place, Place]:
        """Return the columns that values of these flow to unmasked, each with the column that it comes from."""
        below: dict[Place, list[Place]] = {}
        for table, statement in self.statements:
            for edge in statement.edges:
                if edge.kind is EdgeKind.CONTRIBUTES and not edge.masking and isinstance(edge.target, ColumnRef):
                    source = (edge.source.table or "", str(edge.source.column))
                    below.setdefault(source, []).append((table, str(edge.target.column)))
        carriers: dict[Place, Place] = {}
        stack = list(starts)
        while stack:
            place = stack.pop()
            for target in below.get(place, ()):
                if target not in carriers and target not in starts:
                    carriers[target] = place
                    stack.append(target)
        return carriers

    def readers(self, table: str, column: str) -> Iterator[str]:
        """Yield the tables whose SQL reads a column, for its value or as a condition."""
        for target, statement in self.statements:
            if any(str(edge.source.column) == column and edge.source.table == table for edge in statement.edges):
                yield target


def project_edges(
    base: Revision, head: Revision, only: Collection[str] | None = None
) -> tuple[ProjectEdges, ProjectEdges]:
    """Return the edges of both sides; with `only`, those of the tables of these names.

    What is the same on both sides is resolved once.
    """
    if base.request is not None and head.request is not None:
        before = _resolution_of(base.request)
        before.resolve(only=only)
        after = _resolution_of(head.request, before)
        after.resolve(only=only)
        return _edges_of(before), _edges_of(after)
    with tempfile.TemporaryDirectory() as cache:
        return _of_sql(base, only, Path(cache)), _of_sql(head, only, Path(cache))


def _resolution_of(request: ProjectRequest, other: ProjectResolution | None = None) -> ProjectResolution:
    """Return the resolution of a dbt project; what `other` has resolved is taken from there."""
    project = DbtProject(request.artifacts, request.names, request.folder, as_defined=True)
    learnt = _names_in(request.catalog)
    project.asked = project.asked_columns(request.options, learnt)
    known = {model.key: model for model in other.models} if other is not None else {}

    def earlier(model: ModelInput) -> ResolvedModel | None:
        is_same = other is not None and known.get(model.key) == model
        return other.results.get(model.key) if other is not None and is_same else project.asked.resolved(model)

    return ProjectResolution(
        [model.given for model in project.models()],
        request.options,
        project.complete_names(),
        project.described_names(),
        learnt,
        earlier,
    )


def _edges_of(resolution: ProjectResolution) -> ProjectEdges:
    results = resolution.results
    found = ((one.table, each) for one in resolution.models if one.key in results
             for each in (results[one.key].statement, *results[one.key].other_builds.values()))  # fmt: skip
    return ProjectEdges([(table, statement) for table, statement in found if statement is not None])


def _names_in(catalog: Catalog) -> Callable[[str], tuple[str, ...] | None]:
    known = {table.name: tuple(table.names) for table in catalog}
    return known.get


def _of_sql(revision: Revision, only: Collection[str] | None, cache: Path) -> ProjectEdges:
    """Return the edges of a folder of SQL; results for texts are saved in the folder `cache`, and taken from there."""
    naming = revision.naming
    root, environment = revision.folder.resolve(), Environment.of(naming)
    texts: dict[str, str] = {}
    for path in sorted(find_sql_files([revision.folder]).files):
        name = path.relative_to(root).as_posix() if root in path.parents else path.name
        texts[name] = read_sql_file(path, FileKey("", name, environment), name, name).text
    options = options_for(
        naming.dialect,
        namespace=naming.namespace,
        default_database=naming.default_database,
        default_schema=naming.default_schema,
    )
    if only is None:
        saved = SavedResolutions(cache, options, cache)
        statements = resolve_texts(texts, options, revision.catalog, saved=saved)
    else:
        index = TextsByWords((name, f"{name} {text}") for name, text in texts.items())
        named = {name for table in only for name in index.naming(table)}
        statements = Script(texts, options, revision.catalog).resolve(only=named)
    return ProjectEdges(
        [(one.target, one) for one in statements if one.target is not None and (only is None or one.target in only)]
    )

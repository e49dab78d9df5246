"""The edges between a project's columns: which carry personal data, and which columns are read that do not exist."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.files import Environment, FileKey
from lineage.model.statement import ColumnRef, StatementLineage
from lineage.model.transformations import EdgeKind
from lineage.sql.script.extract_script import extract_script
from lineage_ingest.dbt.model_resolution import ProjectResolution
from lineage_ingest.dbt.project import DbtProject
from lineage_ingest.diff.revisions import Revision
from lineage_ingest.sql_files.discovery import find_sql_files
from lineage_ingest.sql_files.file_reader import read_sql_file

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
            MissingRead(table, one.name, str(problem.message))
            for table, statement in self.statements
            for one in statement.unresolved
            if one.code is DiagnosticCode.UNKNOWN_COLUMN
            for problem in statement.diagnostics
            if problem.code is one.code and problem.span == one.span
        }

    def carriers(self, starts: Collection[Place]) -> dict[Place, Place]:
        """Return the columns that values of these flow to unmasked, each with the column that it comes from."""
        below: dict[Place, list[Place]] = {}
        for table, statement in self.statements:
            for edge in statement.edges:
                if edge.kind is EdgeKind.CONTRIBUTES and not edge.masking and isinstance(edge.target, ColumnRef):
                    source = (edge.source.table or "", str(edge.source.column))
                    below.setdefault(source, []).append((table, str(edge.target.column)))
        found: dict[Place, Place] = {}
        stack = list(starts)
        while stack:
            place = stack.pop()
            for target in below.get(place, ()):
                if target not in found and target not in starts:
                    found[target] = place
                    stack.append(target)
        return found

    def readers(self, table: str, column: str) -> Iterator[str]:
        """Yield the tables whose SQL reads a column, for its value or as a condition."""
        for target, statement in self.statements:
            if any(str(edge.source.column) == column and edge.source.table == table for edge in statement.edges):
                yield target


def project_edges(revision: Revision, only: Collection[str] | None = None) -> ProjectEdges:
    """Return the edges of one side; with `only`, those of a dbt project's tables of these names."""
    request = revision.request
    if request is None:
        return _of_sql(revision)
    project = DbtProject(request.artifacts, request.names, request.folder)
    models = [model.given for model in project.models()]
    resolution = ProjectResolution(
        models,
        request.options,
        project.complete_names(),
        project.described_names(),
        _names_in(request.catalog),
    )
    resolved = resolution.resolve(only=only)
    found = ((one.table, each) for one in models if one.key in resolved
             for each in (resolved[one.key].statement, *resolved[one.key].other_builds.values()))  # fmt: skip
    return ProjectEdges([(table, statement) for table, statement in found if statement is not None])


def _names_in(catalog: Catalog) -> Callable[[str], tuple[str, ...] | None]:
    known = {table.name: tuple(table.names) for table in catalog}
    return known.get


def _of_sql(revision: Revision) -> ProjectEdges:
    naming = revision.naming
    root, environment = revision.folder.resolve(), Environment.of(naming)
    texts: dict[str, str] = {}
    for path in sorted(find_sql_files([revision.folder]).files):
        name = path.relative_to(root).as_posix() if root in path.parents else path.name
        texts[name] = read_sql_file(path, FileKey("", name, environment), name, name).text
    statements = extract_script(
        texts,
        naming.dialect,
        revision.catalog,
        namespace=naming.namespace,
        default_database=naming.default_database,
        default_schema=naming.default_schema,
    )
    return ProjectEdges([(one.target, one) for one in statements if one.target is not None])

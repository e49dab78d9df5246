"""What is to be ingested of a dbt project: artifacts, names and options."""

from __future__ import annotations

from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.product_digest import product_digest
from lineage.saved_file import digest_of
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.resolve.calls.functions import FunctionsFileError
from lineage_ingest.dbt.artifacts.target_folder import Artifacts, read_artifacts, relations_in
from lineage_ingest.dbt.earlier.saved_state import StateFiles
from lineage_ingest.dbt.relation_names import ProjectNames, dialect_of_adapter, target_defaults
from lineage_ingest.options import DbtOptions, OptionError, in_utc, read_catalog

__all__ = ["ProjectRequest", "prepare_project"]


@frozen
class ProjectRequest:
    """A project to ingest: artifacts, names, options, the folder of its files, and where its state is saved.

    `basis` identifies the product and the options. Without `state`, everything is resolved and stored.
    """

    artifacts: Artifacts
    names: ProjectNames
    options: ExtractionOptions
    at: datetime
    basis: str
    folder: Path | None = None
    state: StateFiles | None = None
    catalog: Catalog = field(default_factory=Catalog)
    """Schemas of tables that the artifacts do not describe."""


def prepare_project(target: str | Path | None, options: DbtOptions, store: str | None) -> ProjectRequest:
    """Return the request for a project; `store` is the address of a store that nobody else has open, if it is one.

    Raises:
        OptionError: an option has a wrong value, or neither a target nor a project folder is given.
        NoManifestError: there is no manifest that can be read.
    """
    folder = _target_folder(target, options)
    artifacts = read_artifacts(folder)
    metadata = artifacts.manifest.metadata
    dialect = options.dialect or dialect_of_adapter(metadata.adapter_type)
    problems = artifacts.problems
    if dialect is None:
        dialect = "ansi"
        problems = (*problems, ("manifest.json", _unknown_adapter(metadata.adapter_type)))
    database, schema = target_defaults(artifacts.manifest)
    try:
        extraction = options_for(
            dialect,
            namespace=options.namespace,
            default_database=options.default_database or database,
            default_schema=options.default_schema or schema,
            set_operation_references=options.set_operations,
            functions=options.functions,
            budget=options.budget,
        )
    except FunctionsFileError as error:
        raise OptionError(str(error), "functions") from error
    project = options.project or metadata.project_name or folder.resolve().parent.name
    names = ProjectNames(project, extraction.naming)
    catalog = read_catalog(options.catalog, dialect, refresh=options.refresh_catalog, cache=not options.full)
    catalog = catalog.qualified(extraction.naming)
    basis = digest_of(
        product_digest(Path(__file__).parents[1]),
        extraction.naming,
        options.set_operations,
        options.budget,
        [path.read_bytes() for path in options.functions],
        [(table.name, table.columns) for table in catalog],
    )
    label = f"{project}@{names.environment}"
    project_dir = options.project_dir or folder.resolve().parent
    last = artifacts.last_run
    elsewhere = relations_in(project_dir / last.state) if last is not None and last.state else {}
    return ProjectRequest(
        replace(artifacts, problems=problems, relations_elsewhere=elsewhere),
        names,
        extraction,
        in_utc(options.observed_at) or artifacts.at,
        basis,
        project_dir,
        None if options.full or store is None else StateFiles(str(Path(store).absolute()), label),
        catalog,
    )


def _target_folder(target: str | Path | None, options: DbtOptions) -> Path:
    if target is not None and not str(target):
        raise OptionError("the path is empty; `.` is the current folder", "target")
    if target is None and options.project_dir is None:
        raise OptionError("give dbt's target folder, or --project-dir", "target")
    folder = Path(target) if target is not None else Path(str(options.project_dir)) / "target"
    return folder.parent if folder.name == "manifest.json" else folder


def _unknown_adapter(adapter: str | None) -> Diagnostic:
    message = f"the SQL dialect of the adapter {adapter or '(none)'} is not known: standard SQL is assumed"
    return Diagnostic(DiagnosticCode.DIALECT_GUESSED, Severity.WARNING, message, hint="give the dialect with --dialect")

"""The two sides of a diff: a dbt target folder, a folder of SQL, or either at a revision of git."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.dialects import UnknownDialectError
from lineage.model.names import Naming
from lineage.sql.extraction import options_for
from lineage.sql.resolve.calls.functions import FunctionsFileError, deterministic_functions
from lineage_ingest.dbt.artifacts.target_folder import Artifacts
from lineage_ingest.dbt.request import ProjectRequest, prepare_project
from lineage_ingest.dbt.templates.project_variables import ProjectVariables
from lineage_ingest.diff.definitions.table_definitions import ProjectRevision
from lineage_ingest.diff.definitions.type_names import is_same_type
from lineage_ingest.diff.revisions.dbt_revision import dbt_revision
from lineage_ingest.diff.revisions.git_folder import RevisionFolder, extract_revision, is_git_revision
from lineage_ingest.diff.revisions.manifest_json import ManifestJson
from lineage_ingest.diff.revisions.revision_hooks import RevisionHooks, edited_hooks
from lineage_ingest.diff.revisions.sql_revision import KnownPurposes, sql_revision
from lineage_ingest.options import DbtOptions, OptionError, SqlOptions, read_catalog

__all__ = ["Revision", "RevisionOptions", "read_revisions"]


@frozen(kw_only=True)
class RevisionOptions:
    """How the SQL of both sides is read. The dialect of a dbt project is that of its adapter, by default."""

    dialect: str | None = None
    namespace: str = ""
    default_database: str | None = None
    default_schema: str | None = None
    catalog: tuple[str | Path, ...] = ()
    project_dir: Path | None = None
    functions: tuple[Path, ...] = ()
    """TOML files with the functions, among the user's own, whose value depends on their arguments alone."""


@frozen
class Revision:
    """One side: its project, its folder, given schemas, and for dbt the request, the manifest and the hooks."""

    label: str
    project: ProjectRevision
    folder: Path
    catalog: Catalog
    request: ProjectRequest | None = None
    manifest: ManifestJson | None = None
    hooks: RevisionHooks | None = None

    @property
    def naming(self) -> Naming:
        """The names of its tables."""
        return self.project.naming


def read_revisions(base: str, head: str, options: RevisionOptions, work: Path) -> tuple[Revision, Revision]:
    """Return both sides; `work` is a folder for the files of git revisions.

    Raises:
        OptionError: a side is neither a folder nor a revision, the two are of different kinds, or a file of functions
            has another format.
        GitRevisionError: git does not know a revision.
        NoManifestError: a manifest cannot be read.
    """
    before, after = _both_sides(base, head, options, work)
    if not options.functions:
        return before, after
    try:
        functions = deterministic_functions(before.naming.dialect.name, options.functions)
    except FunctionsFileError as error:
        raise OptionError(str(error), "functions") from error
    return (
        replace(before, project=replace(before.project, functions=functions)),
        replace(after, project=replace(after.project, functions=functions)),
    )


def _both_sides(base: str, head: str, options: RevisionOptions, work: Path) -> tuple[Revision, Revision]:
    read = [_folder_of(text, name, work) for name, text in (("base", base), ("head", head))]
    sides = [(text, folder.path) for text, folder in zip((base, head), read, strict=True)]
    kinds = [_is_dbt(folder, label, name) for (label, folder), name in zip(sides, ("base", "head"), strict=True)]
    if kinds[0] != kinds[1]:
        dbt, sql = (base, head) if kinds[0] else (head, base)
        raise OptionError(
            f"{dbt} is a dbt target folder, and {sql} is a folder of SQL: compare two of one kind", "head"
        )
    if not kinds[0]:
        known: KnownPurposes = {}
        found = [_sql(label, folder, options, known) for label, folder in sides]
        return _with_left_out(found[0], *read), _with_left_out(found[1], *reversed(read))
    given = DbtOptions(
        dialect=options.dialect, namespace=options.namespace, default_database=options.default_database,
        default_schema=options.default_schema, catalog=options.catalog,
    )  # fmt: skip
    requests = [
        prepare_project(folder, replace(given, project_dir=options.project_dir if name == "head" else None), None)
        for name, (_, folder) in zip(("base", "head"), sides, strict=True)
    ]
    relations = [_relations_of(request) for request in requests]
    # What one side deferred to is mostly the other one.
    requests = [
        replace(
            one, artifacts=replace(one.artifacts, relations_elsewhere={**other, **one.artifacts.relations_elsewhere})
        )
        for one, other in zip(requests, reversed(relations), strict=True)
    ]
    with_types = all(request.artifacts.catalog for request in requests)
    requests = [_with_sources_of(one, other.artifacts) for one, other in zip(requests, reversed(requests), strict=True)]
    folders = [request.folder.resolve() if request.folder is not None else None for request in requests]
    # Of two target folders in one project, one is of another revision than the project's file.
    with_variables = folders[0] != folders[1] and all(ProjectVariables(folder).is_known for folder in folders)
    manifests = [ManifestJson.of(request.artifacts) for request in requests]
    hooks = [RevisionHooks(request, raw) for request, raw in zip(requests, manifests, strict=True)]
    are_edited = bool(edited_hooks(*hooks))  # if they are not, what they leave alone need not be known
    revisions = [
        Revision(
            label,
            dbt_revision(
                request,
                raw,
                label,
                with_types=with_types,
                with_variables=with_variables,
                beside=own.beside_models() if are_edited else frozenset(),
            ),
            folder,
            request.catalog,
            request,
            raw,
            own,
        )
        for (label, folder), request, raw, own in zip(sides, requests, manifests, hooks, strict=True)
    ]
    if revisions[0].naming.dialect != revisions[1].naming.dialect:
        raise OptionError("the two manifests are of different adapters: their SQL cannot be compared", "head")
    before, after = revisions
    return before, _without_needless_casts(after, before)


def _relations_of(request: ProjectRequest) -> dict[str, str]:
    nodes = request.artifacts.manifest.nodes
    return {key: node.relation_name for key, node in nodes.items() if node.relation_name}


def _without_needless_casts(side: Revision, base: Revision) -> Revision:
    """Return a side without the types of new contracts that the columns had before, without a contract."""
    changed = {}
    for key, definition in side.project.definitions.items():
        twin = base.project.definitions.get(key)
        if not definition.contract or twin is None:
            continue
        kept = {
            name: kind
            for name, kind in definition.contract.items()
            if name in twin.contract or name not in twin.types or not is_same_type(kind, twin.types[name])
        }
        if kept != definition.contract:
            changed[key] = replace(definition, contract=kept)
    if not changed:
        return side
    definitions = {**side.project.definitions, **changed}
    return replace(side, project=replace(side.project, definitions=definitions))


def _with_sources_of(request: ProjectRequest, other: Artifacts) -> ProjectRequest:
    """Return a side with the columns of sources that only the other one's catalog.json has."""
    sources = request.artifacts.manifest.sources
    known = {key: columns for key, columns in other.catalog.items() if key in sources}
    return replace(request, artifacts=replace(request.artifacts, catalog={**known, **request.artifacts.catalog}))


def _with_left_out(side: Revision, own: RevisionFolder, other: RevisionFolder) -> Revision:
    """Return a side with the problem of what git could not give of it, except what the other side lacks as well."""
    lacking = [(path, why) for path, why in own.left_out.items() if other.left_out.get(path) != why]
    problems = tuple(f"{path}: {why}: git has no files of it, they are not compared" for path, why in lacking)
    return replace(side, project=replace(side.project, problems=(*side.project.problems, *problems)))


def _folder_of(text: str, name: str, work: Path) -> RevisionFolder:
    if not text:
        raise OptionError("the path is empty; `.` is the current folder", name)
    if is_git_revision(text):
        return extract_revision(text, work / name)
    path = Path(text)
    if not path.exists():
        raise OptionError(f"no such folder: {text}; a revision of git is written REVISION:FOLDER, as main:models", name)
    return RevisionFolder(path.parent if path.name == "manifest.json" else path, {})


def _path_of(text: str) -> str:
    """Return the folder that a side names, as seen from here; files are shown relative to it."""
    path = text.partition(":")[2] if is_git_revision(text) else text
    return "" if path in ("", ".", "./") else path.rstrip("/")


def _is_dbt(folder: Path, label: str, name: str) -> bool:
    """Return whether a folder is a target folder of dbt; `label` is what the user calls it, `name` the option."""
    if (folder / "manifest.json").is_file():
        return True
    if (folder / "dbt_project.yml").is_file():
        if (folder / "target" / "manifest.json").is_file():
            target = f"{label}{'' if label.endswith((':', '/')) else '/'}target"
            raise OptionError(f"{label} is a dbt project: give its target folder, {target}", name)
        raise OptionError(f"{label} is a dbt project without a target folder: run `dbt compile` in it first", name)
    return False


def _sql(label: str, folder: Path, options: RevisionOptions, known: KnownPurposes) -> Revision:
    try:
        extraction = options_for(
            options.dialect or "ansi", namespace=options.namespace,
            default_database=options.default_database, default_schema=options.default_schema,
        )  # fmt: skip
    except UnknownDialectError as error:
        raise OptionError(str(error), "dialect") from error
    catalog = read_catalog(SqlOptions(catalog=options.catalog).catalog, extraction.naming.dialect.name)
    project = sql_revision(folder, extraction.naming, catalog, label, _path_of(label), known)
    return Revision(label, project, folder, catalog)

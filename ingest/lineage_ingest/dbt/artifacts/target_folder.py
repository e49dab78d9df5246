"""The artifacts of a target folder: which are there, how old they are, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from msgspec import Struct
from msgspec.json import Decoder
from pydantic_core import from_json

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.facts import Freshness
from lineage.screen.listing import counted
from lineage_ingest.dbt.artifacts.info_schema import read_analysed_columns
from lineage_ingest.dbt.artifacts.json_parts import Part, parts_of, read_parts, value_of
from lineage_ingest.dbt.artifacts.manifest import Manifest, parse_manifest
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode
from lineage_ingest.dbt.artifacts.run_results import RunResults, freshness_in, results_in, time_from

__all__ = ["Artifacts", "NoManifestError", "read_artifacts", "relations_in"]

OLDEST, NEWEST = 10, 12
"""Versions of the manifest's format that were tested: dbt 1.6 to 1.11."""

_VERSION = re.compile(r"/v(\d+)(?:\.\d+)*\.json\Z")


class NoManifestError(ValueError):
    """The folder has no manifest.json that can be read at all."""


@frozen
class Artifacts:
    """A manifest with the schemas beside it, and the problems of reading them, each with the file's name.

    `is_whole` is False if the manifest is cut off: what it does not list may still exist. `catalog` has the columns
    (name, type) by unique id, in order. `at` is when the dbt command that wrote the
    manifest was done.
    """

    target: Path
    manifest: Manifest
    at: datetime
    is_whole: bool
    catalog: Mapping[str, tuple[tuple[str, str | None], ...]]
    macros: Mapping[str, Any]
    problems: tuple[tuple[str, Diagnostic], ...]
    results: RunResults = field(default_factory=RunResults)
    """The results of the last run's tests."""
    freshness: Mapping[str, Freshness] = field(default_factory=dict)
    """How recent the rows of sources were, by unique id."""
    relations_elsewhere: Mapping[str, str] = field(default_factory=dict)
    """The relations of another environment, which dbt may have deferred to, by unique id."""

    is_catalog_of_same_run: bool = False
    """Whether the command that wrote the manifest has read the columns in catalog.json from the database."""

    @property
    def last_run(self) -> RunResults | None:
        """The results of the command that wrote the manifest; None if they are those of another one."""
        same = self.results.invocation == self.manifest.metadata.invocation_id is not None
        return self.results if same else None


def read_artifacts(target: Path) -> Artifacts:
    """Return the artifacts of a target folder.

    Raises:
        NoManifestError: there is no manifest, or nothing in it can be read.
    """
    path = target / "manifest.json"
    problems: list[tuple[str, Diagnostic]] = []
    try:
        raw = path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = "run `dbt compile` or `dbt build` first"
        if (target / "dbt_project.yml").is_file():
            hint = f"{target} is the project: give its target folder, or --project-dir {target}"
        raise NoManifestError(f"{path} cannot be read: {why}; {hint}") from error
    parts, is_whole = read_parts(raw)
    if not _has_nodes(parts):
        raise NoManifestError(f"{path} is not a dbt manifest: it has no object `nodes`")
    manifest = parse_manifest(parts)
    if not is_whole:
        problems.append(("manifest.json", _damaged("the file ends in the middle: models after that are missing")))
    problems += (("manifest.json", _damaged(f"{key} is left out: {reason}")) for key, reason in manifest.invalid)
    if (wrong := _check_version(manifest.metadata.dbt_schema_version)) is not None:
        problems.append(("manifest.json", wrong))
    at = manifest.metadata.generated_at or datetime.fromtimestamp(path.stat().st_mtime, UTC)
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    results = results_in(_read_beside(target / "run_results.json", problems))
    if results.at is not None and results.invocation == manifest.metadata.invocation_id is not None:
        # The definitions hold from the end of the command on: while it runs, tables are replaced by renaming them.
        at = max(at, results.at)
    elif results.results and results.at is not None and results.at < at:
        problems.append(("run_results.json", _older_results(results.at, at)))
    relations = {**manifest.sources, **manifest.nodes}
    catalog, invocation = _read_catalog(target / "catalog.json", at, relations, problems)
    analysed = read_analysed_columns(target)
    problems += analysed.problems
    catalog = {**analysed.columns, **catalog}  # what the database has precedes what was analysed
    macros = _macros_in(parts, problems)
    freshness = freshness_in(_read_beside(target / "sources.json", problems))
    return Artifacts(
        target,
        manifest,
        at,
        is_whole,
        catalog,
        macros,
        tuple(problems),
        results,
        freshness,
        is_catalog_of_same_run=invocation == manifest.metadata.invocation_id is not None,
    )


def relations_in(folder: Path) -> dict[str, str]:
    """Return the relations in the manifest of a folder, by unique id; none if there is no manifest to read."""
    try:
        parts, _ = read_parts((folder / "manifest.json").read_bytes())
        nodes = parts_of(parts["nodes"]) if _has_nodes(parts) else None
    except (OSError, ValueError):
        return {}
    found = {key: _RELATION.decode(part).relation_name for key, part in (nodes or {}).items()}
    return {key: name for key, name in found.items() if isinstance(name, str)}


class _Relation(Struct):
    relation_name: Any = None


_RELATION = Decoder(_Relation)


def _has_nodes(parts: Mapping[str, Part] | None) -> TypeGuard[Mapping[str, Part]]:
    try:
        return parts is not None and "nodes" in parts and parts_of(parts["nodes"]) is not None
    except ValueError:
        return False


def _macros_in(parts: Mapping[str, Part], problems: list[tuple[str, Diagnostic]]) -> Mapping[str, Any]:
    try:
        macros = value_of(parts["macros"]) if "macros" in parts else None
    except ValueError:
        problems.append(("manifest.json", _damaged("macros is left out: its text is damaged")))
        return {}
    return macros if isinstance(macros, dict) else {}


def _read_json(raw: bytes) -> tuple[Any, bool]:
    """Return the value of a JSON text, and whether the text is whole; of a text that is cut off, what is there."""
    try:
        return from_json(raw), True
    except ValueError:
        try:
            return from_json(raw, allow_partial=True), False
        except ValueError:
            return None, False


def _check_version(name: str) -> Diagnostic | None:
    found = _VERSION.search(name)
    if found is not None and OLDEST <= int(found.group(1)) <= NEWEST:
        return None
    version = f"v{found.group(1)}" if found is not None else "an unknown version"
    return Diagnostic(
        DiagnosticCode.ARTIFACT_VERSION,
        Severity.WARNING,
        f"the manifest's format is {version}; v{OLDEST} to v{NEWEST} are known, other versions are read as far as they "
        "agree with these",
        hint="check that no model is missing; dbt 1.6 to 1.11 write known versions",
    )


def _damaged(message: str) -> Diagnostic:
    hint = "write the artifacts again: `dbt compile`"
    return Diagnostic(DiagnosticCode.ARTIFACT_DAMAGED, Severity.ERROR, message, hint=hint)


def _read_catalog(
    path: Path, at: datetime, nodes: Mapping[str, DbtNode], problems: list[tuple[str, Diagnostic]]
) -> tuple[dict[str, tuple[tuple[str, str | None], ...]], str | None]:
    """Return the columns in catalog.json by unique id, and the id of the command that wrote it.

    A catalog that is damaged, older than the manifest, or of another target is reported.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return {}, None
    except OSError as error:
        problems.append((path.name, _damaged(f"the file cannot be read: {error.strerror or type(error).__name__}")))
        return {}, None
    data, is_whole = _read_json(raw)
    if not is_whole:
        problems.append((path.name, _damaged("the file ends in the middle: the schemas after that are missing")))
    found: dict[str, tuple[tuple[str, str | None], ...]] = {}
    elsewhere = 0
    for section in ("nodes", "sources"):
        tables = data.get(section) if isinstance(data, dict) else None
        items = list(tables.items()) if isinstance(tables, dict) else []
        for key, table in items if is_whole else items[:-1]:  # the last one may lack columns
            columns = table.get("columns") if isinstance(table, dict) else None
            if key in nodes and _is_elsewhere(table, nodes[key]):
                elsewhere += 1
            elif isinstance(columns, dict) and all(isinstance(one, dict) for one in columns.values()):
                ordered = sorted(columns.values(), key=lambda one: one.get("index") or 0)
                found[key] = tuple((str(one.get("name")), one.get("type")) for one in ordered)
    written = _generated_at(data)
    if written is not None and (at - written).total_seconds() > _SAME_RUN:
        problems.append((path.name, _outdated(written, at)))
    if elsewhere:
        problems.append((path.name, _of_another_target(elsewhere)))
    metadata = data.get("metadata") if isinstance(data, dict) else None
    invocation = metadata.get("invocation_id") if isinstance(metadata, dict) else None
    return found, invocation if isinstance(invocation, str) else None


def _is_elsewhere(table: Any, node: DbtNode) -> bool:
    """Return whether a catalog has a node's table in another schema, as another target has."""
    place = table.get("metadata") if isinstance(table, dict) else None
    schema = place.get("schema") if isinstance(place, dict) else None
    return isinstance(schema, str) and node.schema_ is not None and schema.lower() != node.schema_.lower()


def _of_another_target(tables: int) -> Diagnostic:
    message = f"the catalog has {counted(tables, 'table')} in other schemas than the manifest: these are not read"
    hint = "run `dbt docs generate` for the same target"
    return Diagnostic(DiagnosticCode.ARTIFACT_OUTDATED, Severity.WARNING, message, hint=hint)


_SAME_RUN = 6 * 3600
"""Seconds. `dbt docs generate` writes both files; a build after it writes a newer manifest of the same day."""


def _read_beside(path: Path, problems: list[tuple[str, Diagnostic]]) -> Any:
    """Return the content of an artifact that need not be there; report one that is damaged."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append((path.name, _damaged(f"the file cannot be read: {error.strerror or type(error).__name__}")))
        return None
    data, is_whole = _read_json(raw)
    if not is_whole:
        problems.append((path.name, _damaged("the file ends in the middle: the results after that are missing")))
    elif not isinstance(data, dict):
        problems.append((path.name, _damaged("the file is not a JSON object")))
    return data


def _generated_at(data: Any) -> datetime | None:
    metadata = data.get("metadata") if isinstance(data, dict) else None
    return time_from(metadata.get("generated_at")) if isinstance(metadata, dict) else None


def _older_results(written: datetime, at: datetime) -> Diagnostic:
    message = (
        f"the results of tests are of {written:%Y-%m-%d %H:%M}, older than the manifest ({at:%Y-%m-%d %H:%M}): models "
        "or tests may have changed since"
    )
    return Diagnostic(DiagnosticCode.ARTIFACT_OUTDATED, Severity.INFO, message, hint="run `dbt build` or `dbt test`")


def _outdated(written: datetime, at: datetime) -> Diagnostic:
    message = (
        f"the catalog is of {written:%Y-%m-%d %H:%M}, older than the manifest ({at:%Y-%m-%d %H:%M}): "
        "tables may have other columns by now"
    )
    return Diagnostic(DiagnosticCode.ARTIFACT_OUTDATED, Severity.WARNING, message, hint="run `dbt docs generate`")

"""The SQL that earlier dbt commands compiled: a command compiles only the models that it selects.

dbt leaves each model's SQL in the target folder. It is what the model's table was built with as long as nothing that it
is made of has changed since: the model's file, those of its macros, its properties and the project. A file of another
target (of dbt's `--target`) names other relations.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lineage_ingest.dbt.artifacts.manifest import Manifest
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType
from lineage_ingest.dbt.templates.macro_calls import called_macros
from lineage_ingest.dbt.templates.rendered_references import names_relation, needed_relations

__all__ = ["CompiledFile", "CompiledFiles"]

_TARGET = re.compile(r"\{[{%](?:[^}%]|[}%](?!\}))*\btarget\s*[.\[]\s*(?!type\b)")
"""In a template, what differs between targets; they are all of one type."""
_PACKAGES = "dbt_packages"
"""The folder of packages in a project; another one can be configured, and then their models are not found."""
_OF_PACKAGES = ("package-lock.yml", "packages.yml", "dependencies.yml")
"""Files that change with the versions of packages, whose own files are as old as their release."""


class CompiledFile(NamedTuple):
    """The compiled SQL of a model, and the path of its file as a manifest has it.

    `is_of_any_target`: its template asks for the target, and its SQL does not show which one it was.
    """

    text: str
    path: str
    is_of_any_target: bool = False


class CompiledFiles:
    """The compiled models in one target folder."""

    def __init__(self, target: Path, folder: Path | None, manifest: Manifest, macros: Mapping[str, Any]) -> None:
        """Look in `target`, with the sources of the project in `folder`."""
        self._target = target
        self._folder = folder
        self._macros = macros
        self._nodes: Mapping[str, DbtNode] = {**manifest.sources, **manifest.nodes}
        self._root = manifest.metadata.project_name
        self._own_packages = frozenset(("dbt", f"dbt_{manifest.metadata.adapter_type}", "dbt_postgres", "dbt_spark"))
        self._times: dict[Path, float | None] = {}
        self.found = 0
        """Number of models whose files are read."""

    def has(self, node: DbtNode) -> bool:
        """Return whether there is what `find` returns; it does not count as read."""
        read = self.found
        found = self.find(node)
        self.found = read
        return found is not None

    def find(self, node: DbtNode) -> CompiledFile | None:
        """Return what was compiled of a model that this manifest has no compiled SQL of; None if it may be outdated."""
        if self._folder is None:
            return None
        path = self._file_of(node)
        compiled_at = self._time(path)
        if compiled_at is None or not self._is_newest(compiled_at, node):
            return None
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        needed = list(needed_relations(node, self._nodes))
        if not needed or not all(names_relation(text, str(one.relation_name)) for one in needed):
            return None
        self.found += 1
        shows_target = any(one.resource_type != ResourceType.SOURCE for one in needed)
        return CompiledFile(text, self._as_in_manifests(path), not shows_target and self._asks_for_target(node))

    def _file_of(self, node: DbtNode) -> Path:
        """Return the file of a model; of one that is built in batches, that of the last batch."""
        path = self._target / "compiled" / node.package_name / node.original_file_path
        if path.suffix in (".yml", ".yaml"):  # a generic test: the properties file is a folder of them
            return path / f"{node.alias or node.name}.sql"
        if node.config.incremental_strategy != "microbatch":
            return path
        batches = [path, *path.with_suffix("").glob(f"{glob.escape(path.stem)}_*{path.suffix}")]
        return max(batches, key=lambda one: self._time(one) or 0)

    def _asks_for_target(self, node: DbtNode) -> bool:
        """Return whether a template, or a macro that it calls, asks for dbt's target."""
        macros = called_macros(node, self._macros, self._own_packages)
        return any(map(_TARGET.search, (node.raw_code or "", *(str(one.get("macro_sql", "")) for one in macros))))

    def _is_newest(self, compiled_at: float, node: DbtNode) -> bool:
        times = (self._time(one) if one is not None else None for one in self._sources(node))
        return all(at is not None and at <= compiled_at for at in times)

    def _sources(self, node: DbtNode) -> Iterator[Path | None]:
        """Yield the files that a model's SQL is made of; None for one whose place is not known."""
        yield self._path(node.package_name, node.original_file_path)
        yield self._path(self._root, "dbt_project.yml")
        listed = (self._path(self._root, name) for name in _OF_PACKAGES)
        yield from (one for one in listed if one is not None and self._time(one) is not None)
        if node.patch_path:
            package, _, path = node.patch_path.partition("://")
            yield self._path(package, path)
        for macro in called_macros(node, self._macros, self._own_packages):
            of, at = macro.get("package_name"), macro.get("original_file_path")
            yield self._path(of, at) if isinstance(of, str) and isinstance(at, str) else None

    def _path(self, package: str | None, path: str) -> Path | None:
        if self._folder is None or not path:
            return None
        if package in (self._root, None):
            return self._folder / path
        return self._folder / _PACKAGES / str(package) / path

    def _time(self, path: Path) -> float | None:
        """Return when a file was last changed; None if it is not there."""
        if path not in self._times:
            try:
                self._times[path] = path.stat().st_mtime
            except OSError:
                self._times[path] = None
        return self._times[path]

    def _as_in_manifests(self, path: Path) -> str:
        try:
            return path.resolve().relative_to(Path(str(self._folder)).resolve()).as_posix()
        except ValueError:
            return path.as_posix()

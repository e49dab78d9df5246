"""Values of `var()`: those in the project files; the command line's are not in any artifact that always exists.

https://docs.getdbt.com/docs/build/project-variables
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["ProjectVariables"]


class ProjectVariables:
    """The variables in dbt_project.yml of a project and of its installed packages."""

    def __init__(self, folder: Path | None) -> None:
        self._files: dict[str, Mapping[str, Any]] = {}
        """The variables of each package, by its name."""
        self._root: Mapping[str, Any] = {}
        root = _read(folder / "dbt_project.yml") if folder is not None else None
        self.is_known = root is not None
        """Whether the project's file was read."""
        if root is None or folder is None:
            return
        self._root = _variables(root)
        packages = folder / str(root.get("packages-install-path") or "dbt_packages")
        for file in sorted(packages.glob("*/dbt_project.yml")):
            if (found := _read(file)) is not None:
                self._files[str(found.get("name"))] = _variables(found)

    def value(self, package: str, name: str) -> tuple[bool, Any]:
        """Return whether a variable is set for a package's nodes, and its value. The project precedes the package."""
        own = self._files.get(package, {})
        for scope in (self._root.get(package), self._root, own.get(package), own):
            if isinstance(scope, Mapping) and name in scope:
                return True, scope[name]
        return False, None


def _variables(project: Mapping[str, Any]) -> Mapping[str, Any]:
    found = project.get("vars")
    return found if isinstance(found, Mapping) else {}


def _read(path: Path) -> Mapping[str, Any] | None:
    """Return the content of a project file; None if it cannot be read."""
    try:
        import yaml  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
    except ImportError:
        return None
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None
    return found if isinstance(found, Mapping) else None

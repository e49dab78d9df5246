"""Metrics of the source layout: loose files, import cycles, ambiguous names, file sizes.

python -m tests.project.structure [FOLDER]    of this checkout, or of another one
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

__all__ = ["Structure"]

_PACKAGES = {
    "lineage": "lineage",
    "lineage_ingest": "ingest/lineage_ingest",
    "lineage_graphql": "graphql/lineage_graphql",
    "lineage_editor": "editors/lineage_editor",
}
_LARGE, _SMALL = 400, 40
_ENTRY_POINTS = frozenset(("__init__", "__main__"))


class Structure:
    """The modules of a checkout, with what they import and define."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, Path] = {}
        """By dotted name."""
        for package, folder in _PACKAGES.items():
            for file in sorted((root / folder).rglob("*.py")):
                parts = file.relative_to(root / folder).with_suffix("").parts
                self.files[".".join((package, *(part for part in parts if part != "__init__")))] = file

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in self.files.items()}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The project's modules that each module imports, including imports for types only and in functions."""
        found: dict[str, set[str]] = {name: set() for name in self.files}
        for name, tree in self._trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = [f"{node.module}.{alias.name}" for alias in node.names]
                elif isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                else:
                    continue
                found[name].update(self._module_of(one) for one in names)
            found[name] -= {name, ""}
        return found

    def _module_of(self, name: str) -> str:
        while name and name not in self.files:
            name = name.rpartition(".")[0]
        return name

    @property
    def circles(self) -> list[list[str]]:
        """The import cycles: groups of modules that reach each other by imports (strongly connected, by Tarjan)."""
        return sorted(sorted(group) for group in _components(self.imports) if len(group) > 1)

    @property
    def classes(self) -> dict[str, list[str]]:
        """The modules that define a class, by its name."""
        return self._by_name((node.name, name) for name, tree in self._trees.items() for node in _classes(tree))

    @property
    def modules(self) -> dict[str, list[str]]:
        """The modules by name, without packages."""
        files = ((name, file) for name, file in self.files.items() if file.stem not in _ENTRY_POINTS)
        return self._by_name((file.stem, name) for name, file in files)

    @staticmethod
    def _by_name(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name, module in named:
            found[name].append(module)
        return found

    def loose(self, package: str) -> list[str]:
        """Return the modules that lie directly in a package."""
        return [name for name, file in self.files.items() if name.rpartition(".")[0] == package and _is_module(file)]

    def longer_than(self, lines: int) -> list[str]:
        """Return the modules with more lines."""
        return [name for name, count in self._lines.items() if count > lines]

    def shorter_than(self, lines: int) -> list[str]:
        """Return the modules with fewer lines, without packages."""
        return [name for name, count in self._lines.items() if count < lines and _is_module(self.files[name])]

    @cached_property
    def _lines(self) -> dict[str, int]:
        return {name: file.read_text(encoding="utf-8").count("\n") for name, file in self.files.items()}


def _is_module(file: Path) -> bool:
    return file.stem not in _ENTRY_POINTS


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def _components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        numbers[node] = lowest[node] = len(numbers)
        stack.append(node)
        for other in graph[node]:
            if other not in numbers:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == numbers[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in graph:
        if node not in numbers:
            visit(node)
    return found


def main(arguments: list[str]) -> int:
    """Print the figures of a checkout."""
    structure = Structure(Path(arguments[0]) if arguments else Path(__file__).parents[2])
    several = {name: modules for name, modules in structure.classes.items() if len(modules) > 1}
    print(f"modules                    {len(structure.files)}")
    print(f"loose in lineage.sql       {len(structure.loose('lineage.sql'))}")
    print(f"loose in lineage.store     {len(structure.loose('lineage.store'))}")
    print(f"circles of imports         {len(structure.circles)}")
    for circle in structure.circles:
        print(f"  {', '.join(circle)}")
    print(f"class names of several     {len(several)}")
    print(f"module names of several    {sum(len(names) > 1 for names in structure.modules.values())}")
    print(f"over {_LARGE} lines             {len(structure.longer_than(_LARGE))}")
    print(f"under {_SMALL} lines             {len(structure.shorter_than(_SMALL))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

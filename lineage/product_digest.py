"""What identifies the installed product: results that another version made are not used again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path

from lineage.saved_file import digest_of
from lineage.sql.plugins import GROUP

__all__ = ["product_digest"]

_PACKAGES = ("lineage-graph", "sqlglot", "sqlglotc", "lineage-native")
"""Packages whose versions count; of the first and the last, all files do."""
_LEFT_OUT = ("__pycache__", "native", "node_modules")


@cache
def product_digest(*packages: Path) -> str:
    """Return a digest of the installed product: any change of its files, of the parser, plug-ins or Python changes it.

    `packages` are folders of code besides the library's own.
    """
    parts: list[object] = [sys.version, *map(_version, _PACKAGES), *_files_of("lineage_native")]
    for point in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        parts += [point.name, point.value, point.dist.version if point.dist is not None else ""]
        parts += _files_of(point.module.partition(".")[0])
    for root in (Path(__file__).parent, *packages):
        parts += _files_under(root)
    return digest_of(*parts)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _files_of(module: str) -> Iterator[tuple[str, int, int]]:
    """Yield the files of a top-level module or package, which is not imported."""
    spec = find_spec(module)
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_under(Path(folder))
    if spec.origin is not None and os.path.isfile(spec.origin):
        yield _stamp(spec.origin)


def _files_under(root: Path) -> Iterator[tuple[str, int, int]]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(files):
            if name.endswith((".py", ".toml", ".txt", ".cypher", ".sql", ".so", ".pyd")):
                yield _stamp(os.path.join(folder, name))


def _stamp(path: str) -> tuple[str, int, int]:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns

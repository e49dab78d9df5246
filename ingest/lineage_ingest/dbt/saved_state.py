"""What the last ingest of a project stated, kept beside the store, so that the next one states only what has changed.

It holds digests, names of tables and columns, and look-ups: no SQL. It is valid for one store, and only as long as no
other session has written to that store, the product and the options are the same, and the manifest is not older. If any
of this fails, everything is resolved and stated again, which is always right.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import platformdirs

import lineage
from lineage.sql.plugins import GROUP
from lineage_ingest.dbt.model_resolution import ModelLookups

__all__ = ["NodeState", "ProjectState", "StateFile", "digest_of", "product_digest"]

_FORMAT = 3
MAX_FILES = 50
"""Number of projects and stores that are remembered; the least recently ingested are forgotten."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node as it was stated: digests of its input and of everything stated, its columns, look-ups and counts."""

    input: str
    stated: str
    columns: tuple[str, ...] | None = None
    lookups: ModelLookups = field(default_factory=ModelLookups)
    completeness: str = ""
    diagnostics: int = 0
    edges: int = 0
    outputs: int = 0
    """Number of columns of its table."""
    errors: int = 0
    """Number of the diagnostics that are errors."""
    facts: str = ""
    """Digest of the facts; empty if it states none."""
    facts_input: str = ""
    """Digest of what the facts were read from."""
    absent: tuple[str, ...] = ()
    """The columns that facts are about and that the table does not have."""


@dataclass(frozen=True, slots=True)
class ProjectState:
    """What an ingest stated: by whom and with what (`basis`), in which session of the store, when, and the nodes."""

    basis: str
    session: int
    at: datetime
    nodes: Mapping[str, NodeState]


def digest_of(*parts: object) -> str:
    """Return a digest of values by their representation."""
    return hashlib.sha256("\x1f".join(map(repr, parts)).encode()).hexdigest()[:24]


@cache
def product_digest() -> str:
    """Return a digest of the installed product: any change of its files, of the parser or of Python changes it."""
    parts: list[object] = [
        sys.version,
        version("sqlglot"),
        sorted((one.name, one.value) for one in entry_points(group=GROUP)),
    ]
    for root in (Path(lineage.__file__).parent, Path(__file__).parents[1]):
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name not in ("__pycache__", "native", "node_modules"))
            for name in sorted(files):
                if name.endswith((".py", ".toml", ".txt", ".cypher", ".so")):
                    found = os.stat(os.path.join(folder, name))
                    parts.append((name, found.st_size, found.st_mtime_ns))
    return digest_of(lineage.__version__, *parts)


class StateFile:
    """The file of one project in one store."""

    def __init__(self, store: str, project: str, folder: Path | None = None) -> None:
        root = folder or platformdirs.user_cache_path("lineage-graph", appauthor=False) / "dbt"
        self._path = root / f"{digest_of(store, project)}.json"

    def read(self) -> ProjectState | None:
        """Return the state; None if there is none, or if it cannot be read."""
        try:
            data = json.loads(self._path.read_bytes())
            if data.get("format") != _FORMAT:
                return None
            nodes = {key: _node_from(found) for key, found in data["nodes"].items()}
            return ProjectState(data["basis"], int(data["session"]), datetime.fromisoformat(data["at"]), nodes)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def write(self, state: ProjectState) -> None:
        """Replace the state. A file that cannot be written is left out: the next ingest then states everything."""
        data = {
            "format": _FORMAT,
            "basis": state.basis,
            "session": state.session,
            "at": state.at.isoformat(),
            "nodes": {key: _node_to(node) for key, node in state.nodes.items()},
        }
        new = self._path.with_suffix(f".{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
            new.replace(self._path)
            _forget(self._path.parent.glob("*.json"))
        except OSError:
            self.forget()

    def forget(self) -> None:
        """Delete the state, if there is one."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            return


def _forget(files: Iterable[Path]) -> None:
    newest_first = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[MAX_FILES:]:
        path.unlink(missing_ok=True)


def _node_to(node: NodeState) -> list[Any]:
    look = node.lookups
    counts = [node.completeness, node.diagnostics, node.edges, node.outputs, node.errors]
    facts = [node.facts, node.facts_input, node.absent]
    return [node.input, node.stated, node.columns, [look.tables, look.schemas, look.seen], counts, facts]


def _node_from(found: list[Any]) -> NodeState:
    given, stated, columns, lookups, counts, (facts, facts_input, absent) = found
    own = None if columns is None else tuple(columns)
    looked = ModelLookups(*lookups)
    known = (looked, *counts, facts, facts_input, tuple(absent))
    return NodeState(given, stated, own, *known)

"""What the last ingest of a project stated, kept beside the store, so that the next one states only what has changed.

It holds digests, names of tables and columns, and look-ups: no SQL. It is valid for one store, and only as long as no
other session has written to that store than ingests of dbt projects that are remembered here, the product and the
options are the same, the manifest is not older, and the store knows of nothing from after that ingest, and knew of
nothing from its moment; what concerns tables that other projects have seen since is stated again. If any of this
fails, everything is resolved and stated again, which is always right. Each project has a file, so that projects that
take turns find their own; one more lists those that are valid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lineage.frozen import frozen
from lineage.saved_file import SavedFile, digest_of, saved_files_folder
from lineage_ingest.dbt.model_resolution import ModelLookups

__all__ = ["NodeState", "ProjectState", "StateFiles"]

_FORMAT = 5
MAX_FILES = 100
"""Number of projects and stores that are remembered; the least recently ingested are forgotten."""


@frozen
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


@frozen
class ProjectState:
    """What an ingest stated: by whom and with what (`basis`), when, and the nodes.

    If it is not `lasting`, it is valid for the next ingest of the same time only: the store knew of something from that
    moment or later, or knows a dataset by another key, so that to state the same at a later time would say more.
    """

    basis: str
    at: datetime
    nodes: Mapping[str, NodeState]
    lasting: bool = True
    others_since: bool = False
    """Whether other projects have been ingested since."""


class StateFiles:
    """The files of one project in one store, given by its absolute path."""

    def __init__(self, store: str, project: str, folder: Path | None = None) -> None:
        root = folder or saved_files_folder("dbt")
        self._project = project
        self._file = _file(root, store, project)
        self._index = _file(root, store)
        self._valid: dict[str, tuple[str, str]] = {}
        """The digest of each project's file, and the time of its ingest, as long as no other session has written."""

    def read(self, session: int | None) -> ProjectState | None:
        """Return what the last ingest has stated; None if others have written since, or it is not known.

        `session` is the one that wrote last.
        """
        self._valid = {}
        listed = self._index.read()
        if listed is None or session is None:
            return None
        index = json.loads(listed)
        if index["session"] != session:
            return None
        self._valid = {name: (digest, at) for name, (digest, at) in index["projects"].items()}
        content = self._file.read()
        if content is None or self._project not in self._valid or _digest(content) != self._valid[self._project][0]:
            return None
        data = json.loads(content)
        nodes = {key: _node_from(found) for key, found in data["nodes"].items()}
        at = datetime.fromisoformat(data["at"])
        return ProjectState(data["basis"], at, nodes, data["lasting"], index["last"] != self._project)

    def write(self, session: int | None, state: ProjectState) -> None:
        """Replace the project's file; those of the projects that were valid when it was read stay so.

        Apart from those of the same moment: what is stated last of it counts. What cannot be written is left out: the
        next ingest then states everything.
        """
        if session is None:
            return
        at = state.at.isoformat()
        nodes = {key: _node_to(node) for key, node in state.nodes.items()}
        data = {"basis": state.basis, "at": at, "lasting": state.lasting, "nodes": nodes}
        content = json.dumps(data, separators=(",", ":")).encode()
        self._file.write(content)
        valid = {name: found for name, found in self._valid.items() if found[1] != at}
        valid[self._project] = _digest(content), at
        self._index.write(json.dumps({"session": session, "last": self._project, "projects": valid}).encode())

    def forget(self) -> None:
        """Make the files of all projects invalid, until one is written."""
        self._index.forget()


def _file(folder: Path, store: str, *project: str) -> SavedFile:
    path = folder / f"{digest_of(store, *project)}.json"
    return SavedFile(path, digest_of(_FORMAT, store, *project), max_files=MAX_FILES)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


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

"""What the last ingest of a project stated, kept beside the store, so that the next one states only what has changed.

It holds digests, names of tables and columns, and look-ups: no SQL. It is valid for one store, and only as long as no
other session has written to that store, the product and the options are the same, the manifest is not older, and the
store knows of nothing from after that ingest, and knew of nothing from its moment. If any of this fails, everything is
resolved and stated again, which is always right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

from lineage.frozen import frozen
from lineage.saved_file import SavedFile, digest_of, saved_files_folder
from lineage_ingest.dbt.model_resolution import ModelLookups

__all__ = ["NodeState", "ProjectState", "StateFile"]

_FORMAT = 4
MAX_FILES = 50
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
    """What an ingest stated: by whom and with what (`basis`), in which session of the store, when, and the nodes.

    If it is not `lasting`, it is valid for the next ingest of the same time only: the store knew of something from that
    moment or later, or knows a dataset by another key, so that to state the same at a later time would say more.
    """

    basis: str
    session: int
    at: datetime
    nodes: Mapping[str, NodeState]
    lasting: bool = True


class StateFile:
    """The file of one project in one store."""

    def __init__(self, store: str, project: str, folder: Path | None = None) -> None:
        root = folder or saved_files_folder("dbt")
        path = root / f"{digest_of(store, project)}.json"
        self._file = SavedFile(path, digest_of(_FORMAT, store, project), max_files=MAX_FILES)

    def read(self) -> ProjectState | None:
        """Return the state; None if there is none, or if it cannot be read."""
        content = self._file.read()
        if content is None:
            return None
        data = json.loads(content)
        nodes = {key: _node_from(found) for key, found in data["nodes"].items()}
        return ProjectState(
            data["basis"], int(data["session"]), datetime.fromisoformat(data["at"]), nodes, data["lasting"]
        )

    def write(self, state: ProjectState) -> None:
        """Replace the state. A file that cannot be written is left out: the next ingest then states everything."""
        data = {
            "basis": state.basis,
            "session": state.session,
            "at": state.at.isoformat(),
            "lasting": state.lasting,
            "nodes": {key: _node_to(node) for key, node in state.nodes.items()},
        }
        self._file.write(json.dumps(data, separators=(",", ":")).encode())

    def forget(self) -> None:
        """Delete the state, if there is one."""
        self._file.forget()


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

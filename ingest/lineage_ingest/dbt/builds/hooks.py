"""The hooks of a project and of its nodes, as dbt runs them: the SQL of each, with references and macros resolved.

dbt compiles on-run-start and on-run-end hooks when it runs them; those of nodes are in no file that it writes.

https://docs.getdbt.com/reference/project-configs/on-run-start-on-run-end
https://docs.getdbt.com/reference/resource-configs/pre-hook-post-hook
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic
from lineage_ingest.dbt.artifacts.manifest import Manifest
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType
from lineage_ingest.dbt.relation_names import target_defaults
from lineage_ingest.dbt.templates.known_results import RunValue
from lineage_ingest.dbt.templates.raw_sql import RawSqlRenderer

__all__ = ["OF_PROJECT", "Hook", "HookReader", "hook_key", "is_hook", "run_values"]

_AT_END = "on-run-end"
_PRE, _POST = "pre-hook", "post-hook"
_TAGS = ("on-run-start", _AT_END)
OF_PROJECT = ""
"""The session that the hooks of the project share."""
_HOOKED = (ResourceType.MODEL, ResourceType.SNAPSHOT, ResourceType.SEED)


@frozen
class Hook:
    """A hook: its key beside the nodes of the project, what people call it, and when it runs (`kind`).

    `texts` are its SQL: that of later builds, and that of the first one if it is another. `raw` is the template, and
    `doubts` what is not known of it. `node` is the node whose hook it is, or the hook itself if it is the project's.
    """

    key: str
    title: str
    kind: str
    node: DbtNode
    raw: str
    texts: tuple[str, ...]
    doubts: tuple[Diagnostic, ...] = ()

    @property
    def of_project(self) -> bool:
        """Whether it runs once, before or after all nodes."""
        return self.kind in _TAGS

    @property
    def session(self) -> str:
        """What identifies the session that it shares with the other hooks of its node (whose unique id it is)."""
        return OF_PROJECT if self.of_project else self.node.unique_id

    @property
    def runs_after(self) -> bool:
        """Whether it runs after its node is built, or after all nodes."""
        return self.kind in (_AT_END, _POST)


class HookReader:
    """Reads the hooks of one manifest, in the order in which dbt runs them as far as it is fixed."""

    def __init__(self, manifest: Manifest, renderer: Callable[[], RawSqlRenderer | None]) -> None:
        """Read with a renderer that knows the values of `run_values`; if there is none, templates stay as they are.

        Few projects have hooks with templates: `renderer` is called for the first one.
        """
        self._manifest = manifest
        self._renderer = cache(renderer)

    def hooks(self) -> Iterator[Hook]:
        """Yield the hooks."""
        operations = sorted(self._manifest.operations.values(), key=lambda one: (one.package_name, one.index or 0))
        yield from (self._of_project(one) for one in operations if _AT_END not in one.tags)
        for node in self._manifest.nodes.values():
            if node.resource_type in _HOOKED and not node.is_ephemeral and not node.is_of_another_project:
                for kind, statements in ((_PRE, node.config.pre_hook), (_POST, node.config.post_hook)):
                    for number, raw in enumerate(statements):
                        key = hook_key(kind, node.unique_id, number)
                        yield Hook(key, f"the {kind} of {node.name}", kind, node, raw, *self._rendered(node, raw))
        yield from (self._of_project(one) for one in operations if _AT_END in one.tags)

    def _of_project(self, node: DbtNode) -> Hook:
        kind = next((tag for tag in node.tags if tag in _TAGS), _TAGS[0])
        title, raw = f"the hook {node.name} of the project", node.raw_code or ""
        if node.compiled_code:
            return Hook(node.unique_id, title, kind, node, raw, (node.compiled_code,))
        return Hook(node.unique_id, title, kind, node, raw, *self._rendered(node, raw))

    def _rendered(self, node: DbtNode, raw: str) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
        renderer = self._renderer() if "{" in raw else None
        if renderer is None:
            return (raw,), ()
        own = node.model_copy(update={"raw_code": raw, "compiled_code": None})
        builds = [renderer.render(own)]
        if builds[0].asks_for_build:
            builds.append(renderer.render(own, first_build=True))
        texts = tuple(dict.fromkeys(one.text for one in builds))
        return texts, tuple(dict.fromkeys(problem for one in builds for problem in one.doubts))


def hook_key(kind: str, unique_id: str, number: int) -> str:
    """Return the key of a node's hook, by its number among those of its kind."""
    return f"{kind}.{unique_id}.{number}"


def is_hook(key: str) -> bool:
    """Return whether a key beside the nodes of a project is that of a hook."""
    return key.partition(".")[0] in ("operation", _PRE, _POST)


def run_values(manifest: Manifest) -> Mapping[str, Any]:
    """Return what templates of hooks may ask for: dbt's target, as the manifest shows it, and values of one run."""
    database, schema = target_defaults(manifest)
    operation = next(iter(manifest.operations.values()), None)
    if operation is not None:  # is where the target is
        database, schema = operation.database, operation.schema_
    known = {"database": database, "dbname": database, "schema": schema, "type": manifest.metadata.adapter_type}
    return {
        "target": _TargetValues({name: value for name, value in known.items() if value}),
        "invocation_id": RunValue(),
        "run_started_at": RunValue(),
    }


class _TargetValues:
    """What is known of dbt's target: other attributes are not there."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.__dict__.update(values)

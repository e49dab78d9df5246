"""The hooks that leave alone what models contain: they write only tables that nothing in the project reads.

An audit table, for example. Such a hook has to be run again when it is edited; the content of no model differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lineage.model.names import split_name
from lineage_ingest.dbt.hooks import has_hooks, hook_key
from lineage_ingest.dbt.project import DbtProject
from lineage_ingest.dbt.project_hooks import HookTables
from lineage_ingest.dbt.request import ProjectRequest
from lineage_ingest.diff.manifest_json import ManifestJson

__all__ = ["hooks_beside_models"]

_WORD = re.compile(r"\w+")


def hooks_beside_models(request: ProjectRequest, raw: ManifestJson) -> frozenset[str]:
    """Return the keys of the hooks that write no table of the project, and none that something in it may name.

    `raw` is the manifest of the request. Where any code of the project has a word that is the name of a table that a
    hook writes, that code may read it.
    """
    if not has_hooks(request.artifacts.manifest):
        return frozenset()
    project = DbtProject(request.artifacts, request.names, request.folder)
    known = project.hook_tables()
    named = {one.name for one in project.tables.values()}
    words = set(_words(raw, request.artifacts.macros, known))
    words |= {_last(name) for one in known.values() for name in one.reads}
    return frozenset(
        key
        for key, one in known.items()
        if not named.intersection(one.writes) and words.isdisjoint(map(_last, one.writes))
    )


def _words(raw: ManifestJson, macros: Mapping[str, Any], known: Mapping[str, HookTables]) -> Iterator[str]:
    """Yield the words in lower case of all code of a project, apart from that of the hooks that are known."""
    for key, node in raw.nodes.items():
        if key not in known:
            yield from _words_of(node.get("raw_code"), node.get("compiled_code"))
        config = raw.config(key)
        for kind in ("pre-hook", "post-hook"):
            hooks = config.get(kind) or ()
            for number, hook in enumerate(hooks if isinstance(hooks, list) else (hooks,)):
                if hook_key(kind, key, number) not in known:
                    yield from _words_of(hook.get("sql") if isinstance(hook, Mapping) else hook)
    for name, macro in macros.items():
        if isinstance(macro, Mapping) and not raw.is_of_dbt(name):
            yield from _words_of(macro.get("macro_sql"))


def _words_of(*texts: Any) -> Iterator[str]:
    for text in texts:
        if isinstance(text, str):
            yield from _WORD.findall(text.lower())


def _last(name: str) -> str:
    """Return the last part of a table's name in lower case."""
    return split_name(name)[-1][0].lower()

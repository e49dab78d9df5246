"""The hooks of the two sides of a diff: which leave alone what models contain, and what the others write.

A hook that writes only tables which nothing in the project reads, such as an audit log, has to be run again when it is
edited; the content of no model differs. What hooks write is in no model: what reads that is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any

from lineage.model.names import split_name
from lineage.model.text.name_lists import name_list
from lineage_ingest.dbt.builds.hooks import HookReader, hook_key
from lineage_ingest.dbt.builds.project_hooks import HookEffects, HookTables, ReadHook
from lineage_ingest.dbt.project import DbtProject
from lineage_ingest.dbt.request import ProjectRequest
from lineage_ingest.diff.revisions.manifest_json import ManifestJson

__all__ = ["RevisionHooks", "edited_hooks", "written_by_hooks"]

_WORD = re.compile(r"\w+")


class RevisionHooks:
    """The hooks of one side. They are rendered and read when that is asked for: most edits are of models."""

    def __init__(self, request: ProjectRequest, manifest: ManifestJson) -> None:
        self._request = request
        self._manifest = manifest

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """The hooks as they are written, by key."""
        hooks = HookReader(self._request.artifacts.manifest, lambda: None).hooks()
        return {hook.key: hook.raw for hook in hooks}

    @cached_property
    def own_macros(self) -> Mapping[str, Any]:
        """The texts of the macros that are not dbt's own."""
        macros = self._manifest.macros
        return {key: one.get("macro_sql") for key, one in macros.items() if not self._manifest.is_of_dbt(key)}

    @cached_property
    def _project(self) -> DbtProject:
        return DbtProject(self._request.artifacts, self._request.names, self._request.folder)

    def followed(self, wanted: Callable[[str, Collection[str]], bool]) -> Mapping[str, ReadHook]:
        """Return those hooks, by key, whose statements are read, of which `wanted(key, words of its SQL)` is true."""
        hooks = self._project.all_hooks if self.templates else ()
        keys = {hook.key for hook in hooks if wanted(hook.key, set(_words_of(*hook.texts)))}
        sessions = {hook.session for hook in hooks if hook.key in keys}
        read = self._project.effects_of(hook for hook in hooks if hook.session in sessions) if keys else HookEffects()
        return {key: one for key, one in read.followed.items() if key in keys}

    def beside_models(self) -> frozenset[str]:
        """Return the keys of the hooks that write no table of the project, and none that something in it may read.

        Where any code of the project has a word that is the name of a table that a hook writes, it may read it.
        """
        known = self._project.hook_tables()
        named = {one.name for one in self._project.tables.values()}
        words = set(self._words(known))
        words |= {_last(name) for one in known.values() for name in one.reads}
        return frozenset(
            key
            for key, one in known.items()
            if not named.intersection(one.writes) and words.isdisjoint(map(_last, one.writes))
        )

    def _words(self, known: Mapping[str, HookTables]) -> Iterator[str]:
        """Yield the words of all code of the project, apart from that of the hooks that are known."""
        for key, node in self._manifest.nodes.items():
            if key not in known:
                yield from _words_of(node.get("raw_code"), node.get("compiled_code"))
        yield from _words_of(*(text for key, text in self.templates.items() if key not in known))
        yield from _words_of(*self.own_macros.values())


def edited_hooks(base: RevisionHooks, head: RevisionHooks) -> frozenset[str]:
    """Return the keys of the hooks that may do something else than before, or that only one side has."""
    before, after = base.templates, head.templates
    is_edited = base.own_macros != head.own_macros
    return frozenset(
        key
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key) or (is_edited and "{" in after[key])
    )


def written_by_hooks(
    base: RevisionHooks, head: RevisionHooks, edited_nodes: Collection[str], edited_tables: Collection[str]
) -> Iterator[str]:
    """Yield what hooks write from tables that change, and what edited hooks write: what reads that is not followed.

    The nodes are given by unique id, their tables by full name.
    """
    edited = edited_hooks(base, head)
    names = {_last(one) for one in edited_tables}
    of_nodes = {key for one in edited_nodes for key in _keys_of(one, head.templates)}
    before = base.followed(lambda key, _: key in edited)
    after = head.followed(lambda key, words: key in edited or key in of_nodes or not names.isdisjoint(words))
    for key in dict.fromkeys((*after, *before)):
        sides = [found[key] for found in (after, before) if key in found]
        read_hook = sides[0]
        written = dict.fromkeys(name for side in sides for name in side.writes)
        outside = [name for name in written if name not in edited_tables]
        is_edited = key in edited and (len(sides) == 1 or read_hook.texts != sides[1].texts)
        if outside and (is_edited or key in of_nodes or not set(edited_tables).isdisjoint(read_hook.reads)):
            listed = name_list(outside, 5)
            said = f"writes {listed}" if key in after else f"wrote {listed} before this change"
            yield f"{read_hook.hook.title} {said}: what reads that is neither listed nor built again"


def _keys_of(unique_id: str, known: Collection[str]) -> Iterator[str]:
    """Yield the keys of a node's hooks, and its own if it is a hook of the project."""
    if unique_id in known:
        yield unique_id
    for kind in ("pre-hook", "post-hook"):
        number = 0
        while (key := hook_key(kind, unique_id, number)) in known:
            yield key
            number += 1


def _words_of(*texts: Any) -> Iterator[str]:
    for text in texts:
        if isinstance(text, str):
            yield from _WORD.findall(text.lower())


def _last(name: str) -> str:
    """Return the last part of a table's name in lower case."""
    return split_name(name)[-1][0].lower()

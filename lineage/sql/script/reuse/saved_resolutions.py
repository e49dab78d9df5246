"""What an earlier run resolved the texts of a folder to, so that a later one resolves only what has changed.

A text's resolution is that of `parallel`: with every look-up that it depends on. It is found by the text and its name,
in the file of the folder and the options, and used if all look-ups have the same answers now. The file has no SQL: it
holds digests of texts, names, and results as they are printed, with literals masked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lineage.model.diagnostics import DiagnosticCode
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.product_digest import product_digest
from lineage.saved_file import SavedFile, digest_of, saved_files_folder
from lineage.saved_values import UnexpectedClassError, from_saved, to_saved
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.resolutions import TextResolution
from lineage.sql.script.script import Script

__all__ = ["SavedResolutions", "distinct", "folder_of", "is_by_chance", "without_dialect"]

_FORMAT = 2
_MAX_BYTES = 256_000_000
_MAX_UNUSED = 10
"""A text that was not among those of so many runs is forgotten."""

_BY_CHANCE = frozenset((DiagnosticCode.TIME_EXCEEDED, DiagnosticCode.NESTING_TOO_DEEP, DiagnosticCode.INTERNAL_ERROR))

_CLASSES = (
    "lineage.model.",
    "lineage.sql.procedural.",
    "lineage.sql.resolve.column_names.unnamed_column",
    "lineage.sql.script.definitions",
    "lineage.sql.script.resolutions",
    "lineage.sql.script.sessions.transactions",
)


class _Saved(NamedTuple):
    """A packed resolution, and the number of runs since it was last used."""

    packed: bytes
    unused: int = 0


def folder_of(paths: Collection[str]) -> Path | None:
    """Return the folder that contains all these files; None if there is only one file, or they have no such folder."""
    if len(paths) < 2:  # one file is resolved as a whole
        return None
    try:
        return Path(os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths]))
    except ValueError:  # different drives
        return None


class SavedResolutions:
    """The saved resolutions of the texts in one folder, resolved with the same options."""

    def __init__(self, folder: Path, options: ExtractionOptions, cache: Path | None = None) -> None:
        """Read what is saved; `cache` is the folder of the file, by default in the user's cache folder."""
        self._options = options
        naming, functions = options.naming, options.functions.listed()
        how = (naming, functions, options.set_operation_references, options.budget)
        name = digest_of(str(folder), *how)
        basis = digest_of(_FORMAT, name, product_digest())
        root = cache or saved_files_folder("sql")
        self._file = SavedFile(root / f"{name}.saved", basis, max_bytes=_MAX_BYTES)
        self.resolved = 0
        """Number of texts that the last run resolved, or parts of them."""
        self.script: Script | None = None
        """The script of the last run."""
        self.resolutions: list[TextResolution] = []
        """What the last run resolved each text to."""
        self._known: dict[bytes, _Saved] = {}
        self._used: dict[int, tuple[bytes, TextResolution]] = {}
        content = self._file.read()
        if content is not None:
            listed: dict[bytes, tuple[bytes, int]] = from_saved(content, _CLASSES)
            self._known = {key: _Saved(*one) for key, one in listed.items()}

    def find(self, texts: Mapping[str, str], script: Script) -> dict[int, TextResolution]:
        """Return the resolutions of those texts that are unchanged and whose meaning no other text decides."""
        left_out = script.prepare()
        found: dict[int, TextResolution] = {}
        for index, (name, text) in enumerate(texts.items()):
            key = _key(name, text)
            known = self._known.get(key)
            if known is None or index in left_out:
                continue
            try:
                resolution = _unpack(known.packed, index, self._options.naming)
            except UnexpectedClassError:  # it refers to a class that is not expected
                continue
            if script.still_searches(index, resolution):
                found[index] = resolution
                self._used[index] = key, resolution
        return found

    def keep(self, texts: Mapping[str, str], script: Script, resolved: Collection[int]) -> None:
        """Save what a resolved script recorded, except what depends on more than it recorded.

        `resolved` are the texts that workers resolved in this run.
        """
        self.resolved = len(script.resolved_here.union(resolved))
        left_out = script.prepare()
        kept: dict[bytes, _Saved] = {}
        self.script, self.resolutions = script, [distinct(script.resolution(index)) for index in range(len(texts))]
        for index, (name, text) in enumerate(texts.items()):
            resolution = self.resolutions[index]
            if index in left_out or not _can_be_saved(resolution):
                continue
            key, before = self._used.get(index, (b"", None))
            if before is not None and _are_same(resolution, before):
                kept[key] = _Saved(self._known[key].packed)
            else:
                kept[_key(name, text)] = _Saved(_pack(resolution))
        others = ((key, one) for key, one in self._known.items() if key not in kept and one.unused < _MAX_UNUSED)
        changed = any(self._known.get(key) != one for key, one in kept.items())
        if not changed and len(kept) == len(self._known):
            self._file.touch()
            return
        everything = {key: tuple(one) for key, one in kept.items()}
        everything |= {key: (one.packed, one.unused + 1) for key, one in others}
        self._file.write(to_saved(everything))


def _key(name: str, text: str) -> bytes:
    """Return the key of a text. Its name counts: a single query defines a table of the file's name."""
    digest = hashlib.sha256(name.encode(errors="surrogatepass"))
    digest.update(b"\0")
    digest.update(text.encode(errors="surrogatepass"))
    return digest.digest()[:20]


def distinct(resolution: TextResolution) -> TextResolution:
    """Return a resolution without the repetitions of statements that were taken from it twice."""
    if all(len(one) == 1 for one in resolution.resolutions):
        return resolution
    return replace(
        resolution,
        resolutions=tuple(tuple({id(one): one for one in listed}.values()) for listed in resolution.resolutions),
    )


def _can_be_saved(resolution: TextResolution) -> bool:
    """Return whether a text's results follow from the recorded look-ups.

    What statements leave in temporary tables and variables is not recorded. So where a text has these, a statement that
    was resolved twice with different contents may have the same look-ups.
    """
    if resolution.stays or not all(resolution.resolutions):
        return False
    if resolution.has_contents and any(
        len(listed) > len({one.follows_names for one in listed}) for listed in resolution.resolutions
    ):
        return False
    return not any(is_by_chance(one.statement) for listed in resolution.resolutions for one in listed)


def is_by_chance(result: StatementLineage) -> bool:
    """Return whether a result depends on more than the input: on the machine, on the stack."""
    return any(problem.code in _BY_CHANCE for problem in result.diagnostics)


def _are_same(found: TextResolution, before: TextResolution) -> bool:
    """Return whether all statements were taken from a resolution, and nothing more is known of them."""
    pairs = zip(found.resolutions, before.resolutions, strict=True)
    return len(found.resolutions) == len(before.resolutions) and all(
        len(one) == len(other) and {id(each) for each in one} == {id(each) for each in other} for one, other in pairs
    )


# Packing: a text's position in the script and its dialect are those of the run that unpacks it.


def _pack(resolution: TextResolution) -> bytes:
    own = [tuple(one.moved(0) for one in listed) for listed in resolution.definitions]
    namings = None if resolution.namings is None else tuple(map(without_dialect, resolution.namings))
    searched = tuple(((name, without_dialect(naming)), answer) for (name, naming), answer in resolution.searched)
    head = (
        tuple(own),
        namings,
        resolution.rolled_back,
        resolution.query_targets,
        resolution.variables,
        resolution.parts,
    )
    return to_saved((*head, resolution.resolutions, searched))


def _unpack(packed: bytes, index: int, naming: Naming) -> TextResolution:
    definitions, namings, rolled_back, targets, variables, parts, resolutions, searched = from_saved(packed, _CLASSES)
    return TextResolution(
        tuple(tuple(one.moved(index) for one in listed) for listed in definitions),
        None if namings is None else tuple(Naming(naming.dialect, *one) for one in namings),
        rolled_back,
        targets,
        variables,
        parts,
        resolutions,
        searched=tuple(((name, Naming(naming.dialect, *one)), answer) for (name, one), answer in searched),
    )


def without_dialect(naming: Naming) -> tuple[Any, ...]:
    """Return the values of a naming but for its dialect, whose rules are code."""
    return (
        naming.namespace, naming.default_database, naming.default_schema, naming.session_tables, naming.search_path,
        naming.versions, naming.remade, naming.schemas,
    )  # fmt: skip

"""Resolve the edited texts of a folder alone, with those that read what they define, if its columns have changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.resolutions import TextResolution
from lineage.sql.script.reuse.known_text import NOTHING, KnownText, digest_of_text, known_text, unpacked, use_of
from lineage.sql.script.reuse.known_texts import AskedCatalog, KnownTexts, asked_by
from lineage.sql.script.reuse.saved_resolutions import distinct
from lineage.sql.script.script import Script

__all__ = ["EditedTexts", "edited_names", "resolve_edited"]

_MAX_SHARE = 0.5
"""If more than this share of the texts is to be resolved, all are: what is kept of the others saves too little."""


@frozen
class EditedTexts:
    """The lineage of the texts that were resolved, by name, and what is known of all texts after the edits.

    `changed` are the digests of the tables of which these texts say something else than before.
    """

    statements: Mapping[str, list[StatementLineage]]
    known: KnownTexts
    changed: frozenset[bytes]


def edited_names(known: KnownTexts, texts: Mapping[str, str]) -> list[str] | None:
    """Return the names of the texts that have been edited; None if the texts are not those that are known, in order."""
    if list(texts) != list(known.texts):
        return None
    return [name for name, text in texts.items() if known.texts[name].digest != digest_of_text(name, text)]


def resolve_edited(
    known: KnownTexts,
    texts: Mapping[str, str],
    edited: Collection[str],
    options: ExtractionOptions,
    given: Catalog,
    catalog_of: Callable[[Collection[str]], Catalog],
) -> EditedTexts | None:
    """Return what the edited texts resolve to, with those that read from them; None if all are to be resolved.

    Of the other texts, only those that may define what these name are looked at. `catalog_of` returns the catalog with
    the tables that texts, by name, may name; it is known to answer the other texts as it did. `given` are those of its
    tables that are not from the store.
    """
    names = {*edited}
    while len(names) <= max(len(texts) * _MAX_SHARE, len(edited)):
        edited_texts = _resolved(known, texts, names, options, given, catalog_of(names))
        if edited_texts is None:
            return None
        after = edited_texts.known.texts
        remade = {
            table for name in names if after[name].columns != known.texts[name].columns for table in after[name].makes
        }
        further = known.readers(remade) - names
        if not further:
            return edited_texts if _is_alone(known, edited_texts, names) else None
        names |= further
    return None


def _resolved(
    known: KnownTexts,
    texts: Mapping[str, str],
    wanted: Collection[str],
    options: ExtractionOptions,
    given: Catalog,
    catalog: Catalog,
) -> EditedTexts | None:
    """Return what some texts resolve to, with the columns of what the others define as they were."""
    if any(known.texts[name].frame is None for name in wanted):
        return None
    mentioned = known.mentioned_in([texts[name] for name in wanted])
    if mentioned is None:
        return None
    names = [name for index, name in enumerate(texts) if index in mentioned or name in wanted]
    uses = _UsesElsewhere(known, wanted)
    script = Script({name: texts[name] for name in names}, options, catalog, uses.are_known, recording=True)
    own = []
    for index, name in enumerate(names):
        if name in wanted:
            own.append(index)
            continue
        schemas = known.texts[name].schemas
        if schemas is None:
            return None
        script.learn(index, unpacked(schemas, index))
    if not script.prepare().isdisjoint(own) or script.tied:
        return None
    statements: dict[str, list[StatementLineage]] = {names[index]: [] for index in own}
    for one in script.resolve(only=wanted):
        if one.source in wanted:
            statements[str(one.source)].append(one)
    if script.doubtful:
        return None
    asked: list[AskedCatalog] = []
    after: dict[str, KnownText] = {}
    for index in own:
        name, resolution = names[index], distinct(script.resolution(index))
        asked_now = asked_by(script, resolution, given)
        if asked_now is None or not uses.are_settled(name, resolution):
            return None
        asked += asked_now
        dialect, listed = options.naming.dialect, statements[name]
        after[name] = known_text(name, texts[name], resolution, listed, dialect)
        if after[name].frame != known.texts[name].frame:
            return None
    return EditedTexts(statements, known.after(after, texts, asked), frozenset(_changed(known, after)))


class _UsesElsewhere:
    """Which columns the texts that are not resolved show tables to have."""

    def __init__(self, known: KnownTexts, resolved: Collection[str]) -> None:
        self._index = {name: index for index, name in enumerate(known.texts)}
        own = {self._index[name] for name in resolved}
        self._uses = {use: [index for index in listed if index not in own] for use, listed in known.uses().items()}

    def are_known(self, table: str, column: str) -> bool:
        """Return whether a text shows that a table has a column."""
        return bool(self._uses.get(use_of(table, column)))

    def are_settled(self, name: str, found: TextResolution) -> bool:
        """Return whether a text's look-ups of uses are answered by the texts before it, as when all are resolved."""
        asked = (one.arguments for listed in found.resolutions for each in listed for one in each.look_ups
                 if one.method == "seen")  # fmt: skip
        listed = (self._uses.get(use_of(table, column), ()) for tables, column in asked for table in tables)
        return all(not indexes or indexes[0] < self._index[name] for indexes in listed)


def _changed(known: KnownTexts, after: Mapping[str, KnownText]) -> Iterator[bytes]:
    """Yield the tables of which texts say something else than before, and those that only they name, or named."""
    for name, text in after.items():
        old = known.texts[name].names
        for table in old.keys() | text.names.keys():
            if old.get(table, NOTHING) != text.names.get(table, NOTHING) or (
                (table in old) != (table in text.names) and known.naming([table]).issubset(after)
            ):
                yield table


def _is_alone(known: KnownTexts, edited_texts: EditedTexts, resolved: Collection[str]) -> bool:
    """Return whether no other text says anything of the tables that changed, nor is one in a circle that is new."""
    if not known.naming(edited_texts.changed).issubset(resolved):
        return False
    for name in resolved:
        looks = edited_texts.known.texts[name].looks - known.texts[name].looks
        behind = edited_texts.known.behind(looks) if looks else set()
        if name in behind and not behind.issubset(resolved):
            return False
    return True

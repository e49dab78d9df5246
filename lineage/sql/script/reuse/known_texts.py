"""What is kept of the texts of a folder once they are resolved, so that after edits of a few only these are resolved.

The statements of the others resolve as before if every look-up of theirs has the answer that it had: of tables that an
edited text defines, if it defines the same tables with the same columns; of tables of the catalog, if that has not
changed. No SQL is kept: digests, and names of tables and columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

from lineage.catalog import Catalog
from lineage.catalog.mentioned_tables import MentionedTables
from lineage.frozen import frozen
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.sql.resolve.tables import CatalogTables
from lineage.sql.script.resolutions import CatalogDigests, LookUp, TextResolution
from lineage.sql.script.reuse.known_text import SHORT, KnownText, known_text, short_digest, words_of_names, written
from lineage.sql.script.reuse.saved_resolutions import is_by_chance, without_dialect
from lineage.sql.script.script import Script

__all__ = ["AskedCatalog", "KnownTexts", "asked_by", "catalog_digest", "known_texts"]


class AskedCatalog(NamedTuple):
    """A look-up in the catalog that decided a result, apart from those that the given tables decide.

    `answer` is the digest of an entry. Of a question whether a schema has a table, it is the script's answer, and
    `of_catalog` the catalog's own.
    """

    naming: tuple[Any, ...]
    schema: tuple[str, ...] | None
    parts: tuple[str, ...]
    answer: bytes | bool
    of_catalog: bool = False


@frozen
class KnownTexts:
    """The texts of a folder by name, in order, and what their results depend on.

    `by_name` are the texts (by index) that may define or change a table, by the digests of the words of its name;
    `always` are those that may define functions, or tables of names without words. `catalog` is the digest of the given
    tables.
    """

    texts: dict[str, KnownText]
    by_name: dict[bytes, list[tuple[bytes, tuple[int, ...]]]]
    always: tuple[int, ...]
    asked: tuple[AskedCatalog, ...]
    catalog: bytes

    def mentioned_in(self, texts: Collection[str]) -> set[int] | None:
        """Return the texts that may define what these texts name; None if that may be any."""
        mentioned = MentionedTables(texts)
        if mentioned.is_open:
            return None
        known = set(map(short_digest, mentioned.words))
        found = set(self.always)
        for word in known & self.by_name.keys():
            for rest, indexes in self.by_name[word]:
                if all(rest[start : start + SHORT] in known for start in range(0, len(rest), SHORT)):
                    found.update(indexes)
        return found

    def readers(self, tables: Collection[bytes]) -> set[str]:
        """Return the texts that look up any of these tables."""
        return {name for name, known in self.texts.items() if not known.looks.isdisjoint(tables)}

    def naming(self, tables: Collection[bytes]) -> set[str]:
        """Return the texts that name any of these tables."""
        return {name for name, known in self.texts.items() if not known.names.keys().isdisjoint(tables)}

    def uses(self) -> dict[bytes, list[int]]:
        """Return which texts (by index, in order) show a table to have a column, by the digests of `use_of`."""
        found: dict[bytes, list[int]] = defaultdict(list)
        for index, known in enumerate(self.texts.values()):
            for use in known.uses:
                found[use].append(index)
        return found

    def behind(self, tables: Collection[bytes]) -> set[str]:
        """Return the texts that make these tables, directly or not, in any number of steps."""
        makers: dict[bytes, list[str]] = defaultdict(list)
        for name, known in self.texts.items():
            for table in known.makes:
                makers[table].append(name)
        found: set[str] = set()
        seen, stack = set(tables), [*tables]
        while stack:
            for name in makers.get(stack.pop(), ()):
                found.add(name)
                further = self.texts[name].looks - seen
                seen |= further
                stack.extend(further)
        return found

    def asked_names(self, naming: Naming) -> set[str]:
        """Return the names of the tables that the catalog was asked for, as its look-ups qualify them."""
        return {_naming(one.naming, naming).qualify([*(one.schema or ()), *one.parts]) for one in self.asked}

    def still_answers(self, catalog: Catalog, naming: Naming) -> bool:
        """Return whether the catalog, of which the given tables are known to be the same, answers as it did."""
        tables: dict[tuple[Any, ...], CatalogTables] = {}
        digests = CatalogDigests()
        for look_up in self.asked:
            if look_up.naming not in tables:
                tables[look_up.naming] = CatalogTables(catalog, _naming(look_up.naming, naming))
            own = tables[look_up.naming]
            if look_up.schema is None:
                if digests.of(own.find(look_up.parts)) != look_up.answer:
                    return False
            elif own.in_schema(look_up.schema, look_up.parts) not in (look_up.answer, look_up.of_catalog):
                return False
        return True

    def after(
        self, resolved: Mapping[str, KnownText], texts: Mapping[str, str], asked: Iterable[AskedCatalog]
    ) -> KnownTexts:
        """Return what is known once these texts, which define the tables that they defined, were resolved again.

        `asked` is what they asked of the catalog.
        """
        by_name = {word: list(listed) for word, listed in self.by_name.items()}
        indexes = {name: index for index, name in enumerate(self.texts)}
        always = set(self.always)
        for name in resolved:
            for words in words_of_names(name, texts[name]):
                _add(by_name, always, words, indexes[name])
        every = tuple(dict.fromkeys((*self.asked, *asked)))
        return replace(
            self, texts={**self.texts, **resolved}, by_name=by_name, always=tuple(sorted(always)), asked=every
        )


def known_texts(
    texts: Mapping[str, str],
    script: Script,
    resolutions: Sequence[TextResolution],
    statements: Iterable[StatementLineage],
    given: Catalog,
) -> KnownTexts | None:
    """Return what is to be kept of a resolved script; None if a text cannot be resolved without the others.

    `resolutions` are those of its texts, `statements` its lineage, `given` the tables of its catalog that are not from
    the store.
    """
    by_text: dict[str, list[StatementLineage]] = defaultdict(list)
    for statement in statements:
        in_circle = any(problem.code is DiagnosticCode.CYCLIC_DEFINITION for problem in statement.diagnostics)
        if statement.changes or statement.altered or is_by_chance(statement) or in_circle:
            return None
        by_text[statement.source or ""].append(statement)
    left_out = script.prepare()
    asked: dict[AskedCatalog, None] = {}
    known: dict[str, KnownText] = {}
    by_name: dict[bytes, list[tuple[bytes, tuple[int, ...]]]] = {}
    always, dialect = set(script.defining_functions), script.options.naming.dialect
    for index, ((name, text), found) in enumerate(zip(texts.items(), resolutions, strict=True)):
        own = asked_by(script, found, given)
        if own is None:
            return None
        asked.update(dict.fromkeys(own))
        is_alone, is_tied = index not in left_out, index in script.tied
        known[name] = known_text(name, text, found, by_text[name], dialect, is_alone=is_alone, is_tied=is_tied)
        for words in words_of_names(name, text):
            _add(by_name, always, words, index)
    return KnownTexts(known, by_name, tuple(sorted(always)), tuple(asked), catalog_digest(given))


def asked_by(script: Script, resolution: TextResolution, given: Catalog) -> list[AskedCatalog] | None:
    """Return what a text asked of the catalog, unless the given tables decide it.

    None if it asked more than look-ups tell: with a search path, or to alter tables.
    """
    if resolution.searched or any(one.alters for listed in resolution.definitions for one in listed):
        return None
    asked: list[AskedCatalog] = []
    for number, listed in enumerate(resolution.resolutions):
        naming = script.options.naming if resolution.namings is None else resolution.namings[number]
        if naming.search_path:
            return None
        asked += _asked(script, naming, chain.from_iterable(one.look_ups for one in listed), given)
    return asked


def _asked(script: Script, naming: Naming, look_ups: Iterable[LookUp], given: Catalog) -> Iterator[AskedCatalog]:
    tables = script.catalog_tables(naming)
    for method, arguments, answer in look_ups:
        if method == "find" and isinstance(answer, bytes):
            entry = tables.find(arguments[0])
            if entry.learnt or given.find(entry.name) is None:
                yield AskedCatalog(without_dialect(naming), None, arguments[0], answer)
        elif method == "in_schema":
            schema, parts = arguments
            yield AskedCatalog(without_dialect(naming), schema, parts, answer, tables.in_schema(schema, parts))


def catalog_digest(given: Catalog) -> bytes:
    """Return the digest of the tables of a catalog, in their order."""
    found = blake2b(digest_size=16)
    for table in given:
        columns = [(written(column.name), column.data_type, type(column.data_type)) for column in table.columns]
        how = (written(table.name), columns, table.inferred, table.learnt, table.exact)
        found.update(repr(how).encode(errors="surrogatepass"))
    return found.digest()


def _add(
    by_name: dict[bytes, list[tuple[bytes, tuple[int, ...]]]], always: set[int], words: list[bytes], index: int
) -> None:
    if not words:
        always.add(index)
        return
    first, *rest = map(short_digest, words)
    others, listed = b"".join(rest), by_name.setdefault(first, [])
    for number, (known, indexes) in enumerate(listed):
        if known == others:
            listed[number] = known, tuple(sorted({*indexes, index}))
            return
    listed.append((others, (index,)))


def _naming(saved: tuple[Any, ...], of: Naming) -> Naming:
    return Naming(of.dialect, *saved)

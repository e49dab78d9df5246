"""A catalog whose tables are read from live databases: all of them, or those that are looked up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.saved_schemas import SavedSchemas, SchemasFile, own_name
from lineage.catalog.database.table_reader import TableReader, table_reader
from lineage.catalog.schema import Catalog
from lineage.catalog.table import TableSchema
from lineage.model.dialects import Dialect
from lineage.model.names import Naming, plain_name

__all__ = ["DEFAULT_AGE", "DatabaseCatalog", "LiveSchemas"]

DEFAULT_AGE = timedelta(hours=1)
"""How long schemas are taken from the cache."""
_MANY_NAMES = 20_000
"""If more names than these are looked up at once, all tables are read instead."""
_WORD = re.compile(r"\"((?:[^\"]|\"\")+)\"|`([^`]+)`|\[([^\]\n]+)\]|([^\W\d][\w$]*)")


class LiveSchemas:
    """The schemas of one database, read when they are needed, and kept in a file."""

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        max_age: timedelta = DEFAULT_AGE,
        refresh: bool = False,
        folder: Path | None = None,
        reader: TableReader | None = None,
    ) -> None:
        """With `max_age` 0, no file is kept; with `refresh`, what it has is read again."""
        self.address = address
        self._reader = reader or table_reader(address)
        self._file = SchemasFile(address, folder) if max_age else None
        now = datetime.now(UTC)
        known = None if refresh or self._file is None else self._file.read(now - max_age)
        self.is_from_file = known is not None
        self._saved = known or SavedSchemas(now)

    @property
    def read_at(self) -> datetime:
        """When the oldest of the schemas was read."""
        return self._saved.read_at

    @property
    def is_whole(self) -> bool:
        """Whether all tables are known."""
        return self._saved.is_whole

    def tables(self, names: Collection[str] | None = None) -> Iterable[TableSchema]:
        """Return the tables with these names of their own (all, without names), after reading what is missing.

        Raises:
            DatabaseError: the database could not be read.
        """
        missing = None if names is None else self._saved.missing(names)
        if missing is not None and len(missing) > _MANY_NAMES:
            missing = None
        if not self.is_whole and (missing is None or missing):
            self._saved.add(self._reader.read(missing), missing)
            if self._file is not None:
                self._file.write(self._saved)
        return self._saved.tables.values() if names is None else self._saved.named(names)

    def __getstate__(self) -> dict[str, Any]:
        # Another process has what was read until then. It never connects: it has no address, and no password.
        whole = replace(self._saved, is_whole=True)
        return {"address": DatabaseAddress(str(self.address)), "_saved": whole, "_reader": None, "_file": None,
                "is_from_file": self.is_from_file}  # fmt: skip


class DatabaseCatalog(Catalog):
    """A catalog of given tables and of live databases, whose tables are read when they are looked up.

    `prepare` reads the tables that texts may name at once, `complete` reads all. Given tables take precedence.
    """

    def __init__(
        self, sources: Sequence[LiveSchemas], given: Iterable[TableSchema] = (), dialect: str | Dialect = "ansi"
    ) -> None:
        super().__init__(given, dialect)
        self.sources = tuple(sources)
        self._given = set(self._tables)
        self._asked: set[str] = set()
        self._naming: Naming | None = None

    def find(self, name: str) -> TableSchema | None:
        """Return the table with this full name, else the only one whose trailing parts agree with it.

        Raises:
            DatabaseError: the database could not be read.
        """
        self._look_up({own_name(plain_name(name))})
        return super().find(name)

    def prepare(self, texts: Iterable[str]) -> DatabaseCatalog:
        """Read the tables that the texts may name, with one query."""
        self._look_up(set(_names_in(texts)))
        return self

    def complete(self) -> DatabaseCatalog:
        """Read all tables."""
        for source in self.sources:
            self._add(source.tables())
        return self

    def only(self, names: Collection[str]) -> Catalog:
        """Return the given tables, and those of the databases that have one of these full names."""
        kept = (table for table in self if table.name in self._given or table.name in names)
        return Catalog(kept, self.dialect)

    def qualified(self, naming: Naming) -> Catalog:
        """Return the catalog with names as an ingest qualifies them; what it reads later is qualified, too."""
        found = self.memo.get((Catalog, naming))
        if found is None:
            given = (table for table in self if table.name in self._given)
            qualified = ((replace(t, name=self._qualified_name(t.name, naming))) for t in given)
            found = DatabaseCatalog(self.sources, qualified, self.dialect)
            found._naming = naming
            found._look_up(self._asked)
            self.memo[Catalog, naming] = found
        other: DatabaseCatalog = found
        return other

    def _look_up(self, names: set[str]) -> None:
        missing = names - self._asked
        if not missing:
            return
        self._asked |= missing
        variants = {one for name in missing for one in (name, name.lower(), name.upper())}
        for source in self.sources:
            self._add(source.tables(variants))

    def _add(self, tables: Iterable[TableSchema]) -> None:
        for table in tables:
            name = table.name if self._naming is None else self._qualified_name(table.name, self._naming)
            if name not in self._tables:
                self.add(table if name == table.name else replace(table, name=name))


def _names_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the words and quoted names in texts; of a quoted path, its parts.

    >>> sorted(set(_names_in(['SELECT "My Col" FROM `p.d.t`'])))
    ['FROM', 'My Col', 'SELECT', 'd', 'p', 'p.d.t', 't']
    """
    for text in texts:
        for double, back, square, word in _WORD.findall(text):
            quoted = double.replace('""', '"') or back or square
            yield quoted or word
            if quoted and "." in quoted:
                yield from quoted.split(".")

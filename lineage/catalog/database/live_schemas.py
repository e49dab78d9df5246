"""The tables of a live database, read when they are looked up, and kept in a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.saved_schemas import SavedSchemas, SchemasFile
from lineage.catalog.database.table_reader import TableReader, table_reader
from lineage.catalog.table import TableSchema
from lineage.model.names import Naming, format_name, split_name

__all__ = ["DEFAULT_AGE", "LiveSchemas"]

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
        """Return the tables whose own name, in lower case, is one of these (all, without names).

        What is missing is read before.

        Raises:
            DatabaseError: the database could not be read.
        """
        names = None if names is None else {name.lower() for name in names}
        missing = None if names is None else self._saved.missing(names)
        if missing is not None and len(missing) > _MANY_NAMES:
            missing = None
        if not self.is_whole and (missing is None or missing):
            self._saved.add(self._reader.read(missing), missing)
            if self._file is not None:
                self._file.write(self._saved)
        return self._saved.tables.values() if names is None else self._saved.named(names)

    def names_in(self, texts: Iterable[str]) -> set[str]:
        """Return the words and quoted names in texts, which may be names of tables."""
        return set(_names_in(texts))

    def local_name(self, name: str, naming: Naming) -> str:
        """Return a table's name without its database, unless names are completed by a default database.

        In SQL for PostgreSQL nobody writes the database. Elsewhere names have it (BigQuery's project).
        """
        if naming.default_database or not self.address.is_postgres:
            return name
        parts = [part for part, _ in split_name(name)]
        return format_name(parts[1:]) if len(parts) > 2 else name

    def __getstate__(self) -> dict[str, Any]:
        # Another process has what was read until then. It never connects: it has no address, and no password.
        whole = replace(self._saved, is_whole=True)
        return {"address": DatabaseAddress(str(self.address)), "_saved": whole, "_reader": None, "_file": None,
                "is_from_file": self.is_from_file}  # fmt: skip


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

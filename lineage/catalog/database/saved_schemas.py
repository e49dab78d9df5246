"""Schemas of a database that were read before, kept in the user's cache folder. A file has no password.

Each file is that of one database, user and dialect: who may see less sees less. It says when it was read, and which
names were asked for, if not all tables were read. The first line describes it; each other line is a table.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.shared_columns import SharedColumns
from lineage.catalog.table import TableSchema
from lineage.model.names import split_name

__all__ = ["SavedSchemas", "SchemasFile", "own_name"]

_FORMAT = 1
_MAX_FILES = 50
"""Number of databases that are remembered; those read least recently are forgotten."""


@dataclass(slots=True)
class SavedSchemas:
    """Schemas as of a time: all tables, or those with the names that were `asked` for."""

    read_at: datetime
    is_whole: bool = False
    asked: set[str] = field(default_factory=set)
    tables: dict[str, TableSchema] = field(default_factory=dict)
    _by_own_name: dict[str, list[TableSchema]] | None = None

    def named(self, names: Collection[str]) -> Iterator[TableSchema]:
        """Yield the tables whose own name, without schema, is one of these, which are in lower case."""
        if self._by_own_name is None:
            self._by_own_name = {}
            for table in self.tables.values():
                self._by_own_name.setdefault(own_name(table.name).lower(), []).append(table)
        for name in names:
            yield from self._by_own_name.get(name, ())

    def missing(self, names: Collection[str]) -> set[str]:
        """Return the names that were not asked for."""
        return set() if self.is_whole else set(names) - self.asked

    def add(self, tables: Iterable[TableSchema], asked: Collection[str] | None) -> None:
        """Add tables that were read; `asked` are their names, or None: these are all tables."""
        self.tables.update((table.name, table) for table in tables)
        self._by_own_name = None
        if asked is None:
            self.is_whole, self.asked = True, set()
        else:
            self.asked.update(asked)


def own_name(name: str) -> str:
    """Return the last part of a full name.

    >>> own_name("shop.orders"), own_name('shop."a.b"')
    ('orders', 'a.b')
    """
    return split_name(name)[-1][0] if '"' in name else name.rpartition(".")[2]


class SchemasFile:
    """The file of one database."""

    def __init__(self, address: DatabaseAddress, folder: Path | None = None) -> None:
        self._described = str(address)
        root = folder or platformdirs.user_cache_path("lineage-graph", appauthor=False) / "catalogs"
        # The parameters of an address can select another database; a hash does not reveal a password.
        digest = hashlib.sha256(address.without_secrets.encode()).hexdigest()[:24]
        self._path = root / f"{digest}.jsonl"

    def read(self, not_before: datetime) -> SavedSchemas | None:
        """Return the schemas, if they were read since a time and the file is whole."""
        try:
            with self._path.open(encoding="utf-8") as file:
                head = json.loads(file.readline())
                read_at = datetime.fromisoformat(head["read_at"])
                if head["format"] != _FORMAT or head["address"] != self._described or read_at < not_before:
                    return None
                shared = SharedColumns()
                tables = {}
                for line in file:
                    name, *columns = json.loads(line)
                    pairs = zip(columns[::2], columns[1::2], strict=True)
                    tables[name] = TableSchema(name, tuple(shared.of(*pair) for pair in pairs))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        if len(tables) != head["tables"]:
            return None
        return SavedSchemas(read_at, bool(head["whole"]), set(head["asked"]), tables)

    def saved_at(self, not_before: datetime) -> datetime | None:
        """Return when the schemas were read, if `read` would return them; the tables are not looked at."""
        try:
            with self._path.open(encoding="utf-8") as file:
                head = json.loads(file.readline())
                at = datetime.fromisoformat(head["read_at"])
                return at if head["format"] == _FORMAT and at >= not_before else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, saved: SavedSchemas) -> None:
        """Replace the file, readable by its owner only. If it cannot be written, the next read asks the database."""
        head = {
            "format": _FORMAT,
            "address": self._described,
            "read_at": saved.read_at.astimezone(UTC).isoformat(),
            "whole": saved.is_whole,
            "asked": sorted(saved.asked),
            "tables": len(saved.tables),
        }
        new = self._path.with_suffix(f".{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(json.dumps(head) + "\n")
                for table in saved.tables.values():
                    flat = [table.name, *(part for one in table.columns for part in (one.name, one.data_type))]
                    file.write(json.dumps(flat, separators=(",", ":")) + "\n")
            new.replace(self._path)
            _forget(self._path.parent.glob("*.jsonl"))
        except OSError:
            new.unlink(missing_ok=True)


def _forget(files: Iterable[Path]) -> None:
    newest_first = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[_MAX_FILES:]:
        path.unlink(missing_ok=True)

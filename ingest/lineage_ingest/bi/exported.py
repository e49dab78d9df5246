"""What an export of a dashboard tool contains, whichever tool wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import BiConnection

__all__ = ["BiExport", "Board", "BoardFilter", "ExportedTable", "QueryAsset", "QueryProblems",
           "distinct_slugs", "not_read", "slug"]  # fmt: skip

_NOT_IN_SLUG = re.compile(r"[^\w]+")


@frozen
class QueryAsset:
    """A card, chart, data source, view, explore or worksheet: a query whose result people see.

    `key` identifies it within the export and has neither dots nor quotes (`card/12-Revenue`); in `sql` of others it
    is a quoted table name. `sql` is in the dialect of the connection; None if there is no SQL to read: then `reads`,
    names of tables, is all that is known. `columns` are its columns in order if the export lists them. `at` is where
    in the export it is.
    """

    key: str
    title: str
    at: str
    connection: BiConnection
    sql: str | None
    columns: tuple[str, ...] = ()
    reads: tuple[tuple[str, ...], ...] = ()
    needs: tuple[str, ...] = ()
    """Keys of the other queries that it reads."""
    problems: tuple[Diagnostic, ...] = ()
    description: str | None = None
    owner: str | None = None
    url: str | None = None
    operation: str = "QUERY"
    """What it is in the tool: METABASE_CARD, SUPERSET_CHART, …"""
    identity: tuple[str, str] | None = None
    """How keys begin and end that it has had by other titles, if the tool gives it an id."""


@frozen
class BoardFilter:
    """A column by which a dashboard's filter decides the rows: of the query with this key, or of a table."""

    column: str
    key: str = ""
    connection: BiConnection | None = None
    parts: tuple[str, ...] = ()


@frozen
class Board:
    """A dashboard: the keys of the queries that it shows."""

    key: str
    title: str
    at: str
    shows: tuple[str, ...]
    problems: tuple[Diagnostic, ...] = ()
    description: str | None = None
    owner: str | None = None
    url: str | None = None
    operation: str = "DASHBOARD"
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By key, the columns that it shows of a query; by default all."""
    filters: tuple[BoardFilter, ...] = ()
    identity: tuple[str, str] | None = None


@frozen
class ExportedTable:
    """A table of a database with its columns, as the tool knows them."""

    connection: BiConnection
    parts: tuple[str, ...]
    columns: tuple[str, ...]


@frozen
class BiExport:
    """All that was read. Without `is_whole` something could not be read, so what is absent may still exist."""

    server: str
    queries: tuple[QueryAsset, ...] = ()
    boards: tuple[Board, ...] = ()
    tables: tuple[ExportedTable, ...] = ()
    problems: tuple[tuple[str, Diagnostic], ...] = ()
    """Problems of files, each with its file."""
    is_whole: bool = True
    scopes: tuple[str, ...] = ()
    """Beginnings of the keys that the files speak of (`Workbook/`); by default they speak of the whole server."""
    mentioned: frozenset[tuple[str, str]] = frozenset()
    """How keys begin and end of what the files refer to without having it: it still exists."""
    part: str | None = None
    """What the files are a part of, if they say that they are no more: then what is absent may still exist."""

    @property
    def assets(self) -> tuple[QueryAsset | Board, ...]:
        """The queries, then the dashboards."""
        return self.queries + self.boards


def slug(title: str) -> str:
    """Return a title as a part of a key: everything but letters, digits and underscores becomes a hyphen.

    >>> slug("Umsatz / Monat (brutto)"), slug("v1.2")
    ('Umsatz-Monat-brutto', 'v1-2')
    """
    return _NOT_IN_SLUG.sub("-", title).strip("-")[:120] or "untitled"


def distinct_slugs(titles: Iterable[str]) -> dict[str, str]:
    """Return the parts of keys that titles are, by title; those that would be equal end with a digest of their title.

    >>> distinct_slugs(["Sales 1", "Umsatz"]), len(set(distinct_slugs(["A-B", "A B", "a/b"]).values()))
    ({'Sales 1': 'Sales-1', 'Umsatz': 'Umsatz'}, 3)
    """
    found: dict[str, list[str]] = {}
    for title in dict.fromkeys(titles):
        found.setdefault(slug(title).casefold(), []).append(title)
    return {
        title: slug(title) if len(same) == 1 else f"{slug(title)}-{sha256(title.encode()).hexdigest()[:6]}"
        for same in found.values()
        for title in same
    }


def not_read(what: str, hint: str | None = None, severity: Severity = Severity.ERROR) -> Diagnostic:
    """Return the diagnostic of an expression that is not read, so that lineage is missing."""
    return Diagnostic(DiagnosticCode.EXPRESSION_NOT_READ, severity, what, hint=hint)


@dataclass(slots=True)
class QueryProblems:
    """What could not be read of one query, each problem once."""

    found: list[Diagnostic] = field(default_factory=list)

    def add(self, problem: Diagnostic) -> None:
        """Add a problem."""
        if problem not in self.found:
            self.found.append(problem)

    def add_not_read(self, message: str, hint: str | None = None) -> None:
        """Add that an expression is not read, so that lineage is missing."""
        self.add(not_read(message, hint))

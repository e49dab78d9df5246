"""The tables that an engine needs before it can read a case, and its statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lineage import Catalog, extract_script
from lineage.model.names import split_location
from lineage.model.statement import ColumnRef, StatementLineage
from lineage.sql.scan.executable_comments import open_executable_comments
from tests.sql.case_files import Case

__all__ = ["CaseTable", "ReadCase", "read_case"]

_MAKES = re.compile(r"CREATE_|CACHE")


@dataclass(frozen=True, slots=True)
class CaseTable:
    """A table that a case reads or writes and does not create; an empty type may be any."""

    name: str
    columns: tuple[tuple[str, str], ...]
    behind: str = ""

    @property
    def schema(self) -> str:
        """The schema that its name gives; empty if it gives none."""
        return _schema_of(self.name)

    def create(self, default: str, using: str = "") -> str:
        """Return the statement that creates it, with a type for the columns that have none."""
        listed = ", ".join(f"{name} {kind or default}".strip() for name, kind in self.columns)
        return " ".join(filter(None, (f"CREATE TABLE {self.name} ({listed})", using, self.behind)))


@dataclass(frozen=True, slots=True)
class ReadCase:
    """A case with its tables, and our lineage of each statement with its text."""

    case: Case
    tables: tuple[CaseTable, ...]
    statements: tuple[tuple[str, StatementLineage], ...]

    @property
    def schemas(self) -> list[str]:
        """The schemas that the names of its tables give."""
        made = {_schema_of(statement.target) for _, statement in self.statements if statement.target}
        return sorted((made | {table.schema for table in self.tables}) - {""})


def read_case(case: Case) -> ReadCase:
    """Return a case as an engine needs it.

    Tables that have no `schema` line have the columns that our edges read from them.
    """
    options = {k: v for k, v in case.options.items() if k.startswith("default_")}
    catalog = Catalog.from_dict(case.schemas, case.dialect)
    statements = extract_script(case.sql, case.dialect, catalog, **options)  # type: ignore[arg-type]
    tables = dict(_declared(case))
    made = {s.target for s in statements if s.target and _MAKES.match(s.operation)}
    guessed: dict[str, dict[str, None]] = {}
    for edge in (edge for statement in statements for edge in statement.edges):
        for ref in (edge.source, edge.target):
            if isinstance(ref, ColumnRef) and ref.table and not ref.table.startswith("/"):
                guessed.setdefault(ref.table, {}).setdefault(ref.column.split(".")[0])
    for name in (source for statement in statements for source in statement.sources if not split_location(source)):
        guessed.setdefault(name, {})
    declared = {name.replace('"', "").lower() for name in tables}
    for name, columns in guessed.items():
        if name not in made and name.lower() not in declared:
            tables.setdefault(name, CaseTable(name, tuple((column, "") for column in columns)))
    sql = open_executable_comments(case.sql, case.dialect)  # a statement may begin inside of one
    texts = ((sql[s.span.start : s.span.end] if s.span else sql, s) for s in statements)
    return ReadCase(case, tuple(tables.values()), tuple(texts))


def _schema_of(name: str) -> str:
    parts = name.split(".")
    return parts[-2] if len(parts) > 1 and not split_location(name) else ""


def _declared(case: Case) -> Iterator[tuple[str, CaseTable]]:
    for name, (typed, behind) in case.tables.items():
        yield name, CaseTable(name, tuple(typed), behind)
    for name, columns in case.schemas.items():
        if name not in case.tables:
            yield name, CaseTable(name, tuple((column, "") for column in columns))

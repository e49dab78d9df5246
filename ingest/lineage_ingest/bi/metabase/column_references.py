"""References of MBQL to columns: fields by id or name, of the source, of a join, or of a foreign key's table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.model.diagnostics import Severity
from lineage_ingest.bi.exported import QueryProblems, not_read
from lineage_ingest.bi.metabase.clauses import call_of, operator_of
from lineage_ingest.bi.metabase.metadata import MetabaseObjects, ObjectId, as_id
from lineage_ingest.bi.metabase.source_columns import NO_COLUMNS, SourceColumns
from lineage_ingest.bi.templates.written_sql import quote, table_reference

__all__ = ["SOURCE", "ColumnReferences", "MbqlScope"]

SOURCE = "source"
"""The alias of what a query reads."""


@dataclass(slots=True)
class MbqlScope:
    """What names mean in one query: its expressions, its aggregations, its joins by alias."""

    columns: SourceColumns
    """Columns of its source."""
    expressions: Mapping[str, Any] = field(default_factory=dict)
    aggregations: list[Any] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)
    implicit: dict[str, str] = field(default_factory=dict)
    """The SQL of joins that foreign keys imply, by alias."""
    join_columns: dict[str, SourceColumns] = field(default_factory=dict)
    source_metric: str | None = None
    """The key of the metric with which the query begins: its filters and joins are in the source."""
    being_written: set[str | int] = field(default_factory=set)
    """Names of expressions and numbers of aggregations that are being written: one that reads itself has no end."""


class ColumnReferences:
    """Writes references to columns."""

    def __init__(self, metadata: MetabaseObjects, dialect: str, problems: QueryProblems) -> None:
        self._metadata = metadata
        self._dialect = dialect
        self._problems = problems

    def column(self, clause: list[Any], scope: MbqlScope) -> tuple[str, str]:
        """Return a column reference, bucketed if the clause says so, and the column's name."""
        operator, rest = operator_of(clause), clause[1:]
        options: Mapping[str, Any] = next((one for one in rest if isinstance(one, Mapping)), {})
        if operator in ("datetime-field", "binning-strategy") and rest:
            inner = rest[0] if isinstance(rest[0], list) else ["field", rest[0], None]
            text, name = self.column(inner, scope)
            return call_of("bucket", [text]), name
        if operator == "joined-field" and len(rest) == 2:
            inner = rest[1] if isinstance(rest[1], list) else ["field", rest[1], None]
            return self.column(["field", inner[1], {"join-alias": rest[0]}], scope)
        if operator == "fk->" and len(rest) == 2:
            ids = [one[1] if isinstance(one, list) and len(one) > 1 else one for one in rest]
            return self.column(["field", ids[1], {"source-field": ids[0]}], scope)
        text, name = self._field(rest[0] if rest else None, options, scope)
        unit = options.get("temporal-unit")
        if unit and unit != "default":
            text = call_of(str(unit), [text])
        if options.get("binning"):
            text = call_of("bin", [text])
        return text, name

    def _field(self, reference: Any, options: Mapping[str, Any], scope: MbqlScope) -> tuple[str, str]:
        """Return the reference to a field by its id or name, and the column's name."""
        if isinstance(reference, str):
            info = None
            path: tuple[str, ...] = (reference,)
            name = reference
        else:
            info = self._metadata.field(as_id(reference))
            if info is None:
                hint = "add the JSON of /api/database/ID/metadata"
                self._problems.add_not_read(f"the field {reference} is not in the export", hint)
                return "NULL", f"field_{reference}"
            name, path = ".".join(info.path), info.path
        alias = options.get("join-alias")
        if options.get("source-field") is not None and info is not None and not alias:
            alias = self._implicit_join(options, info.table, scope)
        columns = scope.columns
        origin = (as_id(reference), None if not alias else str(alias))
        if alias in scope.aliases:
            columns, origin = scope.join_columns.get(str(alias), NO_COLUMNS), (origin[0], None)
        elif alias in scope.implicit:
            columns = NO_COLUMNS
        elif alias:  # of a join inside the source
            if not scope.columns.names:
                self._problems.add(
                    not_read(
                        f"which column {name!r} of the join {alias!r} is in what the query reads is not known: it is "
                        "taken by its name",
                        severity=Severity.WARNING,
                    )
                )
            alias = None
        relation = self._quote(str(alias) if alias else SOURCE)
        if columns.names:
            found = columns.named(origin, path[0])
            if found is None:
                self._problems.add_not_read(f"the column {name!r} is not in what the query reads")
                return "NULL", name
            path = (found, *path[1:])
        return f"{relation}.{'.'.join(map(self._quote, path))}", name

    def _implicit_join(self, options: Mapping[str, Any], table: ObjectId, scope: MbqlScope) -> str:
        """Return the alias of the table that a foreign key refers to; it is joined where a column of it is read.

        The key can be of a table that is joined.
        """
        source_field, through = options["source-field"], options.get("source-field-join-alias")
        source = self._metadata.field(as_id(source_field))
        info = self._metadata.table(table)
        key = source.path[-1] if source is not None else str(source_field)
        alias = f"{info.parts[-1] if info is not None else table}__via__{key}"
        alias += f"__{through}" if through else ""
        if alias in scope.implicit:
            return alias
        written = table_reference(info.parts, self._dialect) if info is not None else quote(str(table), self._dialect)
        target = self._metadata.field(source.target) if source is not None and source.target is not None else None
        if source is not None and target is not None:
            owner = str(through) if through in scope.aliases else SOURCE
            columns = scope.columns if owner == SOURCE else scope.join_columns.get(owner, NO_COLUMNS)
            own: str | None = source.path[0]
            if columns.names:
                own = columns.named((as_id(source_field), None), source.path[0])
            if own is None:
                self._problems.add_not_read(f"the foreign key {key} is not in what the query reads")
            left = f"{self._quote(owner)}.{self._quote(own)}" if own is not None else "NULL"
            condition = f"{left} = {self._quote(alias)}.{self._quote(target.path[0])}"
        else:
            condition = "TRUE"
            message = f"the foreign key {key} has no known target: the condition of its join is not known"
            self._problems.add_not_read(message)
        scope.implicit[alias] = f"LEFT JOIN {written} AS {self._quote(alias)} ON {condition}"
        return alias

    def _quote(self, name: str) -> str:
        return quote(name, self._dialect)

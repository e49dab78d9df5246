"""Resolution rounds: a unit that reads a table of another unit is extracted again once the table's columns are known.

If a table has several definitions, the reader sees the one that was in force at its last run, else the first one after
that. LineageX's stack of deferred statements does this for a script; here it is a log, whose statements run repeatedly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from lineage.catalog import TableSchema
from lineage.model.names import column_text
from lineage.model.statement import ColumnSchema
from lineage.sql.script.script import Decision
from lineage_ingest.query_log.pipeline.extraction import KnownSchemas, TableId
from lineage_ingest.query_log.pipeline.merging.statistics import JobRuns
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.pipeline.versions.existence import Existence
from lineage_ingest.query_log.pipeline.versions.names_of_parts import UnitPart

__all__ = ["Definitions", "RunInterval"]

Columns = tuple[str, ...]


class RunInterval(NamedTuple):
    """The times of a unit's first and last run, in microseconds since 1970; None if the log has no times."""

    first: int | None
    last: int | None

    @classmethod
    def of(cls, runs: Iterable[JobRuns]) -> RunInterval:
        """Return the interval that covers all these runs."""
        listed = list(runs)
        return cls(
            min((one.first for one in listed if one.first is not None), default=None),
            max((one.last for one in listed if one.last is not None), default=None),
        )


_NO_PARTS: Mapping[int, RunInterval] = {}


class _Version(NamedTuple):
    unit: int
    part: int
    first: int
    last: int
    columns: Columns


class Definitions:
    """The schemas that units define, and which units have to be extracted again for them."""

    def __init__(self, base: KnownSchemas, existence: Existence | None = None) -> None:
        """Take the schemas known before the log, and when the tables existed that units search for."""
        self._base = base
        self._existence = existence or Existence()
        self._given = {table.name: tuple(table.names) for table in base.given}
        self._summaries: dict[int, UnitSummary] = {}
        self._spans: dict[int, RunInterval] = {}
        self._parts: dict[int, Mapping[int, RunInterval]] = {}
        self._versions: dict[TableId, dict[UnitPart, _Version]] = defaultdict(dict)
        self._seen_with: dict[int, dict[TableId, Columns | None]] = defaultdict(dict)
        self._readers: dict[TableId, set[int]] = defaultdict(set)
        self._shown_to: dict[int, tuple[tuple[str, ...], ...]] = {}
        """By unit: the tables found for its ambiguous columns when it was last extracted again for these."""
        self._inferred: dict[TableId, dict[str, None]] = defaultdict(dict)

    def add(self, summary: UnitSummary, span: RunInterval, parts: Mapping[int, RunInterval] = _NO_PARTS) -> None:
        """Add or replace a unit's summary; `span` is when the unit ran, `parts` when each of its parts ran."""
        key, namespace = summary.key, summary.namespace
        if key in self._summaries:
            for (name, _), part in zip(self._summaries[key].defines, self._summaries[key].defined_in, strict=True):
                self._versions[namespace, name].pop((key, part), None)
        self._summaries[key] = summary
        self._spans[key] = span
        self._parts[key] = parts
        for (name, columns), part in zip(summary.defines, summary.defined_in, strict=True):
            own = parts.get(part, span)
            version = _Version(key, part, own.first or 0, own.last or 0, columns)
            self._versions[namespace, name][key, part] = version
        for name in (*summary.reads, *summary.fills, *chain.from_iterable(summary.searched)):
            self._readers[namespace, name].add(key)
        for name, inferred in summary.inferred:
            self._inferred[namespace, name].update(dict.fromkeys(inferred))

    def stale(self) -> dict[int, dict[str, Columns | None]]:
        """Return the units to extract again, each with the tables whose columns differ for it from `known_schemas`.

        The result is recorded as seen: a second call without an `add` in between returns nothing.
        """
        overlays: dict[int, dict[str, Columns | None]] = {}
        for table_id in sorted({*self._versions, *self._existence.names}):
            if not self._versions[table_id] and table_id not in self._existence.names:
                continue
            newest = self._newest(table_id)
            for key in sorted(self._readers.get(table_id, ())):
                columns = self._columns_at_run(table_id, key)
                # For a table that the unit itself creates, the columns from an earlier ingest do not count.
                own = table_id[1] in self._summaries[key].makes
                before = self._seen_with[key].get(
                    table_id, self._given.get(table_id[1]) if own else self._known_columns(table_id)
                )
                self._seen_with[key][table_id] = columns
                if columns == before or not self._bears_on(key, table_id, columns, before):
                    continue
                overlays.setdefault(key, {})
        for key, summary in self._summaries.items():
            if (summary.ambiguous or summary.decided) and self._decides_otherwise(summary):
                shown = self._shown(summary)
                if self._shown_to.get(key) != shown:
                    self._shown_to[key] = shown
                    overlays.setdefault(key, {})
        for key, overlay in overlays.items():
            for table_id, columns in self._seen_with[key].items():
                newest = self._newest(table_id)
                if columns != newest:
                    overlay[table_id[1]] = columns
        return overlays

    def known_schemas(self) -> KnownSchemas:
        """Return the schemas known now: the newest definition of each table, else the columns inferred from use."""
        tables: dict[TableId, TableSchema] = {
            table_id: TableSchema(table_id[1], tuple(map(ColumnSchema, columns)), inferred=True, exact=True)
            for table_id, columns in self._inferred.items()
            if table_id[1] not in self._given
        }
        tables.update(self._base.tables)
        for table_id, versions in self._versions.items():
            if versions:
                columns = tuple(map(ColumnSchema, self._newest(table_id) or ()))
                tables[table_id] = TableSchema(table_id[1], columns, exact=table_id[1] not in self._given)
        return KnownSchemas(self._base.given, tables)

    def _newest(self, table_id: TableId) -> Columns | None:
        versions = self._versions.get(table_id)
        if not versions:
            return self._known_columns(table_id)
        return max(versions.values(), key=lambda v: (v.last, v.unit, v.part)).columns

    def _known_columns(self, table_id: TableId) -> Columns | None:
        table = self._base.tables.get(table_id)
        if table is not None and not table.inferred:
            return tuple(table.names)
        return self._given.get(table_id[1])

    def _columns_at_run(self, table_id: TableId, key: int) -> Columns | None:
        """Return the columns that a table had when the first part of a unit that mentions it last ran."""
        at = self._last_run(table_id[1], key)
        if any(table_id[1] in names for names in self._summaries[key].searched):
            if self._is_passed_over(table_id, key, at):
                return None
            made_as = table_id if self._summaries[key].bound else self._existence.table(table_id, at)
            table_id = made_as or table_id
        return self._defined_columns(table_id, key, at)

    def _last_run(self, table: str, key: int) -> int:
        """Return when the first part of a unit that mentions a table last ran."""
        if parts := self._parts[key]:
            for number, part in enumerate(self._summaries[key].parts):
                if table in part.names and number in parts:
                    return parts[number].last or 0
        return self._spans[key].last or 0

    def _defined_columns(self, table_id: TableId, key: int, at: int) -> Columns | None:
        """Return the columns that a table had when a unit ran; `table_id` is the name that it was created with."""
        others = [version for version in self._versions[table_id].values() if version.unit != key]
        before = [version for version in others if version.first <= at]
        if before:
            return max(before, key=lambda v: (min(v.last, at), v.last, v.unit, v.part)).columns
        if others:
            later = min(others, key=lambda v: (v.first, v.unit, v.part))
            summary, before_log = self._summaries[later.unit], self._base.tables.get(table_id)
            is_renamed = table_id[1] not in summary.makes and table_id[1] not in dict(summary.before)
            if is_renamed and before_log is not None and not before_log.inferred:  # not yet renamed: another table
                return tuple(before_log.names)
            return dict(summary.before).get(table_id[1], later.columns)
        if (
            table_id[1] in self._summaries[key].makes
        ):  # columns from an earlier ingest are what the unit creates, not what it reads
            return self._given.get(table_id[1])
        return self._known_columns(table_id)

    def _is_passed_over(self, table_id: TableId, key: int, at: int) -> bool:
        """Return whether a unit's schema search skips this table: it did not exist yet, but another candidate did."""
        for names in self._summaries[key].searched:
            if table_id[1] in names and not self._is_there((table_id[0], table_id[1]), key, at):
                return any(self._is_there((table_id[0], name), key, at) for name in names)
        return False

    def _is_there(self, table_id: TableId, key: int, at: int) -> bool:
        """Return whether a table is known to have existed when a unit ran."""
        if not self._summaries[key].bound and self._existence.says(table_id, at):
            return self._existence.table(table_id, at) is not None
        others = [version for version in self._versions.get(table_id, {}).values() if version.unit != key]
        if any(version.first <= at for version in others):
            return True
        made = table_id[1] in self._summaries[key].makes
        return not others and (self._given.get(table_id[1]) if made else self._known_columns(table_id)) is not None

    def _bears_on(self, key: int, table_id: TableId, columns: Columns | None, before: Columns | None) -> bool:
        """Return whether a table's columns can change a unit's result.

        They cannot if the unit is fully resolved, the schemas of all other tables that it reads are known, and the
        columns inferred from its use of the table are among these columns.
        """
        summary = self._summaries[key]
        if any(table_id[1] in names for names in summary.searched):
            return True
        if summary.open or before is not None or columns is None or table_id[1] in summary.fills:
            return True
        unknown = [n for n in summary.reads if n != table_id[1] and self._known_columns((summary.namespace, n)) is None]
        used = dict(summary.inferred).get(table_id[1], ())
        return bool(unknown) or not set(used) <= set(map(column_text, columns))

    def _decides_otherwise(self, summary: UnitSummary) -> bool:
        """Return whether inferred columns now resolve an ambiguous column, or no longer resolve one that they did."""
        return any(len(found) == 1 for found in self._holders(summary, summary.ambiguous)) or any(
            len(found) != 1 for found in self._holders(summary, summary.decided)
        )

    def _shown(self, summary: UnitSummary) -> tuple[tuple[str, ...], ...]:
        return tuple(self._holders(summary, sorted({*summary.ambiguous, *summary.decided})))

    def _holders(self, summary: UnitSummary, columns: Iterable[Decision]) -> Iterator[tuple[str, ...]]:
        """Yield, for each column, those of its candidate tables that have the column according to their use."""
        for column, tables in columns:
            yield tuple(t for t in tables if column in self._inferred.get((summary.namespace, t), ()))

    def spans(self) -> Mapping[int, RunInterval]:
        """Return the interval in which each unit ran."""
        return self._spans

    def summaries(self) -> Iterable[UnitSummary]:
        """Return the summary of each unit."""
        return self._summaries.values()

    def __iter__(self) -> Iterator[int]:
        return iter(self._summaries)

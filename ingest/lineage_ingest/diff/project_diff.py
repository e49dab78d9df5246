"""`diff_projects`: what a change of a project does, all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from lineage.frozen import frozen
from lineage.model.text.name_lists import name_list
from lineage.screen.listing import counted
from lineage.store.protocol import GraphStore
from lineage_ingest.dbt.templates.call_marks import without_marks
from lineage_ingest.diff.definitions.classification import (
    ORDER_OF_COLUMNS,
    ColumnDiff,
    ColumnEffect,
    TableDiff,
    TableEffect,
)
from lineage_ingest.diff.definitions.comparison import ProjectComparison, compare_projects
from lineage_ingest.diff.definitions.forms import Form
from lineage_ingest.diff.definitions.table_definitions import TEMPLATE_OF_LATER_BUILDS, Build
from lineage_ingest.diff.effects.consumer_columns import ConsumerColumns
from lineage_ingest.diff.effects.consumers import AffectedConsumer, affected_consumers, owner_of, tests_to_run
from lineage_ingest.diff.effects.edges import MissingRead, ProjectEdges, project_edges
from lineage_ingest.diff.effects.personal_data import NewCarrier, is_any_tagged, is_tagged_otherwise, new_carriers
from lineage_ingest.diff.effects.readers import TableReach, find_reach
from lineage_ingest.diff.effects.unmasked_columns import with_unmasked_columns
from lineage_ingest.diff.revisions.manifest_json import DbtTest, ManifestJson
from lineage_ingest.diff.revisions.revision_hooks import written_by_hooks
from lineage_ingest.diff.revisions.revisions import Revision
from lineage_ingest.diff.revisions.state_modified import state_modified_plus

__all__ = ["FailCondition", "ProjectDiff", "Risk", "diff_projects"]

Progress = Callable[[str, int, int | None], None]


class FailCondition(StrEnum):
    """What makes the command fail, with `--fail-on`."""

    REMOVED = "removed"
    """A column or table is removed or renamed."""
    TYPE = "type"
    VALUE = "value"
    """Values of a column, or the row set of a table, change: by an edit, or downstream of one."""
    EXPOSURE = "exposure"
    """A dashboard or another consumer is reached."""
    PII = "pii"
    """Personal data flows to a column that had none."""
    UNMASKED = "unmasked"
    """A column is no longer masked."""


class Risk(StrEnum):
    """What a change of a column means for those who read it. Nothing is called safe: not all readers are known."""

    BREAKING = "breaking"
    """It is gone, or has another type, and somebody is known to read it; or its own SQL reads what is gone."""
    POSSIBLY_BREAKING = "possibly breaking"
    """Likewise, and no reader is known."""
    CHANGES = "changes content"
    ADDS = "adds"


@frozen
class ProjectDiff:
    """What a change does: to tables and columns, consumers, readers, personal data; what to rebuild and to test.

    `tables` has all of them, by key; `reach` those with an edit, where a store was given. `modified` are the unique ids
    that `state:modified+` chooses; None if the project is not one of dbt. `missing` are reads of columns that do not
    exist, and did before.
    """

    base: str
    head: str
    tables: Mapping[str, TableDiff]
    owners: Mapping[str, str] = field(default_factory=dict)
    consumers: Sequence[AffectedConsumer] = ()
    tests: Sequence[DbtTest] = ()
    modified: Sequence[str] | None = None
    missing: Sequence[MissingRead] = ()
    carriers: Sequence[NewCarrier] = ()
    reach: Mapping[str, TableReach] | None = None
    notices: Sequence[str] = ()
    errors: Sequence[str] = ()
    """What could not be read of the input."""

    @property
    def edited(self) -> list[TableDiff]:
        """The tables whose own definition is edited so that their content may differ."""
        listed = (TableEffect.ADDED, TableEffect.REMOVED, TableEffect.RENAMED, TableEffect.CHANGED)
        return [one for one in self.tables.values() if one.effect in listed]

    @property
    def affected(self) -> list[TableDiff]:
        """The tables whose content may differ by an edit upstream."""
        return [one for one in self.tables.values() if one.effect is TableEffect.AFFECTED]

    @property
    def cosmetic(self) -> list[TableDiff]:
        """The tables with an edit that changes nothing."""
        return [one for one in self.tables.values() if one.effect is TableEffect.COSMETIC]

    @property
    def rebuild(self) -> list[TableDiff]:
        """The tables that must be built again, each after those that it reads."""
        return [one for one in self.tables.values() if one.rebuild is not None]

    def risk_of(self, table: TableDiff, column: ColumnDiff) -> Risk:
        """Return what a column's change means for its readers."""
        if column.effect is ColumnEffect.ADDED:
            return Risk.ADDS
        if any(one.table == table.name for one in self.missing):
            return Risk.BREAKING
        if column.effect not in (ColumnEffect.REMOVED, ColumnEffect.RENAMED, ColumnEffect.TYPE):
            return Risk.CHANGES
        name = column.earlier or column.name
        reach = self.reach.get(table.key) if self.reach is not None else None
        known = reach is not None and name in reach.read_columns
        inside = any(one.name.lower().rpartition(".")[2].strip('"') == name.lower() for one in self.missing)
        return Risk.BREAKING if known or inside else Risk.POSSIBLY_BREAKING

    def risk_of_table(self, table: TableDiff) -> Risk:
        """Return what it means for its readers that a table is added, removed or renamed."""
        if table.effect is TableEffect.ADDED:
            return Risk.ADDS
        reach = self.reach.get(table.key) if self.reach is not None else None
        before = table.name_before or table.name
        inside = any(one.name == before or one.name.startswith(f"{before}.") for one in self.missing)
        return Risk.BREAKING if inside or (reach is not None and reach.read_columns) else Risk.POSSIBLY_BREAKING

    @property
    def is_empty(self) -> bool:
        """Whether neither side has a table, so that nothing was compared."""
        return not self.tables

    @property
    def has_errors(self) -> bool:
        """Whether some of the input could not be read."""
        return bool(self.errors)

    def failures(self, wanted: Sequence[FailCondition]) -> list[tuple[FailCondition, str]]:
        """Return what is found of the conditions in `wanted`, each with a description."""
        return [(condition, text) for condition in dict.fromkeys(wanted) for text in self._found(condition)]

    def _found(self, condition: FailCondition) -> Iterator[str]:
        if condition is FailCondition.EXPOSURE:
            yield from (f"{one.kind} {one.name} {one.effect}" for one in self.consumers)
            for key, reach in (self.reach or {}).items():
                yield from (f"{one.name} is downstream of {self.tables[key].title}" for one in reach.exposures)
            return
        if condition is FailCondition.PII:
            yield from map(str, self.carriers)
            return
        effects = {
            FailCondition.REMOVED: (ColumnEffect.REMOVED, ColumnEffect.RENAMED),
            FailCondition.TYPE: (ColumnEffect.TYPE,),
            FailCondition.VALUE: (ColumnEffect.VALUE, ColumnEffect.ROWS),
            FailCondition.UNMASKED: (ColumnEffect.UNMASKED,),
        }[condition]
        for table in self.tables.values():
            if condition is FailCondition.REMOVED and table.build is not Build.CONSUMER:
                yield from _gone(table)
            for column in table.columns:
                column_effects = [one for one in column.effects if one in effects]
                if column_effects:
                    name = shown_column(column.earlier or column.name)
                    clauses = table.clauses if ColumnEffect.ROWS in column_effects else ()
                    by = f" ({', '.join(clauses)})" if clauses else ""
                    yield f"{table.title}.{name}: {', '.join(column_effects)}{by}"
        if condition is FailCondition.REMOVED:
            yield from (f"{one.table} reads {one.name}, which does not exist" for one in self.missing)

    def counts(self) -> dict[str, int]:
        """Return the number of columns by their most severe effect."""
        found = Counter(str(column.effect) for table in self.tables.values() for column in table.columns)
        return {str(effect): found[str(effect)] for effect in ColumnEffect if found[str(effect)]}


def _gone(table: TableDiff) -> Iterator[str]:
    """Yield that a table is renamed, or removed with columns that are not known: no column says so."""
    if table.effect is TableEffect.RENAMED:
        name = table.title if table.earlier != table.name_before else table.name
        yield f"{table.earlier}: renamed to {name}"
    elif table.effect is TableEffect.REMOVED and not table.columns:
        yield f"{table.title}: removed"
    is_unknown = any(one.name == "*" and one.effect is ColumnEffect.ADDED for one in table.columns)
    if is_unknown and any(ColumnEffect.VALUE in one.effects for one in table.columns):
        yield f"{table.title}: which columns it has now is not known"


def shown_column(name: str) -> str:
    """Return a column's name for people: one without a name is called by its position."""
    if not name.startswith("\x00"):
        return "(further columns)" if name == "*" else without_marks(name)
    return f"(column {int(name[1:].partition(':')[0]) + 1})"


def diff_projects(
    base: Revision,
    head: Revision,
    store: GraphStore | None = None,
    *,
    pii_tag: str = "pii",
    progress: Progress | None = None,
) -> ProjectDiff:
    """Return what a change of a project does; `store` has the graph before the change, with the readers.

    Raises:
        StoreError: the store could not be read.
    """
    notify = progress or (lambda _stage, _done, _total: None)
    compared = compare_projects(base.project, head.project, notify)
    after, tables = compared.after, compared.tables
    named = {**compared.inlined, **tables}  # what tests and consumers may name
    notify("tracing", 0, None)
    edges = project_edges(base, head, _tables_to_trace((base, head), compared, store, pii_tag))
    missing = sorted(
        {
            *_new_missing(edges[0].missing(), edges[1].missing(), tables),
            *_reads_of_removed(base, head, after),
            *_reads_of_dropped_columns(edges[1], tables),
        }
    )
    tables = with_unmasked_columns(tables, edges)
    carriers = new_carriers((base, head), edges, tables, pii_tag, store)
    extras: dict[str, Any] = {}
    if head.manifest is not None and base.manifest is not None:
        extras = {
            "owners": {key: owner for key in tables
                       if (owner := owner_of(head.manifest, key) or owner_of(base.manifest, key))},
            "consumers": affected_consumers(base.manifest, head.manifest, named, _consumer_columns(head)),
            "tests": tests_to_run(base.manifest, head.manifest, named),
            "modified": state_modified_plus(base.manifest, head.manifest),
        }  # fmt: skip
    if store is not None:
        notify("finding readers", 0, None)
        known = [one for one in tables.values() if one.effect in _READ and one.build is not Build.CONSUMER]
        extras["reach"] = find_reach(store, base, known)
    errors = tuple(f"{side.label}: {problem}" for side in (base, head) for problem in side.project.problems)
    notices = (
        *errors, *_empty(base, head), *_unparsed(after, named), *_unparsed_statements(base, head),
        *_reordered(tables), *_not_compared(base, head, tables),
        *_compiled_otherwise(base, head, tables),
        *_kept_tables(head, tables), *_unordered(head, tables), *_written_by_hooks(base, head, tables),
        *_notices(base, head),
    )  # fmt: skip
    return ProjectDiff(
        base.label, head.label, tables, missing=missing, carriers=carriers, notices=notices, errors=errors, **extras
    )


def _tables_to_trace(
    sides: tuple[Revision, Revision], compared: ProjectComparison, store: GraphStore | None, pii_tag: str
) -> set[str] | None:
    """Return the names of the tables of which edges are needed; None for all.

    Where personal data flows, and what masks a value, depends on all that is above and below an edit, which is what was
    compared; and on the whole project, if tags are edited.
    """
    values = any(ColumnEffect.VALUE in column.effects for one in compared.tables.values() for column in one.columns)
    if store is None and not is_any_tagged(sides, pii_tag) and not values:
        return {one.name for one in compared.tables.values() if one.effect is not TableEffect.UNCHANGED}
    if is_tagged_otherwise(sides, pii_tag):
        return None
    found = {form.definition.name for forms in (compared.before, compared.after) for form in forms.values()}
    return found if 2 * len(found) < len(compared.tables) else None


def _consumer_columns(side: Revision) -> ConsumerColumns:
    return ConsumerColumns(side.request.artifacts.manifest.consumers if side.request is not None else {})


_READ = frozenset((TableEffect.REMOVED, TableEffect.RENAMED, TableEffect.CHANGED))
"""Tables that somebody may have read before the change. What is downstream of them includes all that is affected."""


def _new_missing(
    before: set[MissingRead], after: set[MissingRead], tables: Mapping[str, TableDiff]
) -> Iterator[MissingRead]:
    """Yield the reads that were not missing before; tables may have other names in the other environment."""
    names = {table.name_before: table.name for table in tables.values() if table.name_before is not None}
    known = {(names.get(one.table, one.table), _moved(one.name, names)) for one in before}
    return (one for one in after if (one.table, one.name) not in known)


def _moved(name: str, names: Mapping[str, str]) -> str:
    """Return the name of a table or column with the name that the table has at head."""
    table = name
    while table not in names and "." in table:
        table = table.rpartition(".")[0]
    return names[table] + name.removeprefix(table) if table in names else name


def _reads_of_removed(base: Revision, head: Revision, after: Mapping[str, Form]) -> Iterator[MissingRead]:
    """Yield the reads of tables that the project no longer makes, and of which it knows nothing else."""
    made = {one.name for one in head.project.definitions.values()} | head.project.tables.keys()
    gone = base.project.definitions.keys() - head.project.definitions.keys()
    removed = {base.project.definitions[key].name for key in gone} - made
    for form in after.values():
        if form.definition.build is not Build.EPHEMERAL:
            for name in form.names:
                if name in removed:
                    yield MissingRead(form.definition.name, name, f"the project no longer makes {name}")


def _reads_of_dropped_columns(edges: ProjectEdges, tables: Mapping[str, TableDiff]) -> Iterator[MissingRead]:
    """Yield what views read of columns that a later statement of the folder drops or renames."""
    views = {one.name for one in tables.values() if one.build is Build.VIEW}
    dropped = {(one.name, column.earlier or column.name)
               for one in tables.values() if one.effect is TableEffect.CHANGED
               for column in one.columns
               if column.effect is ColumnEffect.REMOVED or column.effect is ColumnEffect.RENAMED}  # fmt: skip
    for view, statement in edges.statements if dropped else ():
        read = {(one.source.table, str(one.source.column)) for one in statement.edges} if view in views else set()
        for table, column in sorted(read & dropped):
            yield MissingRead(view, f"{table}.{column}", f"a later statement drops {column}")


def _unparsed(after: Mapping[str, Form], tables: Mapping[str, TableDiff]) -> Iterator[str]:
    """Yield what could not be parsed of the tables that an edit touches."""
    for key, form in after.items():
        if form.problem is not None and tables[key].effect is not TableEffect.UNCHANGED:
            yield (
                f"{tables[key].title}: its SQL does not parse, so that it is compared by its text and its columns are "
                f"not known: {form.problem}"
            )


def _unparsed_statements(base: Revision, head: Revision) -> Iterator[str]:
    """Yield the statements of one side that do not parse and may do anything: what is read after them may differ."""
    for side, other in ((base, head), (head, base)):
        for key, text in side.project.unparsed.items():
            if key not in other.project.unparsed:
                yield f"{side.label}: {text}: it does not parse, and may change what any statement means"


def _empty(base: Revision, head: Revision) -> Iterator[str]:
    """Yield that a side has no tables: its path may be wrong."""
    sides = [side.label for side in (base, head) if not side.project.definitions]
    if sides:
        yield f"no statement in {' and in '.join(sides)} defines a table: is it the right folder?"


def _reordered(tables: Mapping[str, TableDiff]) -> Iterator[str]:
    """Yield the tables whose columns are in another order: who reads them by position outside cannot be known."""
    for one in tables.values():
        if ORDER_OF_COLUMNS in one.reasons and one.build is not Build.CONSUMER:
            yield f"{one.title}: its columns are in another order; what reads it by position outside is not known"


def _not_compared(base: Revision, head: Revision, tables: Mapping[str, TableDiff]) -> Iterator[str]:
    """Yield what is not compared of models that are not built again as a whole, and of seeds that differ."""
    by_text: dict[str, list[str]] = {}
    for key, table in tables.items():
        is_seed = table.build is Build.SEED
        if table.effect is TableEffect.UNCHANGED if is_seed else table.full_refresh:
            continue
        sides = (base, head) if is_seed else (head,)
        unread = (known.unread for side in sides if (known := side.project.definitions.get(key)) is not None)
        for text in dict.fromkeys(filter(None, unread)):
            by_text.setdefault(text, []).append(table.title)
    for text, titles in by_text.items():
        yield f"{name_list(sorted(titles), 5)}: {text}"


def _compiled_otherwise(base: Revision, head: Revision, tables: Mapping[str, TableDiff]) -> Iterator[str]:
    """Yield the incremental models whose templates are the same, and which dbt may have compiled for other builds."""
    titles = []
    for key, one in tables.items():
        before, after = base.project.definitions.get(key), head.project.definitions.get(key)
        if (
            before is None
            or after is None
            or not one.full_refresh
            or TEMPLATE_OF_LATER_BUILDS not in dict(after.content)
        ):
            continue
        if before.written == after.written and before.content == after.content and before.text != after.text:
            titles.append(one.title)
    if titles:
        yield (
            f"{name_list(sorted(titles), 5)}: the template is the same, the compiled SQL is not: variables differ, or "
            "one side was compiled where its table did not exist (is_incremental()); compile both where it does"
        )


def _kept_tables(head: Revision, tables: Mapping[str, TableDiff]) -> Iterator[str]:
    """Yield the tables that need a full refresh, and do not get it: by their settings, or as snapshots."""
    if snapshots := sorted(one.title for one in tables.values() if one.full_refresh and one.build is Build.SNAPSHOT):
        yield f"{name_list(snapshots, 5)}: dbt does not build a snapshot again; its rows of the past stay as they are"
    config = head.manifest.config if head.manifest is not None else None
    kept = [
        one.title
        for key, one in tables.items()
        if one.full_refresh and one.build is not Build.SNAPSHOT and config and config(key).get("full_refresh") is False
    ]
    if kept:
        names = name_list(sorted(kept), 5)
        yield (
            f"{names}: the setting full_refresh: false keeps the table that is there; "
            "to build all of it again, drop it first"
        )


def _unordered(head: Revision, tables: Mapping[str, TableDiff]) -> Iterator[str]:
    """Yield the tables to rebuild that read another one without ref(): dbt does not know which one comes first."""
    for key, table in tables.items() if head.manifest is not None else ():
        read = [one for one in table.upstream if tables[one].rebuild] if table.rebuild else []
        before = _needed(head.manifest, key) if read and head.manifest is not None else set()
        if names := [tables[one].title for one in read if one not in before]:
            yield f"{table.title} reads {name_list(names, 5)} without ref(): build it after that, dbt knows no order"


def _written_by_hooks(base: Revision, head: Revision, tables: Mapping[str, TableDiff]) -> Iterator[str]:
    if base.hooks is not None and head.hooks is not None:
        edited = {key: one.name for key, one in tables.items() if one.effect is not TableEffect.UNCHANGED}
        # Several hooks of one model may write the same table.
        yield from dict.fromkeys(written_by_hooks(base.hooks, head.hooks, edited, set(edited.values())))


def _needed(manifest: ManifestJson, key: str) -> set[str]:
    """Return the unique ids of all nodes that dbt builds before a node."""
    unique_ids: set[str] = set()
    stack = [key]
    while stack:
        for unique_id in manifest.needs(stack.pop()):
            if unique_id not in unique_ids:
                unique_ids.add(unique_id)
                stack.append(unique_id)
    return unique_ids


def _notices(base: Revision, head: Revision) -> Iterator[str]:
    if base.manifest is None or head.manifest is None:
        if head.naming.dialect.name == "ansi":
            yield "no dialect given: ansi; give --dialect if the files are of a product"
        return
    versions = base.manifest.dbt_version, head.manifest.dbt_version
    if versions[0] != versions[1]:
        yield (
            f"dbt {versions[0]} wrote one manifest and dbt {versions[1]} the other: "
            "what they build otherwise is not compared"
        )
    before, after = (one.metadata.get("project_name") for one in (base.manifest, head.manifest))
    if before != after:
        yield (
            f"the project is {before} in one manifest and {after} in the other: models are compared by project and "
            "name, so that those of the two are removed and added; rename it apart from other edits"
        )
    if base.naming != head.naming and base.manifest.naming_macros() != head.manifest.naming_macros():
        yield (
            "the macros that decide schemas and names of tables differ, and so does dbt's target: whether a table "
            "moves is not compared; compile both sides for one target"
        )
    if seeds := sorted({*base.manifest.unread_seeds()} & {*head.manifest.unread_seeds()}):
        names = name_list(seeds, 5)
        yield f"{names}: dbt has no checksum of a seed of this size, so that whether its rows differ is not known"
    raw = [side.manifest.uncompiled() if side.manifest is not None else [] for side in (base, head)]
    sides = [("both sides", raw[0])] if raw[0] == raw[1] else [(base.label, raw[0]), (head.label, raw[1])]
    for label, names_of in sides:
        if names_of:
            yield (
                f"{label}: {counted(len(names_of), 'model')} not compiled ({name_list(names_of, 5)}): values of var() "
                "and env_var() are not compared; run `dbt compile`"
            )

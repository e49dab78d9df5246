"""Compare two revisions of a project: what happens to each column of each table, and which tables must be rebuilt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from lineage.frozen import frozen
from lineage.sql.canonical.forms.table_form import ValueForm
from lineage.sql.canonical.readers.value_forms import UNKNOWN_FUNCTION
from lineage_ingest.diff.definitions.changed_clauses import changed_clauses
from lineage_ingest.diff.definitions.forms import Form
from lineage_ingest.diff.definitions.table_definitions import NOT_KNOWN, Build
from lineage_ingest.diff.definitions.type_names import cuts_the_same, holds_every_value, is_same_type

__all__ = ["ORDER_OF_COLUMNS", "ColumnDiff", "ColumnEffect", "TableDiff", "TableEffect", "compare_forms"]


class ColumnEffect(StrEnum):
    """What happens to a column. A column may have several of these."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    TYPE = "type changed"
    UNMASKED = "no longer masked"
    """A source that was masked on each way to the column reaches it in clear."""
    VALUE = "value changed"
    ROWS = "row set changed"
    COSMETIC = "cosmetic"


class TableEffect(StrEnum):
    """What happens to a table: by an edit of its definition, or by one upstream (`affected`)."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"
    AFFECTED = "affected"
    COSMETIC = "cosmetic"
    UNCHANGED = "unchanged"


@frozen
class ColumnDiff:
    """What happens to a column, the most severe first. `is_own`: by an edit of the table's own definition.

    `earlier` is its name before, `types` its types before and after where they are known.
    """

    name: str
    effects: tuple[ColumnEffect, ...]
    is_own: bool
    earlier: str | None = None
    types: tuple[str | None, str | None] = (None, None)

    @property
    def effect(self) -> ColumnEffect:
        """The most severe effect."""
        return self.effects[0]

    @property
    def is_content(self) -> bool:
        """Whether what the column contains, its name or its type may differ."""
        return self.effect is not ColumnEffect.COSMETIC


@frozen
class TableDiff:
    """What happens to a table and its columns. `reasons` explain it, `rebuild` says why it must be built again."""

    key: str
    name: str
    title: str
    source: str
    build: Build
    effect: TableEffect
    columns: tuple[ColumnDiff, ...] = ()
    """Those to which something happens."""
    reasons: tuple[str, ...] = ()
    rebuild: str | None = None
    full_refresh: bool = False
    earlier: str | None = None
    clauses: tuple[str, ...] = ()
    """The clauses by which its own definition makes other rows: WHERE, JOIN, …, functions that are not known."""
    upstream: tuple[str, ...] = field(default=())
    """Keys of the tables that it reads and that are changed or affected."""
    same_columns: int = 0
    """Number of its columns to which nothing happens, beside those listed."""
    name_before: str | None = None
    """Its full name before the change; None if it is new. Another environment has other names."""

    @property
    def is_content(self) -> bool:
        """Whether its rows, columns or values may differ."""
        return self.effect in (TableEffect.ADDED, TableEffect.REMOVED) or any(one.is_content for one in self.columns)


ORDER_OF_COLUMNS = "the order of its columns"
"""The reason of a table whose columns are in another order."""
_DROPS_VIEWS = frozenset(("postgres", "redshift", "materialize"))
"""Dialects in which dbt drops the views over a table that it replaces (DROP … CASCADE)."""


def compare_forms(
    base: Mapping[str, Form], head: Mapping[str, Form], dialect: str, *, is_moved: bool = False
) -> dict[str, TableDiff]:
    """Return what happens to each table, by key: those of `head` in their order, then those that are removed.

    `is_moved`: a table of another name was moved, by whatever decides names; else the environment may be another one.
    """
    renamed = _renamed_tables(base, head)
    diffs: dict[str, TableDiff] = {}
    for key, form in head.items():
        earlier = base.get(renamed.get(key, key))
        diff = _added(form) if earlier is None else _compared(earlier, form)
        if earlier is not None and key in renamed:
            diff = replace(diff, effect=TableEffect.RENAMED, earlier=earlier.definition.title,
                           rebuild=_rebuild(form, "it is renamed"))  # fmt: skip
        elif earlier is not None and _naming_settings(earlier) != _naming_settings(form):
            diff = replace(diff, effect=TableEffect.RENAMED, earlier=earlier.definition.name)
        elif earlier is not None and is_moved and earlier.definition.name != form.definition.name:
            diff = replace(diff, effect=TableEffect.RENAMED, earlier=earlier.definition.name,
                           rebuild=_rebuild(form, "it is renamed"))  # fmt: skip
        upstream = tuple(one for one in form.reads if one in diffs and diffs[one].is_content)
        if (
            earlier is not None
            and diff.effect is TableEffect.AFFECTED
            and not upstream
            and earlier.definition.text != form.definition.text
        ):  # by a macro: as it is written, it is the same
            own = tuple(replace(one, is_own=True) for one in diff.columns)
            why = diff.rebuild and "its definition is edited"
            diff = replace(diff, effect=TableEffect.CHANGED, columns=own, rebuild=why)
        before = earlier.definition.name if earlier is not None else None
        diffs[key] = replace(diff, upstream=upstream, name_before=before)
    _rebuild_for_positions(base, head, renamed, diffs)
    _rebuild_for_names(head, diffs)
    if dialect in _DROPS_VIEWS:
        _recreate_views(head, diffs)
    for key, form in base.items():
        if key not in head and key not in renamed.values():
            diffs[key] = _removed(form)
    return diffs


def _rebuild_for_positions(
    base: Mapping[str, Form], head: Mapping[str, Form], renamed: Mapping[str, str], diffs: dict[str, TableDiff]
) -> None:
    """Mark the tables whose columns are in another order, where one that reads them differs for it.

    What such a reader contains depends on the order in which the columns are stored.
    """
    positional: set[str] = set()
    for key, form in reversed(list(head.items())):  # readers first
        earlier = base.get(renamed.get(key, key))
        matters = earlier is not None and (diffs[key].is_content or key in positional)
        if earlier is None or not matters:
            continue
        # What is compared as a whole may read by position: what it is made of contains the order.
        if _own_in_order(earlier) != _own_in_order(form) or form.definition.relation is not None:
            positional.update(form.reads)
    for key, form in head.items():
        earlier = base.get(renamed.get(key, key))
        if earlier is None or not _is_reordered(earlier, form):
            continue
        diff = diffs[key]
        if key in positional:
            edited = {TableEffect.COSMETIC: TableEffect.CHANGED, TableEffect.UNCHANGED: TableEffect.AFFECTED}
            effect = edited.get(diff.effect, diff.effect)
            why = diff.rebuild or _rebuild(form, "its columns are in another order, and a reader depends on it")
            refresh = form.definition.build.is_kept
            diff = replace(diff, effect=effect, rebuild=why, full_refresh=diff.full_refresh or refresh)
        diffs[key] = replace(diff, reasons=(*diff.reasons, ORDER_OF_COLUMNS))


_NAMES_TABLE = frozenset(("alias", "schema", "database", "target_schema", "target_database"))
"""Settings that decide a table's name. That a project is built in another environment is no change of them."""


def _naming_settings(form: Form) -> list[tuple[str, str]]:
    every = (*form.definition.content, *form.definition.physical)
    return sorted(one for one in every if one[0] in _NAMES_TABLE)


def _rebuild_for_names(head: Mapping[str, Form], diffs: dict[str, TableDiff]) -> None:
    """Mark the views over what has another name: as they were created, they read the table of the old name."""
    for key, form in head.items():
        diff = diffs[key]
        is_moved = any(diffs[one].effect is TableEffect.RENAMED for one in form.reads if one in diffs)
        if diff.rebuild is None and diff.build is Build.VIEW and is_moved:
            diffs[key] = replace(diff, rebuild="what it reads has another name")


def _own_in_order(form: Form) -> tuple[object, ...]:
    return form.own.rows, form.own.columns


def _is_reordered(base: Form, head: Form) -> bool:
    """Return whether the columns that both have are in another order."""
    before, after = ([name for name, _ in form.full.columns] for form in (base, head))
    return [name for name in before if name in after] != [name for name in after if name in before]


def _renamed_tables(base: Mapping[str, Form], head: Mapping[str, Form]) -> dict[str, str]:
    """Return the earlier keys of new definitions that contain the same as ones that are gone."""
    gone: dict[tuple[object, ...], list[str]] = {}
    for key, form in base.items():
        if key not in head and form.full.columns:
            gone.setdefault(_content(form), []).append(key)
    found = {}
    for key, form in head.items():
        if key not in base and (candidates := gone.get(_content(form))):
            found[key] = candidates.pop(0)
    return found


def _content(form: Form) -> tuple[object, ...]:
    columns = sorted((name, value.digest) for name, value in form.full.columns)
    return form.full.rows, tuple(columns), form.full.rest, form.definition.build


def _rebuild(form: Form, why: str) -> str | None:
    return None if form.definition.build in (Build.CONSUMER, Build.EPHEMERAL) else why


def _diff(form: Form, effect: TableEffect, columns: tuple[ColumnDiff, ...], *reasons: str) -> TableDiff:
    one = form.definition
    return TableDiff(one.key, one.name, one.title, one.source, one.build, effect, columns, reasons)


def _added(form: Form) -> TableDiff:
    columns = tuple(ColumnDiff(name, (ColumnEffect.ADDED,), True) for name, _ in form.full.columns)
    diff = _diff(form, TableEffect.ADDED, columns, *form.definition.doubts)
    return replace(diff, rebuild=_rebuild(form, "it is new"))


def _removed(form: Form) -> TableDiff:
    columns = tuple(ColumnDiff(name, (ColumnEffect.REMOVED,), True) for name, _ in form.full.columns)
    return replace(_diff(form, TableEffect.REMOVED, columns), name_before=form.definition.name)


def _compared(base: Form, head: Form) -> TableDiff:
    rows = base.full.rows != head.full.rows
    own_rows = base.own.rows != head.own.rows
    order = base.own.order != head.own.order and base.full.order != head.full.order and not own_rows
    differing_text = base.text != head.text
    settings, applied = _settings(base, head), _settings(base, head, "applied")
    columns = tuple(_columns(base, head, rows, own_rows, differing_text))
    if head.definition.is_same(base.definition):  # what differs is the order or number of the columns that it reads
        own_rows = False
        columns = tuple(replace(one, is_own=False) for one in columns)
    reasons = [*_without_added_macros(settings, base, head), *applied]
    if order:
        reasons.append("the order of its rows")
    reasons += dict.fromkeys(head.definition.doubts or base.definition.doubts)
    if any(one.is_content for one in columns):
        reasons += dict.fromkeys(head.definition.guesses or base.definition.guesses)
    edited = own_rows or order or bool(settings or applied)
    effect = _effect_of(columns, is_edited=edited, differs=order or bool(settings or applied))
    if effect is TableEffect.UNCHANGED and differing_text:
        effect = TableEffect.COSMETIC
    there = sum(one.effect is not ColumnEffect.REMOVED for one in columns)
    same = len(_named(head)) - there if columns else 0
    clauses = _clauses(base, head, rows=rows, own_rows=own_rows, order=order)
    diff = replace(_diff(head, effect, columns, *reasons), same_columns=same, clauses=clauses)
    why = _why_rebuild(base, head, columns, rows or order, settings)
    if why is not None:
        history = any(side.definition.build.is_kept for side in (base, head))
        return replace(diff, rebuild=_rebuild(head, why), full_refresh=history)
    return replace(diff, rebuild=_rebuild(head, "its settings differ")) if applied else diff


def _effect_of(columns: Collection[ColumnDiff], *, is_edited: bool, differs: bool) -> TableEffect:
    """Return what happens to a table whose own definition is edited, or which differs in more than its columns."""
    content = [one for one in columns if one.is_content]
    if not (content or differs):
        return TableEffect.UNCHANGED
    return TableEffect.CHANGED if is_edited or any(one.is_own for one in content) else TableEffect.AFFECTED


def _clauses(base: Form, head: Form, *, rows: bool, own_rows: bool, order: bool) -> tuple[str, ...]:
    """Return the clauses that decide other rows, or the order of the rows."""
    if rows and own_rows:
        return changed_clauses(base.own, head.own)
    if rows:  # what a function that is not known makes of what it reads
        own_clauses = {clause.name for clause in head.own.clauses if clause.name.startswith(UNKNOWN_FUNCTION)}
        return tuple(one for one in changed_clauses(base.full, head.full) if one in own_clauses)
    return ("ORDER BY",) if order else ()


def _settings(base: Form, head: Form, *kinds: str) -> list[str]:
    """Return which settings differ: of these kinds, or those that decide what a table contains or how it is stored."""
    reasons = []
    for what in kinds or ("content", "physical"):
        before, after = dict(getattr(base.definition, what)), dict(getattr(head.definition, what))
        for name in sorted(before.keys() | after.keys()):
            values = before.get(name), after.get(name)
            if values[0] != values[1] and NOT_KNOWN not in values:
                reasons.append(_reason(name))
    return list(dict.fromkeys(reasons))


def _without_added_macros(reasons: Sequence[str], base: Form, head: Form) -> Sequence[str]:
    """Return reasons without the macros that only one side calls, if there are others: its template is edited."""
    both = dict(base.definition.content).keys() & dict(head.definition.content).keys()
    return [one for one in reasons if not one.startswith("macro ") or one in both] or reasons


def _reason(setting: str) -> str:
    """Return what differs, for people: most are settings, others are parts of a template.

    >>> _reason("unique_key"), _reason("macro shop.cents"), _reason("template")
    ('setting `unique_key`', 'macro shop.cents', 'its template')
    """
    if setting.startswith("macro "):
        return setting
    return f"its {setting}" if setting.startswith(("template", "SQL ")) else f"setting `{setting}`"


def _why_rebuild(
    base: Form, head: Form, columns: Collection[ColumnDiff], rows: bool, settings: Sequence[str]
) -> str | None:
    """Return why a table must be built again; None if what is stored of it is still right.

    `rows`: its row set, or their order, differs. A definition may be edited so that both are what they were: it reads
    a model of another name that contains the same, or a condition has moved here from upstream.
    """
    if settings:
        is_template = not any(one.startswith("setting ") for one in settings)  # or a macro
        return "its definition is edited" if is_template else "its settings differ"
    is_query = head.definition.build in (Build.VIEW, Build.CONSUMER, Build.EPHEMERAL)
    own_rows = base.own.rows != head.own.rows or base.own.order != head.own.order
    is_edited = not head.definition.is_same(base.definition)
    if own_rows and (rows or is_query):
        return "its row set is edited" if is_edited else "what it reads differs"
    content = [one for one in columns if one.is_content]
    values = [one for one in content if one.effects != (ColumnEffect.ROWS,)]
    if is_query:
        if base.own.rest != head.own.rest or _own_values(base) != _own_values(head):
            return "its definition is edited" if is_edited else "what it reads differs"
        return "the columns that it reads differ" if values else None  # its rows are read when it is
    if not content:
        return None
    return "its definition is edited" if any(one.is_own for one in content) else "what it reads differs"


def _own_values(form: Form) -> dict[str, str]:
    return {name: value.digest for name, value in form.own.columns}


def _columns(base: Form, head: Form, rows: bool, own_rows: bool, differing_text: bool) -> Iterator[ColumnDiff]:
    """Yield what happens to each column; those without any effect are left out."""
    before, after = _named(base), _named(head)
    own_before, own_after = dict(base.own.columns), dict(head.own.columns)
    # A renamed column has the expression of one that is gone, whatever has changed upstream; or at least its value.
    renamed = _renamed_columns(own_before, own_after, before.keys(), after.keys())
    renamed |= _renamed_columns(before, after, before.keys() - renamed.values(), after.keys() - renamed.keys())
    every: tuple[ColumnEffect, ...] = (ColumnEffect.ROWS,) if rows else ()
    for name, value in after.items():
        types = base.definition.types.get(renamed.get(name, name)), head.definition.types.get(name)
        if name in renamed:
            column_effects = [ColumnEffect.RENAMED, *_value_effects(before[renamed[name]], value, types), *every]
            yield ColumnDiff(name, tuple(column_effects), differing_text, renamed[name], types)
        elif name not in before:  # of an unedited definition: a column of its `SELECT *`
            was = base.full.find(name) if name != "*" else None  # it may have been one of the further columns
            if was is not None and was.digest == value.digest:
                if every:
                    yield ColumnDiff(name, every, differing_text)
                continue
            yield ColumnDiff(name, (ColumnEffect.ADDED, *every), differing_text)
        else:
            earlier = before[name]
            column_effects = [*_value_effects(earlier, value, types), *every]
            if not column_effects and differing_text:
                column_effects = [ColumnEffect.COSMETIC]
            if not column_effects:
                continue
            one, other = own_before.get(name), own_after.get(name)
            is_own = own_rows or one is None or other is None or one.digest != other.digest
            if value.type != earlier.type and types == (None, None):
                types = earlier.type, value.type
            yield ColumnDiff(name, tuple(dict.fromkeys(column_effects)), is_own, types=types)
    for name, value in before.items():
        if name in after or name in renamed.values():
            continue
        now = head.full.find(name) if name != "*" else None  # it may be one of the further columns
        if now is None:
            yield ColumnDiff(name, (ColumnEffect.REMOVED,), differing_text)
        elif effects := tuple(dict.fromkeys((*_value_effects(value, now, (None, None)), *every))):
            yield ColumnDiff(name, effects, differing_text)


def _named(form: Form) -> dict[str, ValueForm]:
    named: dict[str, ValueForm] = {}
    for number, (name, value) in enumerate(form.full.columns):
        named[name if name not in named else f"{name}#{number}"] = value
    if form.full.rest:
        named["*"] = ValueForm(form.full.rest)
    return named


def _value_effects(before: ValueForm, after: ValueForm, types: tuple[str | None, str | None]) -> Iterator[ColumnEffect]:
    if types[0] is not None and types[1] is not None and not is_same_type(types[0], types[1]):
        yield ColumnEffect.TYPE
    if before.digest == after.digest:
        return
    is_known = before.type is not None and after.type is not None
    is_same = is_known and is_same_type(before.type or "", after.type or "")
    if before.before_cast != after.before_cast:
        if is_known and not is_same:
            yield ColumnEffect.TYPE
        yield ColumnEffect.VALUE
        return
    if not is_same:
        yield ColumnEffect.TYPE
    was_cast = before.before_cast != before.digest  # what it was made of may have more digits than it had
    keeps = cuts_the_same if was_cast else holds_every_value
    if is_same or not keeps(before.type, after.type):  # CAST or TRY_CAST, or a cast that may cut something
        yield ColumnEffect.VALUE


def _renamed_columns(
    before: Mapping[str, ValueForm],
    after: Mapping[str, ValueForm],
    gone: Collection[str],
    new: Collection[str],
) -> dict[str, str]:
    """Return the earlier names of new columns that have the value of one that is gone."""
    candidates: dict[str, list[str]] = {}
    for name, value in before.items():
        if name in gone and name not in after:
            candidates.setdefault(value.digest, []).append(name)
    found = {}
    for name, value in after.items():
        if name in new and name not in before and (listed := candidates.get(value.digest)):
            found[name] = listed.pop(0)
    return found


def _recreate_views(head: Mapping[str, Form], diffs: dict[str, TableDiff]) -> None:
    """Mark the views over what is rebuilt: the database drops them with it."""
    for key, form in head.items():
        diff = diffs[key]
        if diff.rebuild is None and diff.build is Build.VIEW and any(diffs[one].rebuild for one in form.reads):
            diffs[key] = replace(diff, rebuild="the database drops it with what it reads")

"""The classes of columns: what people, rules, files and other sources say, and which of it counts.

A denial ("not PII") wins over everything else, whoever states it, and stays: a denied `pii` denies all classes. Of
several sources that state one class, people come first, then files, then what other products say, then rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime

from lineage.frozen import frozen
from lineage.governance.tags.rules import ClassRules
from lineage.governance.warehouse.warehouse_policies import WarehouseTag, class_of_tag, load_warehouse_policies
from lineage.model.names import column_key, is_column_key, split_column_key, split_dataset_key
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredColumn, StoredTag
from lineage.traversal import NameLookupError, UnknownNameError, resolve_column, resolve_table

__all__ = ["ANY_CLASS", "Classification", "classify", "column_to_tag", "columns_tagged", "named_column"]

ANY_CLASS = "pii"
"""The class of personal data of any kind; denied, it denies all classes."""
_SOURCES = ("manual", "csv")
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Classification:
    """The tags that count, by the key of their column; the denials; and tags whose columns are not known (pending)."""

    tags: Mapping[str, tuple[StoredTag, ...]]
    denials: Mapping[str, tuple[StoredTag, ...]]
    pending: tuple[StoredTag, ...]

    def columns_of(self, classes: Collection[str] = ()) -> list[str]:
        """Return the keys of the columns that have one of these classes, or any class, sorted."""
        return sorted(key for key, tags in self.tags.items() if not classes or any(one.name in classes for one in tags))

    def denies(self, column: str, classes: Collection[str]) -> bool:
        """Return whether someone says that a column holds none of these classes."""
        denied = {one.name for one in self.denials.get(column, ())}
        return ANY_CLASS in denied or (bool(classes) and set(classes) <= denied)


def classify(store: GraphStore, rules: ClassRules) -> Classification:
    """Return the classes of all columns.

    Besides tags, the names of classes among the tags of `describe`, and of sources such as dbt, count.

    Raises:
        StoreError: the store could not be read.
    """
    stated = store.tags()
    names = {ANY_CLASS, *rules.classes, *(one.name for one in stated)}
    described = {one.key: one for one in store.tagged_columns()}
    known = described | {one.key: one for one in store.columns_by_key({one.column for one in stated})}
    dropped = {one.key for one in store.datasets({one.dataset for one in known.values()}) if one.dropped_at is not None}
    known = {key: one for key, one in known.items() if one.dataset not in dropped}
    described = {key: one for key, one in described.items() if key in known}
    by_column: defaultdict[str, list[StoredTag]] = defaultdict(list)
    pending = []
    for tag in stated:
        key = _present(store, tag.column, known)
        if key is None:
            pending.append(tag)
        else:
            by_column[key].append(tag)
    for key, column in described.items():
        by_column[key] += _described(column, names)
    for key, tags in load_warehouse_policies(store).tagged.items():
        by_column[key] += _of_warehouse(key, tags, names)
    denials = {key: tuple(one for one in tags if one.denied) for key, tags in by_column.items()}
    denials = {key: tags for key, tags in denials.items() if tags}
    counting = {
        key: _resolved(_counting(tags, {one.name for one in denials.get(key, ())}), rules)
        for key, tags in by_column.items()
    }
    return Classification({key: tags for key, tags in counting.items() if tags}, denials, tuple(pending))


def columns_tagged(store: GraphStore, names: Collection[str], rules: ClassRules) -> set[str]:
    """Return the keys of the columns that have one of these tags, a class or any other, in whatever case.

    What is denied does not count, nor what only flows into a column: see `make_report` for that.

    Raises:
        StoreError: the store could not be read.
    """
    wanted = {name.casefold() for name in names}
    known = classify(store, rules)
    found = {key for key, tags in known.tags.items() if any(one.name.casefold() in wanted for one in tags)}
    for column in store.tagged_columns():
        tags = {*column.tags, *(tag for facts in column.stated_facts for tag in facts.tags)}
        matching = {tag for tag in tags if tag.casefold() in wanted}
        if matching and not known.denies(column.key, matching):
            found.add(column.key)
    return found


def named_column(store: GraphStore, text: str) -> str:
    """Return the key of the column that a text names.

    Raises:
        NameLookupError: no column has that name, or several have.
        StoreError: the store could not be read.
    """
    return resolve_column(store, text).key


def column_to_tag(store: GraphStore, text: str) -> tuple[str, UnknownNameError | None]:
    """Return the key of the column to tag, and why it is not known: its tag is pending until it is.

    Of a column that is not known, its table has to be, or the text has to be a key.

    Raises:
        NameLookupError: several columns have the name, or it names no column of a known table.
        StoreError: the store could not be read.
    """
    try:
        return named_column(store, text), None
    except UnknownNameError as unknown:
        if is_column_key(text) and "/" in text:
            return text, unknown
        table, dot, path = text.rpartition(".")
        if not dot:
            raise
        try:
            return column_key(resolve_table(store, table).key, path), unknown
        except NameLookupError:
            raise unknown from None


def _present(store: GraphStore, key: str, known: Mapping[str, StoredColumn]) -> str | None:
    """Return the key of a tagged column that is there, under its present name; None if it is not there."""
    if key in known and known[key].dropped_at is None:
        return key
    dataset, path = split_column_key(key)
    namespace, name = split_dataset_key(dataset)
    for one in store.find_datasets(name):
        if one.namespace == namespace and one.dropped_at is None:
            for column in store.columns([one.key]):
                if column.path == path or path in column.aliases:
                    return column.key
    return None


def _described(column: StoredColumn, names: Collection[str]) -> Iterable[StoredTag]:
    """Yield the classes among the tags of `describe` and of sources."""
    for name in column.tags:
        if name in names:
            yield StoredTag(column.key, name, "description", _UNKNOWN_TIME, "", "described by a steward")
    for facts in column.stated_facts:
        for name in facts.tags:
            if name in names:
                yield StoredTag(column.key, name, facts.source.partition("/")[0], facts.at, facts.source, "its tag")


def _counting(tags: Iterable[StoredTag], denied: Collection[str]) -> tuple[StoredTag, ...]:
    """Return one tag of each class that is not denied, of the source that comes first."""
    if ANY_CLASS in denied:
        return ()
    best: dict[str, StoredTag] = {}
    for tag in sorted(tags, key=_precedence):
        if not tag.denied and tag.name not in denied:
            best.setdefault(tag.name, tag)
    return tuple(best[name] for name in sorted(best))


def _of_warehouse(column: str, tags: Iterable[WarehouseTag], names: Collection[str]) -> Iterable[StoredTag]:
    """Yield the classes that tags of the warehouse name, by their value or their own name."""
    for tag in tags:
        if (name := class_of_tag(tag)) in names:
            why = f"tag {tag.name}" + (f" = {tag.value}" if tag.value else "")
            yield StoredTag(column, name, "warehouse", tag.at, tag.source, why)


def _resolved(tags: tuple[StoredTag, ...], rules: ClassRules) -> tuple[StoredTag, ...]:
    """Return the tags of a column without the classes that give way to another one there (`on_conflict`)."""
    kept = []
    for tag in tags:
        rule = rules.classes.get(tag.name)
        how = rule.on_conflict if rule is not None else "both"
        others = [one for one in tags if one.name != tag.name]
        gives_way = (how == "strongest" and any(one.confidence > tag.confidence for one in others)) or (
            how == "keep" and any(_place(one) < _place(tag) for one in others)
        )
        if not gives_way:
            kept.append(tag)
    return tuple(kept)


def _precedence(tag: StoredTag) -> tuple[object, ...]:
    return _place(tag), -tag.confidence, tag


def _place(tag: StoredTag) -> int:
    return _SOURCES.index(tag.source) if tag.source in _SOURCES else len(_SOURCES) + (tag.source == "rules")

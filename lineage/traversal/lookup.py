"""Resolve a name typed by a user to a dataset or a column of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from lineage.model.names import (
    ColumnPath,
    column_key,
    dataset_of,
    format_name,
    is_column_key,
    split_column_key,
    split_name,
)
from lineage.model.statement import DatasetKind
from lineage.model.text.name_lists import name_list
from lineage.store.values import StoredColumn, StoredDataset
from lineage.traversal.cautions.former_holders import former_holders
from lineage.traversal.lineage_reader import LineageReader
from lineage.traversal.suggest import nearest_columns, nearest_tables
from lineage.traversal.target import Target

__all__ = [
    "AmbiguousNameError",
    "NameLookupError",
    "UnknownNameError",
    "names_of",
    "resolve",
    "resolve_column",
    "resolve_table",
]

_SHOWN = 10
_SHOWN_HOLDERS = 3

Stored = TypeVar("Stored", StoredDataset, StoredColumn)


class NameLookupError(LookupError):
    """A name that does not match exactly one dataset or column; `hint` suggests what to type instead.

    NameLookupError
    ├── UnknownNameError      nothing has that name; `suggestions` are the nearest known names
    └── AmbiguousNameError    several have it; `candidates` are their keys, which can be typed instead
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UnknownNameError(NameLookupError):
    """Nothing in the graph has the name."""

    def __init__(self, message: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message, f"did you mean {_either(suggestions)}?" if suggestions else None)
        self.suggestions = suggestions


class AmbiguousNameError(NameLookupError):
    """Several datasets or columns have the name."""

    def __init__(self, name: str, candidates: tuple[str, ...]) -> None:
        super().__init__(
            f"{name!r} means {len(candidates)} things: {name_list(candidates, _SHOWN)}",
            "type more of the name, or one of these keys",
        )
        self.candidates = candidates


def resolve(store: LineageReader, text: str) -> Target:
    """Return the dataset or the column that `text` names: by a dotted name, in part or in full, or by its key.

    Raises:
        UnknownNameError: nothing has that name; the nearest known names are offered.
        AmbiguousNameError: several things have it; they are listed.
        StoreError: the store could not be read.
    """
    if is_column_key(text) and (found := _column_by_key(store, text)):
        return _the_one(store, found, text)
    tables = _tables(store, text)
    if any(table.key == text.strip() for table in tables):  # a key means one thing
        return _the_one(store, tables, text)
    found = tables + _columns(store, text)
    return _the_one(store, found, text) if found else _unknown(store, text)


def resolve_column(store: LineageReader, text: str) -> Target:
    """Return the column that `text` names; a nested field is written with dots.

    Raises:
        UnknownNameError: no column has that name; the nearest known names are offered.
        AmbiguousNameError: several columns have it; they are listed.
        StoreError: the store could not be read.
    """
    found = _columns(store, text)
    return _the_one(store, found, text) if found else _unknown(store, text, "column")


def resolve_table(store: LineageReader, text: str) -> Target:
    """Return the dataset that `text` names.

    Raises:
        UnknownNameError: no dataset has that name; the nearest known names are offered.
        AmbiguousNameError: several datasets have it; they are listed.
        StoreError: the store could not be read.
    """
    found = _tables(store, text)
    return _the_one(store, found, text) if found else _unknown(store, text, "table")


def names_of(store: LineageReader, keys: Iterable[str]) -> dict[str, str]:
    """Return the full display names of datasets and columns by key; `resolve` accepts them.

    Raises:
        StoreError: the store could not be read.
    """
    wanted = list(keys)
    tables = store.dataset_names({dataset_of(key) for key in wanted})
    spellings = store.column_spellings([key for key in wanted if is_column_key(key)])
    return {key: _full_name(tables, spellings, key) for key in wanted}


def _full_name(tables: Mapping[str, str], spellings: Mapping[str, str], key: str) -> str:
    dataset, path = split_column_key(key)
    name = tables.get(dataset, dataset)
    return f"{name}.{spellings.get(key, path)}" if is_column_key(key) else name


def _tables(store: LineageReader, text: str) -> list[Target]:
    datasets = store.find_datasets(text)
    written = format_name([part for part, _ in split_name(text)])
    if not datasets and written not in ("", text):  # quoted differently from the display name
        datasets = store.find_datasets(written)
    return [Target(dataset.key, dataset.display_name, dataset.key) for dataset in _present(datasets)]


def _columns(store: LineageReader, text: str) -> list[Target]:
    if is_column_key(text) and (found := _column_by_key(store, text)):
        return found
    tables: dict[str, StoredDataset] = {}
    wanted: dict[str, set[str]] = {}
    for name, path in _splits(text):
        for table in _present(store.find_datasets(name)):
            tables[table.key] = table
            wanted.setdefault(table.key, set()).add(path)
    return _columns_of(store, list(tables.values()), wanted)


def _column_by_key(store: LineageReader, text: str) -> list[Target]:
    dataset, path = split_column_key(text.strip())
    by_key = [one for one in store.find_datasets(dataset) if one.key == dataset]
    return _columns_of(store, by_key, {dataset: {path}})


def _columns_of(store: LineageReader, tables: list[StoredDataset], wanted: dict[str, set[str]]) -> list[Target]:
    """Return the columns with the wanted paths, ignoring case; `wanted` is by dataset key."""
    if not tables:
        return []
    names = {dataset.key: dataset.display_name for dataset in tables}
    folded = {key: {path.casefold() for path in paths} for key, paths in wanted.items()}
    columns = store.columns(sorted(names), dropped=True)
    alike = [column for column in columns if column.path.casefold() in folded[column.dataset]]
    if all(column.dropped_at is not None for column in alike):  # the name of a column before a rename
        earlier = [
            column for column in columns if any(path.casefold() in folded[column.dataset] for path in column.aliases)
        ]
        alike = earlier or alike
    by_dataset: dict[str, list[StoredColumn]] = {}
    for column in _present(alike):
        by_dataset.setdefault(column.dataset, []).append(column)
    return [
        Target(column.key, f"{names[key]}.{column.display_path}", key, column.path)
        for key, columns in by_dataset.items()
        for column in _by_case(columns, wanted[key])
    ]


def _by_case(columns: list[StoredColumn], paths: set[str]) -> list[StoredColumn]:
    return [column for column in columns if column.path in paths] or columns


def _splits(text: str) -> list[tuple[str, str]]:
    """Return every split of the text into a table and the path of a column.

    `a.b.c` is `c` of `a.b`, or `b.c` of `a`; `a.b#c` is `c` of `a.b` as well.
    """
    text = text.strip()
    found: dict[tuple[str, str], None] = {}
    for index, character in enumerate(text):
        path = ColumnPath.read(text[index + 1 :]) if character in ".#" else None
        if path is not None and index:
            table = text[:index]
            # A table is found by its display name, or by the same name in other quotes.
            names = (table, format_name([part for part, _ in split_name(table)]))
            found.update(dict.fromkeys((name, str(path)) for name in names if name))
    return list(found)


def _present(found: list[Stored]) -> list[Stored]:
    """Return those that are not dropped; if all are dropped, return all, so that they can still be queried."""
    return [each for each in found if each.dropped_at is None] or found


def _the_one(store: LineageReader, targets: list[Target], text: str) -> Target:
    if len(targets) > 1:  # a table is meant, rather than a dashboard or semantic model of its name
        stored = store.datasets({one.dataset for one in targets})
        consumers = {one.key for one in stored if one.kind is DatasetKind.EXPOSURE}
        targets = [one for one in targets if one.dataset not in consumers] or targets
    if len(targets) > 1:
        raise AmbiguousNameError(text, tuple(sorted(target.key for target in targets)))
    return targets[0]


def _unknown(store: LineageReader, text: str, what: str = "table or column") -> Target:
    if what != "table":
        for table, path in reversed(_splits(text)):
            tables = _present(store.find_datasets(table))
            if tables:
                near = nearest_columns(store, tables, path)
                said = f"{tables[0].display_name} has no column {path!r}"
                asked = [Target(column_key(one.key, path), "", one.key, path) for one in tables]
                held = [one for one in reversed(former_holders(store, asked)) if is_column_key(one.key)][
                    :_SHOWN_HOLDERS
                ]
                if held:
                    holder = dataset_of(held[0].key)
                    name = store.dataset_names([holder])[holder]
                    said += f"; {name}, which had this name until {held[0].until_text}, has one"
                raise UnknownNameError(said, tuple(dict.fromkeys((*(one.name for one in held), *near))))
    raise UnknownNameError(f"no {what} {text!r} in the graph", nearest_tables(store, text, columns=what != "table"))


def _either(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"

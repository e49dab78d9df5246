"""What a person typed, as a dataset or a column of the graph."""

from __future__ import annotations

from typing import TypeVar

from lineage.model.names import format_name, split_name
from lineage.store.protocol import StoredColumn, StoredDataset
from lineage.traversal.reader import LineageReader
from lineage.traversal.suggest import nearest_columns, nearest_tables
from lineage.traversal.target import Target

__all__ = [
    "AmbiguousNameError",
    "NameLookupError",
    "UnknownNameError",
    "resolve",
    "resolve_column",
    "resolve_table",
]

_SHOWN = 10

Stored = TypeVar("Stored", StoredDataset, StoredColumn)


class NameLookupError(LookupError):
    """A name that does not mean one dataset or column; `hint` says what to type instead.

    NameLookupError
    ├── UnknownNameError      nothing has that name; `suggestions` are the nearest known ones
    └── AmbiguousNameError    several have it; `candidates` are their keys, which can be typed
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
        more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
        super().__init__(
            f"{name!r} means {len(candidates)} things: {', '.join(candidates[:_SHOWN])}{more}",
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
    found = _tables(store, text) + _columns(store, text)
    return _the_one(found, text) if found else _unknown(store, text)


def resolve_column(store: LineageReader, text: str) -> Target:
    """Return the column that `text` names; a nested field's name goes on with dots.

    Raises:
        UnknownNameError: no column has that name; the nearest known names are offered.
        AmbiguousNameError: several columns have it; they are listed.
        StoreError: the store could not be read.
    """
    found = _columns(store, text)
    return _the_one(found, text) if found else _unknown(store, text, "column")


def resolve_table(store: LineageReader, text: str) -> Target:
    """Return the dataset that `text` names.

    Raises:
        UnknownNameError: no dataset has that name; the nearest known names are offered.
        AmbiguousNameError: several datasets have it; they are listed.
        StoreError: the store could not be read.
    """
    found = _tables(store, text)
    return _the_one(found, text) if found else _unknown(store, text, "table")


def _tables(store: LineageReader, text: str) -> list[Target]:
    return [Target(dataset.key, dataset.name, dataset.key) for dataset in _present(store.find_datasets(text))]


def _columns(store: LineageReader, text: str) -> list[Target]:
    datasets: dict[str, StoredDataset] = {}
    wanted: dict[str, str] = {}
    for table, path in _splits(text):
        for dataset in _present(store.find_datasets(table)):
            datasets[dataset.key] = dataset
            wanted[dataset.key] = path
    if not datasets:
        return []
    columns = [
        column
        for column in store.columns(sorted(datasets), dropped=True)
        if column.path.casefold() == wanted[column.dataset].casefold()
    ]
    by_dataset: dict[str, list[StoredColumn]] = {}
    for column in _present(columns):
        by_dataset.setdefault(column.dataset, []).append(column)
    return [
        Target(column.key, f"{datasets[key].name}.{column.path}", key, column.path)
        for key, alike in by_dataset.items()
        for column in _by_case(alike, wanted[key])
    ]


def _by_case(columns: list[StoredColumn], path: str) -> list[StoredColumn]:
    return [column for column in columns if column.path == path] or columns


def _splits(text: str) -> list[tuple[str, str]]:
    """Return every way to read the text as a table and a column: `a.b.c` is `c` of `a.b`, or `b.c` of `a`."""
    table, mark, path = text.rpartition("#")
    if mark:
        return [(table, path)]
    parts = [part for part, _ in split_name(text)]
    return [(format_name(parts[:place]), format_name(parts[place:])) for place in range(1, len(parts))]


def _present(found: list[Stored]) -> list[Stored]:
    """Return those that were not dropped; all, if all were: what was dropped can still be asked about."""
    return [each for each in found if each.dropped_at is None] or found


def _the_one(found: list[Target], text: str) -> Target:
    if len(found) > 1:
        raise AmbiguousNameError(text, tuple(sorted(target.key for target in found)))
    return found[0]


def _unknown(store: LineageReader, text: str, what: str = "table or column") -> Target:
    if what != "table":
        for table, path in reversed(_splits(text)):
            tables = _present(store.find_datasets(table))
            if tables:
                near = nearest_columns(store, tables, path)
                raise UnknownNameError(f"{tables[0].name} has no column {path!r}", near)
    raise UnknownNameError(f"no {what} {text!r} in the graph", nearest_tables(store, text, columns=what != "table"))


def _either(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"

"""Suggest the known names nearest to an unknown one."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable

from lineage.model.names import is_column_key, split_column_key, split_name
from lineage.store.values import StoredDataset
from lineage.traversal.lineage_reader import LineageReader

__all__ = ["nearest_columns", "nearest_tables"]

_OFFERED = 3
_LIKENESS = 0.6
_HITS = 200
_MIN_PIECE = 2


def nearest_columns(store: LineageReader, tables: list[StoredDataset], path: str) -> tuple[str, ...]:
    """Return the full names of the columns of these tables that are most similar to `path`."""
    names = {table.key: table.display_name for table in tables}
    columns = store.columns(sorted(names))
    return tuple(
        f"{names[column.dataset]}.{column.display_path}"
        for like in _nearest(path, (column.path for column in columns))
        for column in columns
        if column.path == like
    )[:_OFFERED]


def nearest_tables(store: LineageReader, text: str, *, columns: bool) -> tuple[str, ...]:
    """Return the names of datasets (with `columns`, of columns too) that are most similar to `text`.

    The store searches by substring, not by similarity. A typo leaves at least one third of a word intact, so the
    thirds of each word are searched, and the hits are ranked by similarity.
    """
    types = ("Table", "Column") if columns else ("Table",)
    keys = {hit.key for piece in _pieces(text) for hit in store.search(piece, types=types, limit=_HITS)}
    names = _full_names(store, keys)
    parts = len(split_name(text))
    by_end: dict[str, list[str]] = {}
    for name in sorted(names):
        end = ".".join(part for part, _ in split_name(name)[-parts:])
        by_end.setdefault(end, []).append(name)
    return tuple(name for like in _nearest(text, by_end) for name in by_end[like])[:_OFFERED]


def _full_names(store: LineageReader, keys: set[str]) -> set[str]:
    columns = {key: split_column_key(key) for key in keys if is_column_key(key)}
    tables = {*(key for key in keys if not is_column_key(key)), *(dataset for dataset, _ in columns.values())}
    name = {dataset.key: dataset.display_name for dataset in store.datasets(sorted(tables))}
    spellings = store.column_spellings(sorted(columns))
    of_columns = {
        f"{name[dataset]}.{spellings.get(key, path)}" for key, (dataset, path) in columns.items() if dataset in name
    }
    return of_columns | {name[key] for key in keys if key in name}


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for word in [part for part, _ in split_name(text) if part]:
        third = math.ceil(len(word) / 3)
        pieces += [word, *(word[start : start + third] for start in range(0, len(word), third))]
    return [piece for piece in dict.fromkeys(pieces) if len(piece) >= _MIN_PIECE]


def _nearest(text: str, names: Iterable[str]) -> list[str]:
    by_fold: dict[str, str] = {}
    for name in names:
        by_fold.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(text.casefold(), by_fold, n=_OFFERED, cutoff=_LIKENESS)
    return [by_fold[fold] for fold in near]

"""Classes by sample values of columns: a CSV file for each table, whose name is the table's.

Values are checked and forgotten: a tag says how many of how many passed, and never which.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from lineage.frozen import frozen
from lineage.governance.tags.rules import ClassRules
from lineage.governance.tags.value_checks import value_check
from lineage.governance.yaml_files import GovernanceFileError
from lineage.model.text.name_lists import name_list
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredTag
from lineage.traversal import NameLookupError, resolve_table

__all__ = ["LEAST_VALUES", "Samples", "Verdicts", "judge_samples", "read_samples"]

LEAST_VALUES = 10
"""Fewer different values than this say nothing of a column."""
_MOST_ROWS, _MOST_VALUES = 20_000, 1_000
_SHARE = 0.8
"""The share of values that have to pass: some columns have a few placeholders."""


@frozen
class Samples:
    """Different values by the key of their column, and what could not be used of the files, as sentences."""

    values: Mapping[str, frozenset[str]]
    problems: tuple[str, ...]


@frozen
class Verdicts:
    """What sample values say: the tags of columns that hold a class, and how many values passed its checks.

    `judged` are the keys of the columns with enough values. `shares` are sentences, by column and class.
    """

    judged: frozenset[str]
    tags: tuple[StoredTag, ...]
    shares: Mapping[tuple[str, str], str]

    def with_share(self, tag: StoredTag) -> StoredTag:
        """Return a tag whose reason also says how many values passed.

        Values that do not pass take nothing from it: no check knows all numbers of the world.
        """
        share = self.shares.get((tag.column, tag.name))
        return tag if share is None else replace(tag, why=f"{tag.why}; {share}")


def read_samples(store: GraphStore, paths: Iterable[Path]) -> Samples:
    """Return the values of CSV files, or of all in a folder; the first line names the columns.

    Raises:
        GovernanceFileError: a file cannot be read, or has no line.
        StoreError: the store could not be read.
    """
    values: dict[str, set[str]] = {}
    problems: list[str] = []
    for path in paths:
        files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
        if not files:
            problems.append(f"{path}: no CSV file in it")
        for file in files:
            _read_file(store, file, values, problems)
    return Samples({key: frozenset(found) for key, found in values.items()}, tuple(problems))


def judge_samples(samples: Samples, rules: ClassRules, at: datetime, by: str) -> Verdicts:
    """Return what the values say of the classes whose rules have checks (`values`).

    Raises:
        ChecksUnavailableError: a library of checks is not installed.
        UnknownCheckError: a check of a rule does not exist.
    """
    judged = {key: values for key, values in samples.values.items() if len(values) >= LEAST_VALUES}
    tags: list[StoredTag] = []
    shares: dict[tuple[str, str], str] = {}
    for name, rule in rules.classes.items():
        for key, values in judged.items() if rule.values else ():
            passed, check = max((sum(map(value_check(one), values)), one) for one in rule.values)
            shares[key, name] = f"{passed:,} of {len(values):,} sample values pass {check}"
            if passed >= _SHARE * len(values):
                tags.append(StoredTag(key, name, "samples", at, by, shares[key, name], round(passed / len(values), 2)))
    return Verdicts(frozenset(judged), tuple(tags), shares)


def _read_file(store: GraphStore, file: Path, values: dict[str, set[str]], problems: list[str]) -> None:
    try:
        table = resolve_table(store, file.stem)
    except NameLookupError as error:
        problems.append(f"{file.name}: {error}")
        return
    columns = store.columns([table.key])
    known = {one.display_path.lower(): one.key for one in columns}
    exactly = {one.display_path: one.key for one in columns}  # "Mail" and mail are two columns
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = csv.reader(text)
            head = next(rows, None)
            if head is None:
                raise GovernanceFileError(str(file), 1, 1, "it is empty: the first line names the columns")
            names = [name.strip() for name in head]
            keys = [exactly.get(name) or known.get(name.lower()) for name in names]
            if unknown := [str(place) for place, key in enumerate(keys, start=1) if key is None]:
                # By place: without a header, the first line has values.
                which = f"field{'s' if len(unknown) > 1 else ''} {name_list(unknown, 5)} of its first line"
                problems.append(f"{file.name}: no column of {table.name} has the name in {which}")
            for key, value in _cells(keys, islice(rows, _MOST_ROWS)):
                found = values.setdefault(key, set())
                if len(found) < _MOST_VALUES:
                    found.add(value)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GovernanceFileError(str(file), 1, 1, f"cannot be read: {type(error).__name__}") from error


def _cells(keys: list[str | None], rows: Iterable[list[str]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        for key, value in zip(keys, row, strict=False):
            if key is not None and value.strip():
                yield key, value.strip()

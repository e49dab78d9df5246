"""Find datasets and columns by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from lineage.model.names import bigquery_table, format_name, split_dataset_key, split_name
from lineage.model.namespaces import normal_place
from lineage.model.text.json_values import find_unstorable
from lineage.store.graph.backend import Transaction
from lineage.store.graph.records import dataset_from
from lineage.store.graph.statements import query
from lineage.store.values import SearchHit, StoredDataset

__all__ = ["count_search", "find_datasets", "forgotten_datasets", "search"]

_SEARCHES: dict[str, tuple[str, ...]] = {"Table": ("search_datasets", "search_aliases"), "Column": ("search_columns",)}
_WITH_TAGS: dict[str, tuple[str, ...]] = {"Table": ("datasets_with_tags",), "Column": ("columns_with_tags",)}
_COUNTS = {
    "search_datasets": "count_search_datasets",
    "search_aliases": "count_search_aliases",
    "search_columns": "count_search_columns",
    "datasets_with_tags": "count_datasets_with_tags",
    "columns_with_tags": "count_columns_with_tags",
}


def find_datasets(transaction: Transaction, name: str) -> list[StoredDataset]:
    """Return the datasets that match a name: by key, else full name, else alias, else last parts of the name.

    Case matters only to distinguish two datasets. Live datasets come before dropped ones. Other spellings of a storage
    location (`s3a://lake//raw/`, `/raw` of a bucket) are normalized as in events. A date shard or a partition of
    BigQuery finds its table (`events_20260103` finds `events_*`).
    """
    wanted = name.strip()
    if find_unstorable(wanted) is not None:  # no store accepts such text
        return []
    datasets = _find_datasets(transaction, wanted)
    if not datasets and (normal := _normal(wanted)) != wanted:
        datasets = _find_datasets(transaction, normal)
    if not datasets and (whole := _bigquery_name(wanted)) != wanted:
        datasets = [one for one in _find_datasets(transaction, whole) if "bigquery" in (one.dialect, one.namespace)]
    return datasets


def _bigquery_name(name: str) -> str:
    """Return a name with its last part as BigQuery's tables are stored; without quotes unless it needs them."""
    namespace, slash, own = name.rpartition("/")
    parts = [part for part, _ in split_name(own)]
    return f"{namespace}{slash}{format_name([*parts[:-1], bigquery_table(parts[-1])])}" if parts and parts[-1] else name


def _shards(text: str) -> str | None:
    """Return the name of a BigQuery table whose date shards begin with a searched text; None if it names no day."""
    names = (bigquery_table(text), bigquery_table(f"{text}*"))
    return next((name for name in names if name.endswith("_*") and name != text), None)


def _normal(name: str) -> str:
    """Return a typed name with its namespace and path as keys have them."""
    if name.startswith("file:"):
        return "/".join(normal_place("file", "/" + name.removeprefix("file:").lstrip("/")))
    if "://" in name:
        return "/".join(normal_place(*split_dataset_key(name)))
    return name.strip("/") or name


def _find_datasets(transaction: Transaction, wanted: str) -> list[StoredDataset]:
    lower = wanted.lower()
    name_in_key = split_dataset_key(lower)[1]

    def read(statement: str, **row: str) -> list[StoredDataset]:
        rows = transaction.read(query(statement), [row])
        return [dataset_from(found["n"]) for found in rows]

    def key_of(dataset: StoredDataset) -> Iterable[str]:
        return (dataset.key,)

    def name_of(dataset: StoredDataset) -> Iterable[str]:
        return (dataset.name,)

    def aliases_of(dataset: StoredDataset) -> Iterable[str]:
        # An alias with its own namespace is also found without it.
        bare = (one for alias in dataset.aliases for one in (split_dataset_key(alias)[1], alias.rpartition("/")[2]))
        return (*dataset.aliases, *bare, *(f"{dataset.namespace}/{alias}" for alias in dataset.aliases))

    def last_parts_of(dataset: StoredDataset) -> Iterable[str]:
        return (dataset.name[-len(wanted) :],)

    tiers: tuple[tuple[Callable[[], list[StoredDataset]], Callable[[StoredDataset], Iterable[str]]], ...] = (
        (lambda: read("datasets_by_name", name=name_in_key), key_of),
        (lambda: read("datasets_by_name", name=lower), name_of),
        (lambda: read("datasets_by_alias"), aliases_of),
        (lambda: read("datasets_by_last_parts", suffix=f".{lower}"), last_parts_of),
        (lambda: read("datasets_by_last_parts", suffix=f"/{lower}"), last_parts_of),
    )
    for candidates, names in tiers:
        matches = [one for one in candidates() if any(text.lower() == lower for text in names(one))]
        if len(matches) > 1:  # what nothing states any more is meant only if nothing else has the name
            forgotten = set(forgotten_datasets(transaction))
            matches = [one for one in matches if one.key not in forgotten] or matches
        exact = [one for one in matches if wanted in names(one)]
        if matches:
            return sorted(exact or matches, key=lambda one: (one.dropped_at is not None, one.key))
    return []


def search(
    transaction: Transaction,
    text: str,
    *,
    types: Sequence[str] = ("Table", "Column"),
    tags: Collection[str] = (),
    limit: int = 20,
) -> list[SearchHit]:
    """Return datasets and columns whose name contains the text and that have all tags: exact matches, then prefixes.

    The last part of a name counts as a name: `orders` matches `shop.orders` exactly. Aliases and former names count.
    Datasets of which all lineage was retired are left out.
    """
    lower = text.strip().lower()
    if limit < 1 or not (lower or tags) or find_unstorable(lower) is not None:
        return []
    names, row = _asked(transaction, lower, tags)
    row |= {"part": f".{lower}", "path": f"/{lower}", "limit": limit} if lower else {"limit": limit}
    hits = [
        SearchHit(found["key"], label, found["name"], found.get("score") or _score(found["search"], lower))
        for label in types
        for statement in names[label]
        for found in transaction.read(query(statement), [row])
    ]
    if not hits and (shards := _shards(lower)) is not None:
        return search(transaction, shards, types=types, tags=tags, limit=limit)
    return sorted(hits, key=lambda hit: (-hit.score, len(hit.name), hit.type != "Table", hit.key))[:limit]


def count_search(
    transaction: Transaction, text: str, *, types: Sequence[str] = ("Table", "Column"), tags: Collection[str] = ()
) -> int:
    """Return how many datasets and columns `search` finds without a limit."""
    lower = text.strip().lower()
    if not (lower or tags) or find_unstorable(lower) is not None:
        return 0
    names, row = _asked(transaction, lower, tags)
    statements = [_COUNTS[statement] for label in types for statement in names[label]]
    number = sum(int(found["number"]) for name in statements for found in transaction.read(query(name), [row]))
    if not number and (shards := _shards(lower)) is not None:
        return count_search(transaction, shards, types=types, tags=tags)
    return number


def _asked(
    transaction: Transaction, text: str, tags: Collection[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Any]]:
    # The embedded store cannot tell the type of an empty list.
    forgotten = ["", *forgotten_datasets(transaction)]
    if not text:
        return _WITH_TAGS, {"tags": sorted(set(tags)), "forgotten": forgotten}
    return _SEARCHES, {"text": text, "tags": ["", *sorted(set(tags))], "forgotten": forgotten}


def forgotten_datasets(transaction: Transaction) -> list[str]:
    """Return the datasets that only retired jobs read or write, and that were not seen since these were retired."""
    rows = transaction.read(query("datasets_of_retired_jobs"), [{}])
    keys = sorted(row["dataset"] for row in rows if row["last_seen"] < row["retired_at"])
    live = transaction.read(query("datasets_of_live_jobs"), [{"key": key} for key in keys]) if keys else []
    return sorted(set(keys) - {row["dataset"] for row in live})


def _score(names: str, text: str) -> float:
    """Return the best score of a text among the names of a node, one per line."""
    return max(_score_of_one(name, text) for name in names.split("\n"))


def _score_of_one(name: str, text: str) -> float:
    if name == text or name.endswith(f".{text}"):
        return 3.0
    return 2.0 if name.startswith(text) or f".{text}" in name else 1.0

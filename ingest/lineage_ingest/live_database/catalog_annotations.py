"""Comments and privileges of a database as descriptions and tags of the graph.

A comment becomes the description of a table or column that has none: what a
person wrote stays. Owners and readers are tags `owner:ROLE` and `reader:ROLE`, which replace the earlier ones; other
tags stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lineage.frozen import frozen
from lineage.store.protocol import GraphStore
from lineage.store.values import NodeAnnotation, StoredColumn, StoredDataset

__all__ = ["Annotation", "AnnotationResult", "annotate"]

_OWN_TAGS = ("owner:", "reader:")
_AT_ONCE = 2_000
"""Datasets whose annotations are compared at once."""


@frozen
class Annotation:
    """What a database says of a table or column: its comment, and the roles that own and may read it."""

    comment: str | None = None
    owner: str | None = None
    readers: tuple[str, ...] = ()

    @property
    def tags(self) -> set[str]:
        """Its tags."""
        owner = {f"owner:{self.owner}"} if self.owner else set()
        return owner | {f"reader:{role}" for role in self.readers}


@frozen
class AnnotationResult:
    """How many descriptions and tags were set, and how many descriptions differ from the comments and were kept."""

    described: int = 0
    tagged: int = 0
    kept: int = 0


def annotate(
    store: GraphStore,
    annotations: Mapping[str, Mapping[str, Annotation]],
    *,
    replace_descriptions: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> AnnotationResult:
    """Store annotations that differ from what the graph has.

    `annotations` are by dataset and by key of the dataset or column itself. With `replace_descriptions`, comments
    replace descriptions.

    Raises:
        StoreError: the store could not be read or written.
    """
    described = tagged = kept = 0
    keys = sorted(annotations)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        stored: dict[str, StoredDataset | StoredColumn] = {one.key: one for one in store.datasets(some)}
        stored.update((column.key, column) for column in store.columns(some))
        changes: list[NodeAnnotation] = []
        for dataset in some:
            for key, annotation in annotations[dataset].items():
                node = stored.get(key)
                if node is None:
                    continue
                description = annotation.comment if annotation.comment != node.description else None
                if description is not None and node.description and not replace_descriptions:
                    description, kept = None, kept + 1
                theirs = {tag for tag in node.tags if not tag.startswith(_OWN_TAGS)}
                tags = theirs | annotation.tags
                changed = tags if tags != set(node.tags) else None
                if description is None and changed is None:
                    continue
                changes.append(NodeAnnotation(key, description, None if changed is None else tuple(sorted(changed))))
                described += description is not None
                tagged += changed is not None
        if changes:
            store.describe_all(changes)
        progress(min(start + _AT_ONCE, len(keys)), len(keys))
    return AnnotationResult(described, tagged, kept)

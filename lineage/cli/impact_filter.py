"""`lineage impact --tag …`: only some of the columns that depend on another one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

import typer

from lineage.frozen import frozen
from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import DatasetKind
from lineage.screen.listing import counted
from lineage.store.protocol import GraphStore
from lineage.traversal import Answer
from lineage.traversal.answer import Outline

__all__ = ["ImpactFilter", "MaskedOption", "TableKindOption", "TagOption"]

TagOption = Annotated[
    list[str] | None, typer.Option("--tag", help="Only columns that are tagged so. Repeatable.", metavar="CLASS")
]
MaskedOption = Annotated[
    bool | None,
    typer.Option(
        "--masked/--unmasked", help="Only columns to which the value flows, masked on every path, or not.",
        show_default=False,
    ),
]  # fmt: skip
TableKindOption = Annotated[
    list[DatasetKind] | None,
    typer.Option(
        "--table-kind", help="Only columns of such tables; exposure is a dashboard. Repeatable.", case_sensitive=False
    ),
]


@frozen
class ImpactFilter:
    """Which of the reached columns are wanted."""

    tags: Collection[str] = ()
    masked: bool | None = None
    kinds: Collection[DatasetKind] = ()

    @property
    def is_empty(self) -> bool:
        """Whether all columns are wanted."""
        return not self.tags and self.masked is None and not self.kinds

    @property
    def text(self) -> str:
        """What is wanted, as options."""
        masked = [] if self.masked is None else ["--masked" if self.masked else "--unmasked"]
        kinds = [f"--table-kind {kind}" for kind in self.kinds]
        return " ".join([*(f"--tag {name}" for name in self.tags), *masked, *kinds])

    def chosen(self, store: GraphStore, answer: Answer) -> list[Outline]:
        """Return the wanted columns, with those that the value flows to first.

        Raises:
            StoreError: the store could not be read.
        """
        tagged = _tagged(store, self.tags) if self.tags else None
        tables = (
            {one.key for one in store.datasets(answer.by_dataset.keys()) if one.kind in self.kinds}
            if self.kinds
            else answer.by_dataset.keys()
        )
        found = [
            outline
            for outline in answer.outlines
            if outline.dataset in tables
            and (tagged is None or outline.key in tagged)
            and (self.masked is None or (EdgeKind.CONTRIBUTES in outline.influence and outline.masked is self.masked))
        ]
        return sorted(found, key=lambda one: EdgeKind.CONTRIBUTES not in one.influence)

    def headline(self, answer: Answer, found: int) -> str:
        """Return how many of the columns are wanted, in words."""
        least = "at least " if answer.is_lower_bound else ""
        return f"{found:,} of {least}{counted(answer.total, 'column')} that depend on {answer.start.name}: {self.text}"

    def unknown_tags(self, store: GraphStore) -> list[str]:
        """Return a sentence for each wanted tag that no column of the store has: it may be misspelt.

        Raises:
            StoreError: the store could not be read.
        """
        return [
            f"no column is tagged {name}: `lineage tag list` shows the tags"
            for name in self.tags
            if not _tagged(store, [name])
        ]


def _tagged(store: GraphStore, tags: Collection[str]) -> set[str]:
    from lineage.governance.tags.rules import default_rules  # noqa: PLC0415  other traversals need no rules
    from lineage.governance.tags.tagging import columns_tagged  # noqa: PLC0415

    return columns_tagged(store, tags, default_rules())

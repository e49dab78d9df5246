"""The table or column that a command is about, completed from the store."""

from __future__ import annotations

from typing import Annotated

import typer

from lineage.model.names import split_name
from lineage.store import open_store
from lineage.traversal.lookup import names_of

__all__ = ["NameArgument", "complete_name"]


def complete_name(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names in the store that complete what is typed; none without a store."""
    from lineage.store.errors import StoreError  # noqa: PLC0415  completion must start quickly

    try:
        with open_store(context.params.get("store"), read_only=True) as store:
            last = [part for part, _ in split_name(incomplete)][-1:] or [incomplete]
            names = names_of(store, (hit.key for hit in store.search(last[0], limit=200)))
            return sorted(name for name in names.values() if name.startswith(incomplete))
    except StoreError:
        return []


NameArgument = Annotated[
    str, typer.Argument(help="A column (schema.table.column) or a table.", autocompletion=complete_name)
]

"""The content of a dbt seed: its columns one by one, with their types, where its file can be read, else its checksum.

A seed of another name with the same content contains the same: it is renamed, and what reads it is as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import TableForm, ValueForm, opaque_table
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode
from lineage_ingest.dbt.artifacts.seed_files import header_of, rows_of

__all__ = ["seed_relation"]


def seed_relation(node: DbtNode, columns: Sequence[str], folder: Path | None) -> TableForm:
    """Return a seed's table; `columns` are its names as the database has them."""
    rows = rows_of(node, folder)
    if rows is not None and len(rows) > 1 and {len(row) for row in rows} == {len(columns)}:
        number = digest("seed", len(rows))
        kinds = [node.config.column_types.get(name) for name in header_of(node, folder)]
        listed = tuple(
            (column, _stored(digest("seed column", column, [row[at] for row in rows[1:]]), kinds[at]))
            for at, column in enumerate(columns)
        )
        return TableForm(number, listed, number)
    # A large seed has its path for a checksum: whether it has changed cannot be known.
    own = "" if node.checksum.name == "sha256" else node.unique_id
    types = sorted(node.config.column_types.items())
    content = digest("seed", own, node.checksum.name, node.checksum.checksum, *([types] if types else []))
    return opaque_table(content, list(columns) or None)


def _stored(value: str, kind: str | None) -> ValueForm:
    """Return a column as the database has it: its text as the type that is declared, if any."""
    if kind is None:
        return ValueForm(value)
    return ValueForm(digest("declared", value, " ".join(kind.lower().split())), value, kind)

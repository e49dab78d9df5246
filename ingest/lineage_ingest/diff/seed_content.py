"""The content of a dbt seed: its columns one by one where its file can be read, else its checksum."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lineage.sql.canonical.digests import digest
from lineage.sql.canonical.table_form import TableForm, ValueForm, opaque_table
from lineage_ingest.dbt.manifest_nodes import DbtNode

__all__ = ["seed_relation"]


def seed_relation(node: DbtNode, columns: Sequence[str], raw: Mapping[str, Any], folder: Path | None) -> TableForm:
    """Return a seed's table; `columns` are its names as the database has them, `raw` its node in the manifest.

    The file is read only if it is the one whose checksum is in the manifest: the folder may be of another revision.
    """
    checksum = raw.get("checksum")
    name, value = (
        (str(checksum.get("name")), str(checksum.get("checksum"))) if isinstance(checksum, Mapping) else ("none", "")
    )
    rows = _rows(node, folder, value) if name == "sha256" else None
    if rows is not None and len(rows) > 1 and {len(row) for row in rows} == {len(columns)}:
        number = digest("seed", node.unique_id, len(rows))
        listed = tuple(
            (column, ValueForm(digest("seed column", column, [row[at] for row in rows[1:]])))
            for at, column in enumerate(columns)
        )
        return TableForm(number, listed, number)
    # A large seed has its path for a checksum: whether it has changed cannot be known.
    return opaque_table(digest("seed", node.unique_id, name, value), list(columns) or None)


def _rows(node: DbtNode, folder: Path | None, checksum: str) -> list[list[str]] | None:
    for root in filter(None, (folder, Path(node.root_path) if node.root_path else None)):
        try:
            text = (root / node.original_file_path).read_bytes().decode("utf-8")  # its line ends count in the checksum
        except (OSError, UnicodeDecodeError):
            continue
        found = {hashlib.sha256(one.encode()).hexdigest() for one in (text, text.strip())}
        if checksum in found:
            try:
                listed = io.StringIO(text.removeprefix("\ufeff"))
                return list(csv.reader(listed, delimiter=node.config.delimiter or ","))
            except (csv.Error, TypeError):  # a delimiter must have one character
                return None
    return None

"""Schemas in large files of DDL, kept in the user's cache folder: reading them takes longer than what they are for.

The file is valid for the text and the dialect. It holds names and types, as the DDL has them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lineage.catalog.ddl import read_ddl
from lineage.catalog.table import TableSchema
from lineage.model.dialect import Dialect
from lineage.product_digest import product_digest
from lineage.saved_file import SavedFile, digest_of, saved_files_folder
from lineage.saved_values import UnexpectedClassError, from_saved, to_saved

__all__ = ["read_saved_ddl"]

_FORMAT = 1
_LARGE = 30_000
"""Characters. Shorter texts are read in a few hundredths of a second."""
_MODULES = ("lineage.model.",)


def read_saved_ddl(path: Path, dialect: Dialect) -> Iterable[TableSchema]:
    """Return the tables that exist after running the DDL in a file, in order of creation.

    Raises:
        CatalogError: the text cannot be parsed; the message has the position.
        OSError: the file cannot be read.
    """
    text = path.read_text(encoding="utf-8")
    if len(text) < _LARGE:
        return read_ddl(text, dialect, source=str(path))
    name = digest_of(os.path.abspath(path), dialect.name)
    file = SavedFile(saved_files_folder("ddl") / f"{name}.saved", digest_of(_FORMAT, product_digest(), text))
    content = file.read()
    if content is not None:
        try:
            return [TableSchema(*one) for one in from_saved(content, _MODULES)]
        except UnexpectedClassError:
            pass
    tables = list(read_ddl(text, dialect, source=str(path)))
    file.write(to_saved([(table.name, table.columns) for table in tables]))
    return tables

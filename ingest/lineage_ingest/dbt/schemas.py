"""Schemas that are known before any SQL is read: from catalog.json, the headers of seeds, properties files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from lineage.model.dialect import Dialect
from lineage.model.names import Naming
from lineage.model.spelling import own_spelling
from lineage.model.statement import ColumnSchema
from lineage_ingest.dbt.artifacts.manifest_nodes import DbtNode, ResourceType
from lineage_ingest.dbt.artifacts.seed_files import header_of
from lineage_ingest.dbt.artifacts.target_folder import Artifacts
from lineage_ingest.dbt.artifacts.unread_columns import outlines_of

__all__ = ["catalog_columns", "described_columns", "seed_columns", "comparable_columns"]


def catalog_columns(artifacts: Artifacts, unique_id: str, naming: Naming) -> tuple[ColumnSchema, ...]:
    """Return the columns that catalog.json has of a node, in order; names there are as stored in the database."""
    fold = naming.dialect.fold_column
    return tuple(ColumnSchema(fold(name, quoted=True), kind) for name, kind in artifacts.catalog.get(unique_id, ()))


def comparable_columns(columns: Iterable[ColumnSchema]) -> list[tuple[str, str, str | None]]:
    """Return columns as values for a digest: a name with another spelling is equal to the one without."""
    return [(one.name, own_spelling(one.name) or "", one.data_type) for one in columns]


def described_columns(node: DbtNode, naming: Naming) -> tuple[ColumnSchema, ...]:
    """Return the columns that a properties file describes: they need not be all, nor in order."""
    dialect = naming.dialect
    return tuple(
        ColumnSchema(_folded(dialect, column.name, bool(column.quote)), column.data_type)
        for column in outlines_of(node.columns)
    )


@lru_cache(maxsize=100_000)
def _folded(dialect: Dialect, name: str, quoted: bool) -> str:
    return dialect.fold_column(name, quoted=quoted)


def seed_columns(node: DbtNode, project: Path | None, naming: Naming) -> tuple[ColumnSchema, ...]:
    """Return the columns of a seed from the header of its file; none if the file cannot be read."""
    if node.resource_type != ResourceType.SEED:
        return ()
    quoted = node.config.quote_columns
    as_written = quoted if quoted is not None else naming.dialect.name != "snowflake"
    types: Mapping[str, str] = node.config.column_types
    fold = naming.dialect.fold_column
    header = header_of(node, project)
    return tuple(ColumnSchema(fold(name, quoted=as_written), types.get(name)) for name in header)

"""Digests of a node of a project: if they are as they were, it is not stated again."""

from __future__ import annotations

from lineage.saved_file import digest_of
from lineage_ingest.dbt.artifacts.unread_columns import outlines_of
from lineage_ingest.dbt.model_resolution import ModelInput
from lineage_ingest.dbt.project import DbtTable
from lineage_ingest.dbt.schemas import comparable_columns

__all__ = ["digest_input", "digest_stated"]


def digest_input(given: ModelInput) -> str:
    """Return a digest of all of a model that decides its lineage."""
    return digest_of(
        given.text,
        given.table,
        given.kind,
        given.reads,
        given.doubts,
        given.unread,
        given.other_builds,
        given.functions,
        given.read_by_hooks,
        given.hooks_temporary,
        given.contract,
    )


def digest_stated(table: DbtTable, *more: str) -> str:
    """Return a digest of what is stored of a table besides its lineage."""
    node = table.node
    columns = comparable_columns(table.complete)
    described = [(one.name, one.quote, one.data_type) for one in outlines_of(node.columns)]
    own = (node.original_file_path, node.config.materialized, *more)
    return digest_of(table.name, table.kind, len(table.complete), columns, described, *own)

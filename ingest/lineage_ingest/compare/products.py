"""The products whose column lineage can be compared, and how the export of each is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from lineage.frozen import frozen
from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage_ingest.compare.opinions import ReadRow
from lineage_ingest.compare.product_names import ProductNames
from lineage_ingest.compare.readers.bigquery_links import read_bigquery_links
from lineage_ingest.compare.readers.databricks_lineage import read_databricks
from lineage_ingest.compare.readers.dbt_column_lineage import read_dbt_lineage, target_folder
from lineage_ingest.compare.readers.engine_logs import read_engine_log
from lineage_ingest.dbt.artifacts.target_folder import read_artifacts
from lineage_ingest.dbt.relation_names import dialect_of_adapter, target_defaults
from lineage_ingest.query_log.sources.cloud.snowflake_access import SNOWFLAKE_ACCESS
from lineage_ingest.query_log.sources.hive import HIVE
from lineage_ingest.query_log.sources.trino import TRINO

__all__ = ["OpinionKind", "Product", "naming_for", "product_of"]

Paths = Sequence[str | Path]


class OpinionKind(StrEnum):
    """What is compared with: the export of a product that states column lineage."""

    SNOWFLAKE = "snowflake"
    DATABRICKS = "databricks"
    BIGQUERY = "bigquery"
    TRINO = "trino"
    HIVE = "hive"
    DBT = "dbt"
    OPENLINEAGE = "openlineage"


@frozen
class Product:
    """A product: its name for people, its dialect (None: the export says it), and the reader of its export.

    `states_influence` is whether it also states which columns only influence (filters, joins).
    """

    title: str
    dialect: str | None
    read: Callable[[Paths, ProductNames], Iterator[ReadRow]]
    states_influence: bool = False


def _read_openlineage(paths: Paths, _names: ProductNames) -> Iterator[ReadRow]:
    from lineage_ingest.compare.readers.openlineage_facets import (  # noqa: PLC0415  the other kinds need no more than they use
        read_openlineage_facets,
    )

    return read_openlineage_facets(paths)


_PRODUCTS = {
    OpinionKind.SNOWFLAKE: Product(
        "Snowflake", "snowflake", lambda paths, names: read_engine_log(SNOWFLAKE_ACCESS, paths, names)
    ),
    OpinionKind.DATABRICKS: Product("Databricks", "databricks", read_databricks),
    OpinionKind.BIGQUERY: Product("BigQuery", "bigquery", read_bigquery_links),
    OpinionKind.TRINO: Product("Trino", "trino", lambda paths, names: read_engine_log(TRINO, paths, names)),
    OpinionKind.HIVE: Product("Hive", "hive", lambda paths, names: read_engine_log(HIVE, paths, names)),
    OpinionKind.DBT: Product("dbt", None, read_dbt_lineage, states_influence=True),
    OpinionKind.OPENLINEAGE: Product("OpenLineage", None, _read_openlineage, states_influence=True),
}


def product_of(kind: OpinionKind) -> Product:
    """Return the product of a kind."""
    return _PRODUCTS[kind]


def naming_for(
    kind: OpinionKind,
    paths: Paths,
    *,
    dialect: str | None = None,
    namespace: str = "",
    default_database: str | None = None,
    default_schema: str | None = None,
) -> Naming:
    """Return the naming of an export; a dbt project's manifest has its dialect and defaults.

    Raises:
        NoManifestError: a dbt project has no manifest or lineage file.
        UnknownDialectError: the dialect is unknown.
    """
    known = dialect or _PRODUCTS[kind].dialect
    if kind is OpinionKind.DBT:
        manifest = read_artifacts(target_folder(Path(paths[0]))).manifest
        known = known or dialect_of_adapter(manifest.metadata.adapter_type)
        database, schema = target_defaults(manifest)
        default_database, default_schema = default_database or database, default_schema or schema
    return Naming(
        dialect_named(known or "ansi"),
        namespace,
        default_database=default_database,
        default_schema=default_schema,
    )

"""Table schemas: read from DDL, JSON, a dictionary or a store; looked up by full or partial name."""

from lineage.catalog.schema import Catalog, SchemaSource
from lineage.catalog.table import CatalogError, TableSchema

__all__ = ["Catalog", "CatalogError", "SchemaSource", "TableSchema"]

"""Table schemas: from DDL, JSON, a dictionary or a store; found by full or shortened name."""

from lineage.catalog.schema import Catalog, SchemaSource
from lineage.catalog.table import CatalogError, TableSchema

__all__ = ["Catalog", "CatalogError", "SchemaSource", "TableSchema"]

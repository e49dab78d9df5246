"""Stores of lineage; `open_store` opens one."""

from lineage.store.errors import (
    StoreAccessError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreSchemaError,
    StoreTimeoutError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.opening import open_store
from lineage.store.protocol import GraphStore

__all__ = [
    "GraphStore",
    "StoreAccessError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreSchemaError",
    "StoreTimeoutError",
    "StoreUnreachableError",
    "StoreWriteError",
    "open_store",
]

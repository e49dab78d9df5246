"""A store behind a running service: `--store http://host:8000`."""

from lineage.store.remote.client import RemoteStore

__all__ = ["RemoteStore"]

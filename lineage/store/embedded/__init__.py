"""The embedded store: a ladybug database in one file, in this process."""

from lineage.store.embedded.backend import EmbeddedBackend

__all__ = ["EmbeddedBackend"]

"""The embedded store: one file, in this process, by `ladybug`."""

from lineage.store.embedded.backend import EmbeddedBackend

__all__ = ["EmbeddedBackend"]

"""The live graph in memory, for the service: traversals over arrays, with the answers that the store gives."""

from lineage.traversal.adjacency.kept_graph import KeptGraph

__all__ = ["KeptGraph"]

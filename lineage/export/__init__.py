"""Export the graph in other formats."""

from lineage.export.openlineage import openlineage_events

__all__ = ["openlineage_events"]

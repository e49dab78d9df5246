"""OpenLineage events as a way in: checked, gathered by run, stored."""

from lineage_ingest.openlineage.checking import InvalidEventError, SchemasMissingError
from lineage_ingest.openlineage.ingest import EventIngest, Outcome, Retention

__all__ = ["EventIngest", "InvalidEventError", "Outcome", "Retention", "SchemasMissingError"]

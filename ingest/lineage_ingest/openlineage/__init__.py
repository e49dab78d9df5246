"""OpenLineage events as a way in: checked, gathered by run, stored."""

from lineage_ingest.openlineage.ingest import EventIngest, EventOutcome, Retention
from lineage_ingest.openlineage.validation import InvalidEventError, SchemasMissingError

__all__ = ["EventIngest", "InvalidEventError", "EventOutcome", "Retention", "SchemasMissingError"]

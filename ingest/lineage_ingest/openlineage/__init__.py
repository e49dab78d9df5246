"""Ingest OpenLineage events: validate, merge by run, store."""

from lineage_ingest.openlineage.ingest import EventIngest, EventOutcome, Retention
from lineage_ingest.openlineage.validation import InvalidEventError, SchemasMissingError

__all__ = ["EventIngest", "InvalidEventError", "EventOutcome", "Retention", "SchemasMissingError"]

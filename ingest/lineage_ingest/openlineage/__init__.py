"""Ingest OpenLineage events: validate, merge by run, store."""

from lineage_ingest.openlineage.ingest import EventIngest, EventOutcome, Retention
from lineage_ingest.openlineage.topics.event_topic import (
    EventTopic,
    KafkaMissingError,
    KafkaUnreachableError,
    TopicError,
)
from lineage_ingest.openlineage.topics.topic_ingest import ingest_event_topic
from lineage_ingest.openlineage.validation.event_validation import InvalidEventError, SchemasMissingError

__all__ = [
    "EventIngest",
    "EventOutcome",
    "EventTopic",
    "InvalidEventError",
    "KafkaMissingError",
    "KafkaUnreachableError",
    "Retention",
    "SchemasMissingError",
    "TopicError",
    "ingest_event_topic",
]

"""Continuous ingestion of a query log, from files in a folder or messages of a Kafka topic, in micro-batches."""

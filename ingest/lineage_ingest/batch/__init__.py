"""Batches: what an ingest found, put together for a store."""

"""Prometheus metrics. Labels are never taken from what a caller sent."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

__all__ = ["COST", "EVENTS", "INGEST_LAG", "REACHED", "REFUSALS", "REQUESTS", "REQUEST_SECONDS", "TRAVERSAL_SECONDS"]

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

REQUESTS = Counter("lineage_requests", "HTTP requests by route and status.", ["route", "status"])
REQUEST_SECONDS = Histogram("lineage_request_seconds", "Duration of HTTP requests.", ["route"], buckets=_SECONDS)
REFUSALS = Counter("lineage_refusals", "GraphQL errors by code.", ["code"])
COST = Histogram(
    "lineage_query_cost",
    "Cost of GraphQL queries.",
    buckets=(1, 10, 100, 500, 1_000, 5_000, 10_000, 20_000),
)
TRAVERSAL_SECONDS = Histogram(
    "lineage_traversal_seconds", "Duration of traversals by direction.", ["direction"], buckets=_SECONDS
)
REACHED = Histogram(
    "lineage_traversal_reached",
    "Columns reached per traversal by direction.",
    ["direction"],
    buckets=(0, 1, 10, 100, 1_000, 10_000, 100_000),
)
EVENTS = Counter("lineage_events", "OpenLineage events by outcome.", ["outcome"])
INGEST_LAG = Gauge(
    "lineage_ingest_lag_seconds", "Age of the newest event of a request when it was stored.", multiprocess_mode="max"
)

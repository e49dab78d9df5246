"""Listens to Spark sessions, and delivers their lineage."""

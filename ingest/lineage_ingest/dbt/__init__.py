"""dbt projects: the artifacts of a target folder, read into lineage (`ingest.py` first)."""

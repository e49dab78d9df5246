"""The commands of `lineage ingest`, and `lineage demo`."""

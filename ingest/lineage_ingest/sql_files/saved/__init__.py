"""What the last ingest of a folder left, for the next one."""

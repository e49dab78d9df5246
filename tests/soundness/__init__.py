"""The extractor against a database: random queries, one input column changed at a time."""

"""Ways in: what turns files, logs and events into batches of lineage, and hands them to a store."""

"""A query log that keeps coming: files that land in a folder, messages of Kafka, micro-batch after micro-batch."""

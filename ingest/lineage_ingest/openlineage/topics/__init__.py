"""Events from Kafka."""

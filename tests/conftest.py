"""Fixtures and hooks that every test may use."""

from tests.kafka_fixture import kafka
from tests.neo4j_fixture import neo4j_uri, pytest_collection_modifyitems

__all__ = ["kafka", "neo4j_uri", "pytest_collection_modifyitems"]

"""Fixtures and hooks that every test may use."""

from tests.neo4j_fixture import neo4j_uri, pytest_collection_modifyitems

__all__ = ["neo4j_uri", "pytest_collection_modifyitems"]

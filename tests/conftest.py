"""Fixtures and hooks that every test may use."""

import os

from tests.java_options import SHORT_LIVED
from tests.kafka_fixture import kafka
from tests.neo4j_fixture import neo4j_uri, pytest_collection_modifyitems

__all__ = ["kafka", "neo4j_uri", "pytest_collection_modifyitems"]

# Of every Spark that a test starts, also in a process of its own.
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(SHORT_LIVED))

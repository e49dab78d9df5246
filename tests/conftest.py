"""Fixtures and hooks that every test may use."""

import os
from collections.abc import Iterator
from types import SimpleNamespace
from unittest import mock

import pytest

from lineage import saved_file
from tests.java_options import SMALL_FRAMES, SPARK
from tests.kafka_fixture import kafka
from tests.neo4j_fixture import neo4j_uri
from tests.process_groups import pytest_collection_modifyitems

__all__ = ["kafka", "own_saved_files", "neo4j_uri", "pytest_collection_modifyitems"]

# Of every Spark that a test starts, also in a process of its own.
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join((*SPARK, *SMALL_FRAMES)))


@pytest.fixture(autouse=True, scope="session")
def own_saved_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what commands save for later runs apart from that of the user."""
    folder = tmp_path_factory.mktemp("saved")
    with mock.patch.object(saved_file, "platformdirs", SimpleNamespace(user_cache_path=lambda *_, **__: folder)):
        yield

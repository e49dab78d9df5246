"""A service on each kind of store, with a small graph in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lineage.store import GraphStore
from tests.service.graph import fill
from tests.service.running import Service, running
from tests.store.conftest import both_stores, open_again, pytest_generate_tests, store

__all__ = ["both_stores", "open_again", "pytest_generate_tests", "service", "store"]


@pytest.fixture
def service(store: GraphStore) -> Iterator[Service]:
    """A service over a store that holds the small graph."""
    fill(store)
    with running(store) as started:
        yield started

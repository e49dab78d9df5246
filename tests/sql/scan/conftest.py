from __future__ import annotations

import pytest

from lineage.sql.scan.implementation import ScanEngine
from tests.sql.scan.twins import ENGINES, NAMES


@pytest.fixture(params=ENGINES, ids=NAMES, scope="session")
def scanner(request: pytest.FixtureRequest) -> ScanEngine:
    engine: ScanEngine = request.param
    return engine

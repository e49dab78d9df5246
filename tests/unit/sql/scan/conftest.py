from __future__ import annotations

import pytest

from lineage.sql.scan.engines import Engine
from tests.unit.sql.scan.twins import ENGINES, NAMES


@pytest.fixture(params=ENGINES, ids=NAMES, scope="session")
def scanner(request: pytest.FixtureRequest) -> Engine:
    engine: Engine = request.param
    return engine

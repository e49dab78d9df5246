"""Random warehouses: what this test knows of them is what DuckDB shows."""

from __future__ import annotations

import pytest

from tests.soundness.warehouse.campaign import Campaign, Plan
from tests.soundness.warehouse.check import Settings

WAREHOUSES, CHUNK, SEED = 50, 10, 1


@pytest.mark.parametrize("first", range(0, WAREHOUSES, CHUNK))
def test_what_is_known_of_a_warehouse_is_what_a_database_shows(first: int) -> None:
    campaign = Campaign(Plan(SEED, settings=Settings(asked=False)))
    campaign.run(range(first, first + CHUNK))
    assert "\n".join(map(str, campaign.failures)) == ""
    assert not campaign.rejected
    assert campaign.experiments > CHUNK

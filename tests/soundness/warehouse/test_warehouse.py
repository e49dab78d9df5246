"""Random warehouses: what is known of them is what DuckDB shows, and what a store answers after every ingest."""

from __future__ import annotations

import pytest

from tests.neo4j_fixture import Neo4jAddress
from tests.soundness.warehouse.campaign import Campaign, Plan
from tests.soundness.warehouse.check import Settings

WAREHOUSES, CHUNK, SEED = 30, 10, 1


@pytest.mark.parametrize("first", range(0, WAREHOUSES, CHUNK))
def test_nothing_is_missed_and_nothing_is_invented(first: int) -> None:
    settings = Settings(experiments=False)  # the next test looks at what is held against the answers here
    campaign = Campaign(Plan(SEED, settings=settings, shrink_seconds=20))
    campaign.run(range(first, first + CHUNK))
    assert "\n".join(map(str, campaign.failures)) == ""
    assert not campaign.rejected
    assert campaign.asked >= CHUNK


def test_neo4j_holds_what_the_embedded_store_holds(neo4j_uri: Neo4jAddress) -> None:
    settings = Settings(experiments=False, store=neo4j_uri)
    campaign = Campaign(Plan(3, "log", settings=settings, shrink_seconds=20))
    campaign.run(range(2))
    assert "\n".join(map(str, campaign.failures)) == ""
    assert campaign.asked >= 2


def test_what_is_known_of_a_warehouse_is_what_a_database_shows() -> None:
    campaign = Campaign(Plan(SEED, settings=Settings(asked=False)))
    campaign.run(range(15))
    assert "\n".join(map(str, campaign.failures)) == ""
    assert not campaign.rejected
    assert campaign.experiments > 15

"""Random queries of each dialect: their edges are those that they must have, and none is missing that an engine shows.

DuckDB changes inputs, SQLite tells what it reads, Spark has an analysed plan.
"""

from __future__ import annotations

import pytest

from tests.soundness.campaign import Campaign

QUERIES, CHUNK, SEED = 300, 100, 1


@pytest.mark.parametrize("first", range(0, QUERIES, CHUNK))
def test_edges_are_exact_and_no_influence_is_missed(first: int) -> None:
    campaign = Campaign(SEED, ways=1)
    campaign.run(range(first, first + CHUNK))
    campaign.close()
    assert "\n".join(failure.case for failure in campaign.failures) == ""
    assert campaign.rejected.total() <= CHUNK * 0.08, campaign.rejected
    assert campaign.experiments > CHUNK


OTHERS = [("sqlite", 0), ("spark", 0)]


@pytest.mark.parametrize(
    ("dialect", "first"),
    [pytest.param(*one, marks=pytest.mark.xdist_group("referee_spark") if one[0] == "spark" else ()) for one in OTHERS],
)
def test_other_engines_show_nothing_that_is_missed(dialect: str, first: int) -> None:
    campaign, count = Campaign(SEED, dialect=dialect), 80 if dialect == "spark" else 250
    campaign.run(range(first, first + count))
    campaign.close()
    assert "\n".join(str(failure) for failure in campaign.failures) == ""
    assert campaign.rejected.total() <= count * 0.15, campaign.rejected

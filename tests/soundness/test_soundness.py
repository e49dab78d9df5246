"""2,000 random queries: their edges are those that they must have, and no changed input goes unnoticed."""

from __future__ import annotations

import pytest

from tests.soundness.campaign import Campaign

QUERIES, CHUNK, SEED = 2_000, 125, 1


@pytest.mark.parametrize("first", range(0, QUERIES, CHUNK))
def test_edges_are_exact_and_no_influence_is_missed(first: int) -> None:
    campaign = Campaign(SEED, ways=1)
    campaign.run(range(first, first + CHUNK))
    campaign.close()
    assert "\n".join(failure.case for failure in campaign.failures) == ""
    assert campaign.rejected.total() <= CHUNK * 0.08, campaign.rejected
    assert campaign.experiments > CHUNK

"""What a diff leaves alone is the same; `python -m tests.diff.minimal_rebuild 1000` runs more edits."""

from __future__ import annotations

from tests.diff.edits import EDITS
from tests.diff.minimal_rebuild import run_campaign


def test_what_is_called_untouched_is_the_same() -> None:
    found = run_campaign(len(EDITS), seed=5)
    assert found.failures == []
    assert found.differing > 20
    assert found.ratio <= 0.5

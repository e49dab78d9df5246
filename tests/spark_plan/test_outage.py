from __future__ import annotations

from pathlib import Path

from tests.spark_plan.outage import outage


def test_a_service_that_is_killed_in_the_middle_of_a_job(tmp_path: Path) -> None:
    found = outage(tmp_path, 1.0)
    assert found.while_away >= 3
    assert not found.problems()

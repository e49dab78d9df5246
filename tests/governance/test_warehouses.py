"""Reports of random warehouses against what their generator meant; `python -m tests.governance.warehouses` has more."""

from __future__ import annotations

from tests.governance.warehouses import run


def test_reports_say_what_the_generator_meant() -> None:
    done = run(range(6), seed=3, shrink_seconds=0)
    assert "\n".join(done.failures) == ""
    assert not done.rejected
    assert done.sources > 10
    assert len(done.exposures) > 2
    assert done.readers

"""Each seeded fault can still be made; whether tests find it is checked by `python -m tests.seeded_faults`."""

from __future__ import annotations

from tests.seeded_faults.seeding import ROOT, read_faults


def test_each_fault_can_be_made() -> None:
    faults = read_faults()
    assert [one for one in faults if (ROOT / one.file).read_text(encoding="utf-8").count(one.old) != 1] == []
    assert [one for one in faults if one.old == one.new] == []
    assert len(faults) >= 40


def test_its_tests_are_there() -> None:
    named = {path.partition("::")[0] for one in read_faults() for path in one.found_by}
    assert {path for path in named if not (ROOT / path).exists()} == set()

"""The statements of Apache Hive's own tests against the column lineage that Hive wrote for them.

`hive_differences.json` gives every difference by its cause: who is right (`we`, `Hive`, or `neither`), and why.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.truth.hive import compared

CAUSES = json.loads(Path(__file__).with_name("hive_differences.json").read_text(encoding="utf-8"))


def statements_where_right(*who: str) -> set[str]:
    return {name for cause in CAUSES.values() if cause["right"] in who for name in cause["statements"]}


def test_every_difference_is_recorded_and_every_record_is_needed() -> None:
    found = {name: list(one.differences) for name, one in compared().items() if one.differences}
    recorded = {name: lines for cause in CAUSES.values() for name, lines in cause["statements"].items()}
    assert found == recorded
    assert all(cause["why"] and cause["statements"] for cause in CAUSES.values())


def test_98_percent_are_right() -> None:
    assert len(compared()) == 856
    assert len(statements_where_right("Hive", "neither")) <= 0.02 * len(compared())


def test_no_wrong_answer_says_full() -> None:
    assert {name for name in statements_where_right("Hive") if compared()[name].completeness == "full"} == set()

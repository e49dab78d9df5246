"""Edits of what reads models: tests, metrics, exposures; and seeds of which dbt does not know whether they changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import ProjectDiff, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition
from tests.dbt.manifests import manifest, model, source, write

Manifest = dict[str, Any]
DAILY = model("daily", 'select day from "wh"."raw"."orders"', "source.shop.raw.orders")


def keyed(kind: str, name: str, *needs: str, **fields: Any) -> Manifest:
    """Return a node by its unique id."""
    key = f"{kind}.shop.{name}"
    depends = {"nodes": list(needs), "macros": ["macro.shop.check"] if kind == "test" else []}
    return {key: {"unique_id": key, "resource_type": kind, "name": name, "depends_on": depends, "config": {}, **fields}}


def base() -> Manifest:
    data = manifest(source("orders", {"day": "date"}), DAILY)
    data["macros"] = {"macro.shop.check": {"name": "check", "package_name": "shop", "macro_sql": "a"}}
    data["nodes"] |= keyed("test", "one", "model.shop.daily", raw_code="select 1")
    data["unit_tests"] = keyed("unit_test", "unit", "model.shop.daily", given=[])
    data["metrics"] = {
        **keyed("metric", "base", type="simple", type_params={"measure": {"name": "m"}}),
        **keyed(
            "metric", "twice", "metric.shop.base", type="derived", type_params={"expr": "base * 2", "window": None}
        ),
    }
    data["exposures"] = {
        **keyed("exposure", "board", "metric.shop.twice"),
        **keyed("exposure", "old", "model.shop.daily"),
    }
    return data


def diff(folder: Path, edit: Callable[[Manifest], object], before: Manifest | None = None) -> ProjectDiff:
    """Return the diff of an edit of the manifest."""
    data = before or base()
    head = copy.deepcopy(data)
    edit(head)
    return diff_revisions(write(folder / "base", data), write(folder / "head", head))


def edit_test(**fields: Any) -> Callable[[Manifest], object]:
    return lambda data: data["nodes"]["test.shop.one"].update(fields)


@pytest.mark.parametrize(
    ("edit", "chosen"),
    [
        (edit_test(), []),
        (edit_test(config={"tags": ["x"]}, description="text"), []),
        (edit_test(raw_code="select 2"), ["one"]),
        (edit_test(config={"where": "day > 1"}), ["one"]),
        (edit_test(test_metadata={"name": "accepted_values", "kwargs": {"values": [1]}}), ["one"]),
        (lambda data: data["nodes"].update(keyed("test", "two", "model.shop.daily")), ["two"]),
        (lambda data: data["unit_tests"]["unit_test.shop.unit"].update(given=[{"rows": []}]), ["unit"]),
        (lambda data: data["macros"]["macro.shop.check"].update(macro_sql="b"), ["one"]),
    ],
)
def test_new_and_edited_tests_are_run(tmp_path: Path, edit: Callable[[Manifest], object], chosen: list[str]) -> None:
    found = diff(tmp_path, edit)
    assert [one.name for one in found.tests] == chosen
    assert not [one for one in found.tables.values() if one.is_content]


def test_consumers_that_are_edited_or_removed(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        data["metrics"]["metric.shop.base"]["type_params"]["measure"]["filter"] = {"where_filters": ["x"]}
        data["metrics"]["metric.shop.twice"]["type_params"] = {"expr": "base * 2", "conversion_type_params": {}}
        data["metrics"]["metric.shop.twice"]["description"] = "text"
        del data["exposures"]["exposure.shop.old"]

    found = diff(tmp_path, edit)
    assert [(one.kind, one.name, one.effect) for one in found.consumers] == [
        ("exposure", "board", "reads base"),
        ("exposure", "old", "is removed"),
        ("metric", "base", "is edited"),
        ("metric", "twice", "reads base"),
    ]
    assert len(found.failures([FailCondition.EXPOSURE])) == 4
    assert not diff(tmp_path / "same", lambda _: None).consumers


def test_a_seed_without_a_checksum_is_not_unchanged_without_a_word(tmp_path: Path) -> None:
    data = base()
    data["nodes"] |= keyed("seed", "large", database="wh", schema="main", original_file_path="seeds/large.csv",
                           checksum={"name": "path", "checksum": "seeds/large.csv"})  # fmt: skip
    [notice] = diff(tmp_path, lambda _: None, data).notices
    assert notice.startswith("large: dbt has no checksum")

"""The comparison with `state:modified+` is with what dbt itself chooses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_ingest.dbt.artifacts.target_folder import read_artifacts
from lineage_ingest.diff.revisions.manifest_json import ManifestJson
from lineage_ingest.diff.revisions.state_modified import state_modified_plus
from tests.dbt.conftest import run_dbt

_MACRO = "{% macro cents(column) %}({{ column }} / 100){% endmacro %}"


def _replace(path: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(project: Path) -> None:
        text = (project / path).read_text(encoding="utf-8")
        assert old in text
        (project / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def _append(path: str, text: str) -> Callable[[Path], None]:
    def edit(project: Path) -> None:
        with (project / path).open("a", encoding="utf-8") as file:
            file.write(text)

    return edit


def _edit_a_comment_and_a_seed(project: Path) -> None:
    """Neither chooses what the other does: the model, and the seed with its own model."""
    _append("models/staging/stg_customers.sql", "\n-- a remark\n")(project)
    _append("seeds/raw_payments.csv", "114,1,coupon,100\n")(project)


EDITS: dict[str, Callable[[Path], None]] = {
    "a comment and a seed": _edit_a_comment_and_a_seed,
    "a setting": _replace("dbt_project.yml", "materialized: view", "materialized: table"),
    "a macro": _replace("macros/cents.sql", "/ 100", "/ 100.0"),
}


@pytest.fixture(scope="module")
def with_macro(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project with a macro that a model uses, and its artifacts in `base`."""
    project = shutil.copytree(built, tmp_path_factory.mktemp("state") / "jaffle_shop")
    (project / "macros").mkdir(exist_ok=True)
    (project / "macros" / "cents.sql").write_text(_MACRO, encoding="utf-8")
    _append("models/orders.sql", "\n-- {{ cents('amount') }}\n")(project)
    run_dbt(project, "parse")
    shutil.copytree(project / "target", project / "base")
    return project


@pytest.mark.parametrize("name", EDITS)
def test_dbt_chooses_the_same(name: str, with_macro: Path, tmp_path: Path) -> None:
    project = shutil.copytree(with_macro, tmp_path / "edited")
    EDITS[name](project)
    listing = ("--resource-types", "model", "seed", "snapshot", "--output", "json", "--output-keys", "unique_id")
    printed = run_dbt(project, "ls", "-s", "state:modified+", "--state", "base", *listing)
    found = [json.loads(text)["unique_id"] for text in re.findall(r"\{.*?\}", printed)]
    base, head = (ManifestJson.of(read_artifacts(project / one)) for one in ("base", "target"))
    assert state_modified_plus(base, head) == sorted(found)
    assert found

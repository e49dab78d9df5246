"""SARIF reports against the schema that OASIS publishes for SARIF 2.1.0."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from lineage_ingest import RevisionOptions, diff_revisions
from lineage_ingest.diff.project_diff import FailCondition
from lineage_ingest.diff.reports.sarif import diff_to_sarif
from tests.dbt.manifests import manifest, model, relation, source, write

SCHEMA = Path(__file__).parents[1] / "data" / "sarif" / "sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")), validate_formats=True)


def _problems(validator: Any, log: Any) -> list[str]:
    as_text = json.loads(json.dumps(log, default=str))
    return [f"{'/'.join(map(str, one.instance_path))}: {one.message}" for one in validator.iter_errors(as_text)]


def _sql(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.sql").write_text(text, encoding="utf-8")
    return folder


def test_folders_of_sql(tmp_path: Path, validator: Any) -> None:
    tables = "create table raw.t (id int, a int, email text);"
    base = _sql(tmp_path / "base", **{"über uns %": f"{tables} create view v as select id, a, a as b from raw.t"})
    head = _sql(tmp_path / "head", **{
        "über uns %": f"{tables} create view v as select id, a + 1 as a, a as \"c\u001b[1m\" from raw.t where id > 1",
    })  # fmt: skip
    found = diff_revisions(base, head, options=RevisionOptions(dialect="postgres"))
    log = diff_to_sarif(found, list(FailCondition))
    assert len(log["runs"][0]["results"]) >= 3
    assert not _problems(validator, log)


def test_a_dbt_project_with_every_kind_of_result(tmp_path: Path, validator: Any) -> None:
    orders = source("orders", {"id": "int", "amount": "int", "email": "text"})
    orders["columns"]["email"]["tags"] = ["pii"]
    exposure = {
        "unique_id": "exposure.shop.board", "resource_type": "exposure", "name": "board", "owner": {"name": "Sales"},
        "url": "https://bi.example/1", "depends_on": {"nodes": ["model.shop.daily"]},
    }  # fmt: skip

    def project(stg: str, daily: str) -> dict[str, Any]:
        nodes = [orders, model("stg", stg, "source.shop.raw.orders"), model("daily", daily, "stg")]
        return manifest(*nodes, exposures={"exposure.shop.board": exposure})

    raw = '"wh"."raw"."orders"'
    base = project(f"select id, amount, id as gone from {raw}", f"select amount, gone from {relation('stg')}")
    head = project(f"select id, amount / 2 as amount, email from {raw}", f"select amount, gone from {relation('stg')}")
    found = diff_revisions(write(tmp_path / "base", base), write(tmp_path / "head", head))
    log = diff_to_sarif(found, list(FailCondition))
    rules = {one["ruleId"] for one in log["runs"][0]["results"]}
    assert {"removed", "added", "value-changed", "missing-column", "personal-data", "consumer"} <= rules
    assert rules <= {one["id"] for one in log["runs"][0]["tool"]["driver"]["rules"]}
    assert not _problems(validator, log)


def test_no_change_and_a_wrong_report(tmp_path: Path, validator: Any) -> None:
    text = "create view v as select a from t"
    found = diff_revisions(_sql(tmp_path / "a", v=text), _sql(tmp_path / "b", v=text))
    log = diff_to_sarif(found)
    assert log["runs"][0]["results"] == []
    assert not _problems(validator, log)
    wrong = copy.deepcopy(log)
    wrong["runs"][0]["results"] = [{"level": "fatal"}]
    assert _problems(validator, wrong)

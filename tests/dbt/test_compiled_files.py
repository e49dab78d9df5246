"""Models that the last dbt command did not compile: the SQL of an earlier one is read, unless it may be outdated."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest import DbtOptions, ingest_dbt
from lineage_ingest.dbt.project_summary import DbtSummary
from tests.dbt.manifests import manifest, model, relation, write
from tests.dbt.test_again import MART, RAW, STAGED
from tests.dbt.test_broken_artifacts import edges, found

_BASE = 1_700_000_000
_RAW_CODE = "select id, {{ acme_twice('amount') }} as twice from {{ ref('stg') }}"
_COMPILED = f"select id, amount * 2 as twice from {relation('stg')}"
_MACRO = {
    "name": "acme_twice", "package_name": "shop", "original_file_path": "macros/twice.sql", "macro_sql": "?",
    "depends_on": {"macros": ["macro.shop.inner"]},
}  # fmt: skip
_INNER = {
    "name": "inner", "package_name": "acme", "original_file_path": "macros/inner.sql", "macro_sql": "?",
    "depends_on": {"macros": ["macro.dbt.statement"]},
}  # fmt: skip
_SOURCES = (
    "models/mart.sql",
    "models/schema.yml",
    "dbt_project.yml",
    "macros/twice.sql",
    "dbt_packages/acme/macros/inner.sql",
)


def _project(folder: Path, compiled: str | None = _COMPILED, **fields: Any) -> Path:
    """Write a project of which dbt compiled only the staging model this time; return the target folder."""
    mart = model(
        "mart",
        _RAW_CODE,
        "stg",
        compiled_code=None,
        compiled_path=None,
        patch_path="shop://models/schema.yml",
        **fields,
    )
    mart["depends_on"]["macros"] = ["macro.shop.acme_twice"]
    macros = {"macro.shop.acme_twice": _MACRO, "macro.shop.inner": _INNER}
    target = write(folder / "target", manifest(RAW, STAGED, mart, macros=macros))
    for name in _SOURCES:
        _written(folder / name, "", _BASE)
    if compiled is not None:
        _written(target / "compiled" / "shop" / "models" / "mart.sql", compiled, _BASE + 60)
    return target


def _written(path: Path, text: str, at: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at, at))


def _ingest(tmp_path: Path, target: Path) -> DbtSummary:
    return ingest_dbt(target, store=tmp_path / "store.db", options=DbtOptions())


def test_what_was_compiled_before_is_read(tmp_path: Path) -> None:
    summary = _ingest(tmp_path, _project(tmp_path))
    [problem] = summary.diagnostics
    assert (problem.source, str(problem.diagnostic.code), str(problem.diagnostic.severity)) == (
        "manifest.json", "NOT_COMPILED", "info"
    )  # fmt: skip
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}
    assert summary.batch.run.counts["resolved"] == 2


def test_nothing_changes_when_dbt_compiles_another_model(tmp_path: Path) -> None:
    target = _project(tmp_path)
    whole = {**MART, "compiled_code": _COMPILED, "raw_code": _RAW_CODE}
    write(target, manifest(RAW, STAGED, whole))
    _ingest(tmp_path, target)
    target = _project(tmp_path)
    summary = _ingest(tmp_path, target)
    assert summary.unchanged == 2


_CHANGES: dict[str, Callable[[Path], object]] = {
    **{name: lambda folder, name=name: os.utime(folder / name, (_BASE + 90, _BASE + 90)) for name in _SOURCES},  # type: ignore[misc]
    **{f"no {name}": lambda folder, name=name: (folder / name).unlink() for name in _SOURCES},  # type: ignore[misc]
    "other packages": lambda folder: _written(folder / "package-lock.yml", "", _BASE + 90),
    "another target": lambda folder: _rewritten(folder, _COMPILED.replace('"main"', '"dev_ana"')),
    "not text": lambda folder: (folder / "target/compiled/shop/models/mart.sql").write_bytes(b"\xff\xfe select"),
    "nothing compiled": lambda folder: (folder / "target/compiled/shop/models/mart.sql").unlink(),
}


def _rewritten(folder: Path, text: str) -> None:
    _written(folder / "target/compiled/shop/models/mart.sql", text, _BASE + 60)


@pytest.mark.parametrize("change", sorted(_CHANGES))
def test_what_may_be_outdated_is_not_read(tmp_path: Path, change: str) -> None:
    target = _project(tmp_path)
    _CHANGES[change](tmp_path)
    summary = _ingest(tmp_path, target)
    assert found(summary) > {("info", "NOT_COMPILED")}  # the macro is not known
    assert summary.batch.run.counts["resolved"] == 1


def test_a_model_that_reads_no_relation_is_rendered(tmp_path: Path) -> None:
    target = _project(tmp_path, "select 1 as id", depends_on={"nodes": []}, raw_code="select 2 as id, 3 as other")
    summary = _ingest(tmp_path, target)
    assert [one.source for one in summary.diagnostics] == ["models/mart.sql"]


_TEMPLATES = {
    "name": ("select id, {{ target.name }} as name from {{ source('raw', 'orders') }}", True),
    "brackets": ("{% if 1 == 2 or target['schema'] == 'prod' %} {% endif %}", True),
    "type": ("{% if target.type == 'postgres' %} {% endif %}", False),
    "a table": ("select target.id from {{ source('raw', 'orders') }} as target", False),
}


@pytest.mark.parametrize("form", _TEMPLATES)
@pytest.mark.parametrize("where", ["template", "macro", "beside a model"])
def test_another_target_may_have_compiled_it(tmp_path: Path, form: str, where: str) -> None:
    """Sources have the same names for all targets; models do not."""
    template, asks = _TEMPLATES[form]
    needs = {"nodes": ["source.shop.raw.orders"], "macros": ["macro.shop.acme_twice"]}
    compiled = 'select id, amount from "wh"."raw"."orders"'
    if where == "beside a model":
        needs["nodes"], compiled = ["model.shop.stg"], _COMPILED
    macro = {**_MACRO, "macro_sql": template if where == "macro" else "?"}
    target = _project(tmp_path, compiled)
    raw_code = "select 1" if where == "macro" else template
    mart = model("mart", raw_code, compiled_code=None, patch_path="shop://models/schema.yml", depends_on=needs)
    write(target, manifest(RAW, STAGED, mart, macros={"macro.shop.acme_twice": macro, "macro.shop.inner": _INNER}))
    summary = _ingest(tmp_path, target)
    in_doubt = asks and where != "beside a model"
    assert found(summary) == {("info", "NOT_COMPILED"), *([("warning", "NOT_COMPILED")] if in_doubt else [])}
    assert summary.batch.run.counts["partial"] == in_doubt


def test_the_last_batch_of_a_model_is_read(tmp_path: Path) -> None:
    """dbt compiles a microbatch model once for each batch, and leaves none of that in the manifest."""
    config = {"materialized": "incremental", "incremental_strategy": "microbatch", "event_time": "id"}
    target = _project(tmp_path, None, config=config)
    folder = target / "compiled" / "shop" / "models" / "mart"
    _written(folder / "mart_2026-01-01.sql", f"select id from {relation('stg')}", _BASE + 60)
    _written(folder / "mart_2026-01-02.sql", _COMPILED, _BASE + 61)
    summary = _ingest(tmp_path, target)
    assert [one.source for one in summary.diagnostics] == ["manifest.json"]
    assert edges(tmp_path, "mart") == {"stg.id -> id", "stg.amount -> twice"}

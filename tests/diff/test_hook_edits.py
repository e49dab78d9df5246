"""Edits of hooks: one that only keeps a log of its own is run again, and no model's content differs by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dbt.manifests import model, relation
from tests.diff.test_dbt_projects import _config, _diff, _project, _rebuilt, _touched

Manifest = dict[str, Any]
LOG = "insert into audit.kept (id, kept_at) select id, {} from {{{{ this }}}}"
ALL = {"codes", "stg", "log", "daily", "named", "top"}


def _hook(data: Manifest, *hooks: str) -> None:
    _config(data, "daily")["post-hook"] = [{"sql": one} for one in hooks]


def _operation(data: Manifest, sql: str, kind: str = "on-run-end") -> None:
    key = f"operation.shop.shop-{kind}-0"
    data["nodes"][key] = {
        **model(f"shop-{kind}-0", sql), "unique_id": key, "resource_type": "operation", "tags": [kind], "index": 0,
        "compiled_code": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "is_apart"),
    [
        ("insert into audit.kept select 1", "insert into audit.kept select 2", True),
        ("grant select on wh.main.daily to a", "grant select on wh.main.daily to b", True),
        ("insert into audit.kept select 1", "insert into audit.kept select 2; create schema if not exists x", True),
        ("delete from audit.kept", "delete from audit.kept where id > 1", True),
        ("", "insert into audit.kept select count(*) from wh.main.daily", True),
        ("insert into audit.kept select 1", "insert into audit.kept select f(2)", False),
        ("insert into audit.kept select 1", "create function f() returns int language sql as 'select 1'", False),
        ("set timezone = 'UTC'", "set timezone = 'Europe/Berlin'", False),
        ("update wh.main.daily set total = 1", "update wh.main.daily set total = 2", False),
        ("insert into audit.named_rates select 1", "insert into audit.named_rates select 2", False),
        ("insert into x.{{ f() }} select 1", "insert into x.{{ f() }} select 2", False),
        ("no sql at all", "no sql at all, too", False),
    ],
)
def test_hooks_of_the_project(tmp_path: Path, first: str, second: str, is_apart: bool) -> None:
    base = _project()
    base["nodes"]["model.shop.named"]["compiled_code"] += " join audit.named_rates using (id)"
    if first:
        _operation(base, first)
    diff = _diff(tmp_path, lambda data: _operation(data, second), base)
    assert _touched(diff) == (set() if is_apart else ALL)
    assert any("wh.audit.kept" in one for one in diff.notices) == ("kept" in first + second)


@pytest.mark.parametrize(
    ("edit", "touched", "rebuilt"),
    [
        (lambda data: None, set(), set()),
        (lambda data: _hook(data, LOG.format("2")), set(), {"daily"}),
        (lambda data: _hook(data, LOG.format("1"), "grant select on {{ this }} to b"), set(), {"daily"}),
        (_hook, set(), {"daily"}),
        (lambda data: _hook(data, "delete from {{ this }}"), {"daily", "top"}, {"daily", "top"}),
        (lambda data: _hook(data, LOG.format("1"), "call audit.refresh()"), {"daily", "top"}, {"daily", "top"}),
        (lambda data: _hook(data, LOG.format("1"), "select audit.refresh()"), {"daily", "top"}, {"daily", "top"}),
    ],
    ids=["none", "its values", "a grant more", "removed", "rows of the model", "a call", "a call in a query"],
)
def test_hooks_of_a_model(
    tmp_path: Path, edit: Callable[[Manifest], object], touched: set[str], rebuilt: set[str]
) -> None:
    base = _project()
    _hook(base, LOG.format("1"))
    diff = _diff(tmp_path, edit, base)
    assert (_touched(diff), _rebuilt(diff)) == (touched, rebuilt)


def test_a_log_that_a_model_or_another_hook_reads_is_not_apart(tmp_path: Path) -> None:
    for reader in (
        lambda data: data["nodes"].update({"model.shop.r": model("r", "select id from audit.kept")}),
        lambda data: _config(data, "top").update(
            {"post-hook": ["insert into wh.main.top select id, 1 from audit.kept"]}
        ),
        lambda data: _config(data, "top").update({"post-hook": ["call refresh('kept')"]}),
    ):
        base = _project()
        reader(base)
        _hook(base, LOG.format("1"))
        assert {"daily", "top"} <= _touched(_diff(tmp_path, lambda data: _hook(data, LOG.format("2")), base))


def test_a_table_that_hooks_of_two_models_write(tmp_path: Path) -> None:
    """Each writes, none reads."""
    base = _project()
    _hook(base, LOG.format("1"))
    _config(base, "top")["post-hook"] = [{"sql": f"insert into audit.kept select 1 from {relation('top')}"}]
    diff = _diff(tmp_path, lambda data: _hook(data, LOG.format("2")), base)
    assert (_touched(diff), _rebuilt(diff)) == (set(), {"daily"})


def test_a_hook_that_is_gone_is_said(tmp_path: Path) -> None:
    base = _project()
    _hook(base, LOG.format("1"))
    notices = [one for one in _diff(tmp_path, _hook, base).notices if "hook" in one]
    said = "the post-hook of daily wrote wh.audit.kept before this change"
    assert notices == [f"{said}: what reads that is neither listed nor built again"]


def test_a_table_that_two_hooks_of_a_model_write_is_named_once(tmp_path: Path) -> None:
    def edit(data: Manifest) -> None:
        texts = (LOG.format(number) for number in (1, 2))
        _config(data, "daily")["post-hook"] = [{"sql": text} for text in texts]

    notices = [one for one in _diff(tmp_path, edit, _project()).notices if "hook" in one]
    said = "the post-hook of daily writes wh.audit.kept"
    assert notices == [f"{said}: what reads that is neither listed nor built again"]

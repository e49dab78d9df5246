"""A package outside ours teaches the extractor its functions and statements: the example of the documentation."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage import extract
from lineage.sql.plugins import Rules, installed_rules

MODULE = """
def register(rules):
    rules.masking("vault_tokenize")
    rules.aggregate("approx_top")
    rules.table_function("vault_scan", ["id", "payload"])
    rules.command("VAULTCOPY", r"FROM (?P<upstream>\\S+) TO (?P<destination>\\S+)")
"""


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with an entry point, as pip would leave it."""
    (tmp_path / "vault_sql.py").write_text(MODULE, encoding="utf-8")
    info = tmp_path / "vault_sql-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vault-sql\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[lineage.rules]\nvault = vault_sql:register\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    installed_rules.cache_clear()
    yield
    sys.modules.pop("vault_sql", None)
    installed_rules.cache_clear()


def edges(sql: str) -> list[str]:
    return [str(edge) for statement in extract(sql, "postgres") for edge in statement.edges]


@pytest.mark.usefixtures("vault")
def test_functions() -> None:
    assert edges("SELECT vault_tokenize(email) AS t, approx_top(x) AS x FROM users") == [
        "users.email -> t [TRANSFORMATION masking]",
        "users.x -> x [AGGREGATION]",
    ]


@pytest.mark.usefixtures("vault")
def test_table_functions() -> None:
    found = edges("SELECT v.* FROM jobs j, vault_scan(j.path) v")
    assert found[:2] == ["jobs.path -> id [TRANSFORMATION]", "jobs.path -> payload [TRANSFORMATION]"]


@pytest.mark.usefixtures("vault")
def test_commands() -> None:
    [statement] = extract("VAULTCOPY FROM Shop.Orders TO archive", "postgres", default_schema="cold")
    assert (statement.operation, statement.target, statement.sources) == ("VAULTCOPY", "cold.archive", ["shop.orders"])
    assert statement.completeness == "tables"


def test_without_the_package_nothing_is_known_of_it() -> None:
    assert edges("SELECT vault_tokenize(email) AS t FROM users") == ["users.email -> t [TRANSFORMATION]"]


@pytest.mark.parametrize("pattern", ["(", "FROM x"])
def test_a_wrong_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="the pattern of X"):
        Rules().command("X", pattern)

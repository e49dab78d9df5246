"""A package adds lineage of plan nodes that we do not know: read, computed and written. docs/spark.md shows it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest.spark_plan import extensions as extensions_module
from lineage_ingest.spark_plan.datasets import Catalogs
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.plan_lineage import read_lineage
from tests.spark_plan.lineage_text import edges_of

ID, PLAIN = [1, "id", "bigint"], [3, "plain", "string"]
# A plan as the listener writes it: a scan, a node that computes a column, a command that writes.
PLAN: list[list[Any]] = [
    ["AttributeReference", {"exprId": 1, "name": "id"}, {}],
    ["AttributeReference", {"exprId": 2, "name": "secret"}, {}],
    ["com.vault.Scan", {"table": "people", "columns": [ID, [2, "secret", "string"]]}, {"output": [0, 1]}],
    ["AttributeReference", {"exprId": 3, "name": "plain"}, {}],
    ["com.vault.Decrypt", {"columns": [ID, PLAIN]}, {"secrets": [1], "plains": [3], "child": 2}],
    ["com.vault.Save", {"table": "safe", "columns": [ID, PLAIN], "writes": True}, {"query": 4}],
]
PACKAGE = """
def decrypted(node):
    return {plain.expr_id: [secret] for plain, secret in zip(node.list("plains"), node.list("secrets"))}


def register(extensions):
    extensions.plan("com.vault.Scan", inputs=lambda node: [("vault://prod", node.properties["table"])])
    extensions.plan("com.vault.Decrypt", dependencies=decrypted)
    extensions.write("com.vault.Save", outputs=lambda node: [("vault://prod", node.properties["table"])])
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with an entry point."""
    (tmp_path / "vault_spark.py").write_text(PACKAGE)
    info = tmp_path / "vault_spark-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vault-spark\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lineage.spark_plan]\nvault = vault_spark:register\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    extensions_module.installed_extensions.cache_clear()
    yield
    extensions_module.installed_extensions.cache_clear()
    sys.modules.pop("vault_spark", None)


def test_a_package_adds_lineage(package: None) -> None:
    [write] = read_lineage(PLAN, Catalogs(), KnownFrames()).writes
    assert (write.target.namespace, write.target.name) == ("vault://prod", "safe")
    assert edges_of(write) == [
        "people ~> * [ROWS]",
        "people.id -> id [IDENTITY]",
        "people.secret -> plain [TRANSFORMATION]",
    ]
    assert write.diagnostics == ()


def test_without_it_nothing_is_invented_and_it_is_said() -> None:
    plan = [*PLAN[:-1], ["InsertIntoHadoopFsRelationCommand", {**PLAN[-1][1], "outputPath": "file:/out"}, {"query": 4}]]
    [write] = read_lineage(plan, Catalogs(), KnownFrames()).writes
    assert edges_of(write) == []
    assert {str(one.code) for one in write.diagnostics} == {"UNKNOWN_TABLE", "UNSUPPORTED_SYNTAX"}
    assert str(write.completeness) == "partial"


@pytest.mark.parametrize(
    "plan",
    [[], [["Project"]], [["Project", {}, {"child": 0}]], [["Project", {}, {"child": "x"}]], [["A", {}, {}], None]],
)
def test_what_is_no_plan_is_refused(plan: Any) -> None:
    with pytest.raises(ValueError, match="plan"):
        read_lineage(plan, Catalogs(), KnownFrames())

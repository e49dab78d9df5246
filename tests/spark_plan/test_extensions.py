"""A package adds lineage of plan nodes that we do not know: read, computed and written. docs/spark.md shows it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest.spark_plan import extensions as extensions_module
from lineage_ingest.spark_plan.frames import KnownFrames
from lineage_ingest.spark_plan.listener.events import Application
from lineage_ingest.spark_plan.listener.executions import Executions
from lineage_ingest.spark_plan.plan_lineage import read_lineage
from lineage_ingest.spark_plan.tables.datasets import Catalogs
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


def test_a_write_to_what_is_not_known_is_counted_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    executions = Executions(Application.of("spark", "job", "app", "4.2"), Catalogs(), lambda _: None)
    save = [
        "SaveIntoDataSourceCommand",
        {"dataSource": "com.vault.Sink", "columns": [ID], "writes": True},
        {"query": 2},
    ]
    for number in (1, 2):
        executions.take({"id": number, "root": number, "begin": 0, "end": 1, "nodes": [*PLAN[:3], save]})
    assert (executions.counts.unknown, executions.counts.writes) == (2, 0)
    [record] = caplog.records
    assert "SaveIntoDataSourceCommand com.vault.Sink" in record.getMessage()


def test_a_node_that_cannot_be_read_costs_only_itself() -> None:
    project = ["Project", {"columns": [ID]}, {"projectList": [0]}]  # without a child
    write = ["InsertIntoHadoopFsRelationCommand", {"columns": [ID], "writes": True, "outputPath": "file:/out"}]
    [found] = read_lineage([PLAN[0], project, [*write, {"query": 1}]], Catalogs(), KnownFrames()).writes
    [diagnostic] = found.diagnostics
    assert (str(diagnostic.code), str(found.completeness)) == ("UNSUPPORTED_SYNTAX", "partial")


@pytest.mark.parametrize(
    "plan",
    [[], [["Project"]], [["Project", {}, {"child": 0}]], [["Project", {}, {"child": "x"}]], [["A", {}, {}], None]],
)
def test_what_is_no_plan_is_refused(plan: Any) -> None:
    with pytest.raises(ValueError, match="plan"):
        read_lineage(plan, Catalogs(), KnownFrames())

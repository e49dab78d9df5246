"""What `deploy/` names exists: commands and their options, settings, metrics, values of the chart."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client import REGISTRY

from lineage_graphql.monitoring import metrics
from lineage_graphql.monitoring.ingest_ages import LAST_INGEST, STORE_UP
from tests.docs.runner import parse

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm" / "lineage"
PACKAGES = ("lineage", "ingest/lineage_ingest", "graphql/lineage_graphql", "editors/lineage_editor")
PRODUCT = [DEPLOY.parent / folder for folder in PACKAGES]
SETTINGS = ("Dockerfile", "compose.yaml", "helm/lineage/templates/_helpers.tpl", "helm/lineage/templates/ingests.yaml")


def commands() -> Iterator[list[str]]:
    """Yield the arguments of each `lineage` that starts somewhere."""
    [command] = re.findall(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    yield json.loads(command)
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    yield from (one["command"] for one in services.values() if "command" in one and one["image"].startswith("lineage:"))
    service = (CHART / "templates" / "service.yaml").read_text()
    listed = re.findall(r"^ +- (serve|--[a-z-]+(?:=\S.*)?)$", service, re.MULTILINE)
    values = {"workers": "1", "port": "8000", "$name": "seconds", "$number": "5"}
    yield [re.sub(r"\{\{ ?[^}]*?([$\w]+) ?\}\}", lambda one: values.get(one[1], "x"), each) for each in listed]
    for line in re.findall(r"args: (\[.*\])$", (CHART / "values.yaml").read_text(), re.MULTILINE):
        yield ["ingest", *yaml.safe_load(line)]
    for line in re.findall(r"^ +(lineage .*)$", (CHART / "templates" / "backup.yaml").read_text(), re.MULTILINE):
        yield shlex.split(line)[1:]
    for node in ast.walk(ast.parse((DEPLOY / "airflow" / "lineage_ingest.py").read_text())):
        if isinstance(node, ast.keyword) and node.arg == "bash_command":
            text = "".join(str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant))
            yield from (shlex.split(part)[1:] for part in text.split("&&") if part.strip().startswith("lineage"))


@pytest.mark.parametrize("arguments", list(commands()), ids=" ".join)
def test_commands_have_these_options(arguments: list[str]) -> None:
    parse(arguments)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_read(name: str) -> None:
    source = "\n".join(path.read_text() for folder in PRODUCT for path in folder.rglob("*.py"))
    wanted = set(re.findall(r"\bLINEAGE_[A-Z0-9_]+", (DEPLOY / name).read_text()))
    assert wanted
    assert {one for one in wanted if f'"{one}"' not in source} == set()


@pytest.mark.parametrize("name", ["grafana/lineage.json", "prometheus/alerts.yaml"])
def test_metrics_are_there(name: str) -> None:
    assert metrics.REQUESTS
    known = {sample for family in REGISTRY.collect() for sample in (family.name, *_series(family.name, family.type))}
    used = set(re.findall(r"\b(?:lineage|process)_[a-z_]+(?=[\[{)\s,])", " ".join(expressions(DEPLOY / name))))
    assert used
    assert used - known - {STORE_UP, LAST_INGEST} == set()


def _series(name: str, kind: str) -> list[str]:
    return {"counter": [f"{name}_total"], "histogram": [f"{name}_bucket", f"{name}_sum", f"{name}_count"]}.get(kind, [])


def expressions(file: Path) -> Iterator[str]:
    """Yield the queries of a dashboard or of alerts."""
    stack: list[Any] = [yaml.safe_load(file.read_text())]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield from (f"{one} " for key, one in value.items() if key == "expr")
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def test_the_chart_uses_values_that_it_has() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    used = set()
    for template in (CHART / "templates").iterdir():
        used |= set(re.findall(r"\.Values\.([\w.]+)", template.read_text()))
    for path in used:
        value: Any = values
        for part in path.split("."):
            assert isinstance(value, dict), path
            assert part in value, path
            value = value[part]
    assert {one.split(".")[0] for one in used} == set(values), "a value that no template reads"


def test_versions_agree() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    [version] = re.findall(r'^version = "(.*)"$', project, re.MULTILINE)
    images = re.findall(r"image: lineage:(\S+)", (DEPLOY / "compose.yaml").read_text())
    assert {chart["appVersion"], *images} == {version}
    [maturin] = re.findall(r"maturin==([\d.]+)", (DEPLOY / "Dockerfile").read_text())
    assert f'"maturin=={maturin}"' in project


def test_the_image_has_every_package() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    copied = {source for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE) for source in line.split()[:-1]}
    kept = set(re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    settings = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    packages = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {one for one in packages if not {one, one.split("/")[0]} & copied} == set()
    assert copied - {"lineage/native", "lineage/sql/scan/facts.txt"} <= kept

"""The examples for CI: they are YAML, and their commands are ones that `lineage` has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from lineage_ingest.diff.reports.markdown import MARKER
from tests.cli.running import lineage

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "deploy" / "ci").glob("*.y*ml"))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def test_there_is_one_for_each() -> None:
    assert [path.stem for path in EXAMPLES] == ["github", "gitlab", "pre-commit"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_commands(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command runs as written, over folders where the example has them."""
    texts = _texts(yaml.safe_load(path.read_text(encoding="utf-8")))
    found = [line.strip() for text in texts for line in text.splitlines() if line.strip().startswith("lineage diff")]
    assert len(found) == 1
    words = shlex.split(found[0])[1:]
    before, after = (words[words.index(name) + 1] for name in ("--base", "--head"))
    work = tmp_path / "project"
    for folder in ("base", "models", "target"):
        (work / folder).mkdir(parents=True)
        (work / folder / "a.sql").write_text("create view a as select b from c", encoding="utf-8")
    monkeypatch.chdir(work)
    words = ["base" if word == before else word for word in words]
    assert after in ("models", "target")
    done = lineage(*words)
    assert done.code == 0, done.out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_no_package_is_installed_that_no_index_has(path: Path) -> None:
    texts = _texts(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert not [text for text in texts if "lineage-graph" in text]
    assert "in no package index yet" in path.read_text(encoding="utf-8")


def test_the_comment_is_found_by_its_marker() -> None:
    github = (ROOT / "deploy" / "ci" / "github.yml").read_text(encoding="utf-8")
    assert re.search(rf'startswith\("{re.escape(MARKER)}"\)', github)

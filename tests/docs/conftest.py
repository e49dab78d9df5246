"""The folder that pages run in: the example of the first page, as that page makes it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.docs.runner import ROOT, Runner


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files and the store of docs/index.md."""
    folder, before = tmp_path_factory.mktemp("shop"), Path.cwd()
    os.chdir(folder)
    try:
        with Runner(ROOT / "docs" / "index.md") as runner:
            for block, result in runner.steps():
                runner.run(block, result)
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shop's folder, as the working directory."""
    copy = tmp_path / "shop"
    shutil.copytree(shop, copy)
    monkeypatch.chdir(copy)
    for name in ("LINEAGE_STORE", "LINEAGE_DIALECT", "LINEAGE_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return copy

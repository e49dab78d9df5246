"""The wheel builds, and its commands run without the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv") or ROOT / ".uv/bin/uv"
COMMANDS = ("impact", "ingest", "follow", "serve", "mcp", "token", "demo", "neo4j")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], check=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def _lineage(site: Path, *arguments: str | Path) -> str:
    """Run the command with the wheel's modules before those of the checkout."""
    return _python(site, "from lineage.cli.main import run; run()", *arguments)


def _python(site: Path, code: str, *arguments: str | Path) -> str:
    source = f"import lineage; assert lineage.__file__.startswith({str(site)!r})\n{code}"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", source, *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=site, check=True, capture_output=True, text=True).stdout


def test_every_command_shows_its_help(unpacked: Path) -> None:
    code = """
import contextlib, sys
from lineage.cli.main import run
for command in sys.argv[1:]:
    sys.argv[1:] = [command, "--help"]
    with contextlib.suppress(SystemExit):
        run()
"""
    assert _python(unpacked, code, *COMMANDS).count("Usage:") == len(COMMANDS)


def test_a_file_is_ingested_and_asked_about(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "v.sql").write_text("CREATE VIEW v AS SELECT a FROM t;")
    store = tmp_path / "store.db"
    _lineage(unpacked, "ingest", "sql", tmp_path / "v.sql", "--store", store)
    assert "1 column in 1 table depends on t.a" in _lineage(unpacked, "impact", "t.a", "--store", store)

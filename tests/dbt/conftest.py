"""dbt's example project, built once on DuckDB by the published dbt."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DBT = ROOT / ".venv-dbt" / "bin" / "dbt"
EVENTS = "events.ndjson"
"""File in the project with the OpenLineage events of the build."""


def run_dbt(project: Path, *arguments: str) -> str:
    """Run dbt in a project, a build with OpenLineage's agent; return what it prints."""
    program = DBT.with_name("dbt-ol") if arguments[0] == "build" else DBT
    assert program.exists(), "make test installs dbt"
    done = subprocess.run(
        [program, "--log-format-file", "json", "--log-level-file", "debug", *arguments, "--profiles-dir", "."],
        capture_output=True, text=True, timeout=240, check=False, cwd=project,
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "PATH": f"{DBT.parent}:{os.environ['PATH']}",
             "OPENLINEAGE__TRANSPORT__TYPE": "file", "OPENLINEAGE__TRANSPORT__APPEND": "true",
             "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(project / EVENTS)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4_000:]
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return jaffle_shop after `dbt build`; tests must not change it."""
    project = tmp_path_factory.mktemp("dbt") / "jaffle_shop"
    shutil.copytree(ROOT / "tests" / "data" / "jaffle_shop", project)
    run_dbt(project, "build")
    return project


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    """Return a copy of the built project, to change."""
    return shutil.copytree(built, tmp_path / "jaffle_shop")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the state of ingests apart from the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

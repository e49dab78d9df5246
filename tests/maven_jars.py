"""Jars that tests need, fetched once by Maven into the user's cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import platformdirs
import pytest

from lineage.neo4j_server.home import exclusive

__all__ = ["fetched"]

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


def fetched(name: str, artifacts: tuple[str, ...]) -> Path:
    """Return the folder with the jars of these artifacts, fetched by Maven if they are not there yet."""
    versions = "-".join(artifact.rpartition(":")[2] for artifact in artifacts)
    cache = platformdirs.user_cache_path("lineage-graph", appauthor=False) / "tests"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"{name}-{versions}"
    with exclusive(cache / f"{name}.lock"):
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=cache) as work:
                _fetch(artifacts, Path(work), alone=len(artifacts) > 1)
                (Path(work) / "jars").rename(folder)
    return folder


def _fetch(artifacts: tuple[str, ...], work: Path, *, alone: bool) -> None:
    places = (dict(zip(("groupId", "artifactId", "version"), one.split(":"), strict=True)) for one in artifacts)
    listed = "".join(
        f"<dependency>{''.join(f'<{tag}>{text}</{tag}>' for tag, text in place.items())}{_ALONE * alone}</dependency>"
        for place in places
    )
    (work / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>lineage</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{listed}</dependencies></project>"
    )
    maven = shutil.which("mvn")
    if maven is None:
        pytest.fail(f"{artifacts[0]} is fetched by Maven, and mvn is not on PATH", pytrace=False)
    command = (maven, "--batch-mode", "-q", "-f", str(work / "pom.xml"), _COPY, "-DincludeScope=runtime")
    done = subprocess.run(
        (*command, f"-DoutputDirectory={work / 'jars'}"), capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        pytest.fail(f"Maven could not fetch {', '.join(artifacts)}:\n{done.stdout[-2_000:]}", pytrace=False)

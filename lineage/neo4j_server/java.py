"""Find a Java that can run Neo4j."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from lineage.frozen import frozen
from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.release import MINIMUM_JAVA

__all__ = ["Java", "find_java", "java_version"]

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_INSTALL = (
    f"install OpenJDK {MINIMUM_JAVA} or newer (Debian: apt-get install openjdk-{MINIMUM_JAVA}-jre-headless; "
    "macOS: brew install openjdk@21), or set JAVA_HOME"
)


@frozen
class Java:
    """A Java launcher and its major version."""

    path: Path
    version: int


def java_version(text: str) -> int | None:
    """Return the major version that `java -version` printed, or None.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_392"')
    (17, 8)
    """
    found = _VERSION.search(text)
    return int(found.group(1)) if found else None


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """Return the first Java that is new enough: that of JAVA_HOME, else the one on PATH.

    Raises:
        ServerSetupError: no Java is installed, or only older versions; the message names what to install.
    """
    environment = os.environ if environment is None else environment
    found = [java for path in _candidates(environment) if (java := _ask(path))]
    for java in found:
        if java.version >= MINIMUM_JAVA:
            return java
    which = ", ".join(f"Java {java.version} at {java.path}" for java in found) or "none"
    raise ServerSetupError(f"Neo4j needs Java {MINIMUM_JAVA} or newer; found {which}", _INSTALL)


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        yield Path(on_path)


def _ask(path: Path) -> Java | None:
    try:
        answer = subprocess.run(
            [path, "-version"], capture_output=True, text=True, errors="replace", timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # macOS ships a stub launcher that fails if no Java is installed.
    version = java_version(answer.stderr + answer.stdout) if answer.returncode == 0 else None
    return Java(path, version) if version else None

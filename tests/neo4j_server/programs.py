"""Stand-ins for Java, Maven and Neo4j: small scripts that say or do what a test needs."""

from __future__ import annotations

from pathlib import Path


def write_program(folder: Path, name: str, script: str) -> Path:
    """Return the path of a new executable script of /bin/sh in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def java_saying(folder: Path, version: str) -> Path:
    """Return a `java` that prints that version, as Java does, on standard error."""
    return write_program(folder, "java", f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")

"""The programs that can download Neo4j's jars with their dependencies: Maven, or the Ivy in pyspark."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from lineage.frozen import frozen
from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.java import Java
from lineage.neo4j_server.release import ARTIFACTS

__all__ = ["JarResolver", "find_ivy", "find_resolver", "ivy_resolver", "maven_resolver"]

# Pinned, because the default version depends on the Maven version.
_COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


@frozen
class JarResolver:
    """A command that copies the jars into a folder, its input file, and how to parse its output.

    Downloads go into a separate repository folder: the user's own would be left with POM files without jars, which
    make Spark's Ivy fail later.

    An output line that contains all of `fetched` reports one jar; a line that contains `error` is an error message.
    """

    name: str
    command: tuple[str, ...]
    project: Path
    text: str
    fetched: tuple[str, ...]
    error: str
    offline: tuple[str, ...] | None = None
    """The command that copies the jars from the local repository, without network access."""


def find_resolver(java: Java, work: Path, target: Path, environment: Mapping[str, str] | None = None) -> JarResolver:
    """Return Maven if it is on PATH, else the Ivy of an installed pyspark; `work` is the folder for its files.

    Raises:
        ServerSetupError: neither is installed.
    """
    environment = os.environ if environment is None else environment
    if maven := shutil.which("mvn", path=environment.get("PATH", os.defpath)):
        return maven_resolver(Path(maven), work, target)
    if ivy := find_ivy():
        return ivy_resolver(java, ivy, work, target)
    raise ServerSetupError(
        "Neo4j's jars are fetched by Maven or by the Ivy of pyspark, and neither is here",
        "install Maven (Debian: apt-get install maven; macOS: brew install maven) or pyspark",
    )


def find_ivy() -> Path | None:
    """Return the newest Ivy among the jars of an installed pyspark, without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    return max((Path(spec.origin).parent / "jars").glob("ivy-*.jar"), default=None)


def maven_resolver(maven: Path, work: Path, target: Path) -> JarResolver:
    """Return the Maven command that copies the jars into `target`."""
    project = work / "pom.xml"
    dependencies = "".join(
        f"    <dependency><groupId>{artifact.group}</groupId><artifactId>{artifact.name}</artifactId>"
        f"<version>{artifact.version}</version></dependency>\n"
        for artifact in ARTIFACTS
    )
    text = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n'
        "  <modelVersion>4.0.0</modelVersion>\n"
        "  <groupId>lineage</groupId><artifactId>neo4j-jars</artifactId><version>1</version>\n"
        f"  <dependencies>\n{dependencies}  </dependencies>\n"
        "</project>\n"
    )
    command = (
        *(str(maven), "--batch-mode", "-Dstyle.color=never", "--file", str(project), _COPY_DEPENDENCIES),
        *("-DincludeScope=runtime", f"-DoutputDirectory={target}"),
    )
    own = (*command, f"-Dmaven.repo.local={work / 'repository'}")
    return JarResolver("Maven", own, project, text, ("Downloaded from", ".jar"), "[ERROR]", (*command, "--offline"))


def ivy_resolver(java: Java, ivy: Path, work: Path, target: Path) -> JarResolver:
    """Return the Ivy command that copies the jars into `target`."""
    project = work / "ivy.xml"
    dependencies = "".join(
        f'    <dependency org="{artifact.group}" name="{artifact.name}" rev="{artifact.version}"'
        ' conf="default->master,runtime"/>\n'
        for artifact in ARTIFACTS
    )
    text = (
        '<ivy-module version="2.0">\n'
        '  <info organisation="lineage" module="neo4j-jars"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        f"  <dependencies>\n{dependencies}  </dependencies>\n"
        "</ivy-module>\n"
    )
    pattern = f"{target}/[artifact]-[revision](-[classifier]).[ext]"
    command = (
        *(str(java.path), "-cp", str(ivy), "org.apache.ivy.Main", "-cache", str(work / "cache")),
        *("-ivy", str(project), "-confs", "default", "-retrieve", pattern),
    )
    return JarResolver("Ivy", command, project, text, ("[SUCCESSFUL ]", ".jar"), "::")

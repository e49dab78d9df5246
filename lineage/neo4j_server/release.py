"""The Neo4j version and the Java options it needs: versions are defined only here."""

from __future__ import annotations

import os

from lineage.frozen import frozen

__all__ = ["ADMIN_CLASS", "ARTIFACTS", "JVM_OPTIONS", "MINIMUM_JAVA", "SERVER_CLASS", "VERSION", "Artifact"]

VERSION = os.environ.get("LINEAGE_NEO4J_VERSION", "5.26.18")
"""The long-term support line; others are for those who try them (`make contract-neo4j-latest`)."""
MINIMUM_JAVA = 17 if VERSION.startswith("5.") else 21

SERVER_CLASS = "org.neo4j.server.CommunityEntryPoint" if VERSION.startswith("5.") else "org.neo4j.server.Neo4jCommunity"
ADMIN_CLASS = "org.neo4j.cli.AdminTool"


@frozen
class Artifact:
    """A published jar; its dependencies are resolved transitively."""

    group: str
    name: str
    version: str

    @property
    def jar(self) -> str:
        """The jar's file name.

        >>> Artifact("org.neo4j", "neo4j", "5.26.18").jar
        'neo4j-5.26.18.jar'
        """
        return f"{self.name}-{self.version}.jar"


ARTIFACTS = (
    Artifact("org.neo4j", "neo4j", VERSION),
    Artifact("org.neo4j.app", "neo4j-server", VERSION),
    Artifact("org.neo4j.client", "neo4j-browser", "5.24.0"),
)

# Neo4j needs reflective access to these packages, which Java closes by default.
_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent", "java.lang")

JVM_OPTIONS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
)

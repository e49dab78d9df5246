"""Run a Neo4j server on this machine without Docker: jars from Maven Central, run by the installed Java.

Nothing here imports the driver, so starting and stopping a server does not need the extra `neo4j`.
"""

from lineage.neo4j_server.errors import ServerError, ServerSetupError, ServerStartError
from lineage.neo4j_server.home import ServerHome, default_home
from lineage.neo4j_server.jars import ensure_jars
from lineage.neo4j_server.managed import (
    ManagedServer,
    ServerStatus,
    managed_server,
    server_status,
    stop_server,
)
from lineage.neo4j_server.settings import ServerSettings
from lineage.neo4j_server.startup import start_server

__all__ = [
    "ManagedServer",
    "ServerHome",
    "ServerSettings",
    "ServerError",
    "ServerSetupError",
    "ServerStartError",
    "ServerStatus",
    "default_home",
    "ensure_jars",
    "managed_server",
    "server_status",
    "start_server",
    "stop_server",
]

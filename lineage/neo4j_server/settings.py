"""The settings of a local server, and its configuration file."""

from __future__ import annotations

import json
import re

from lineage.frozen import frozen
from lineage.neo4j_server.errors import ServerSetupError

__all__ = ["BROWSER_STYLE", "HOST", "ServerSettings", "render_configuration"]

HOST = "127.0.0.1"

# As JSON, because Browser splits its initial commands at the semicolons of CSS.
BROWSER_STYLE = json.dumps(
    {
        "node": {
            "diameter": "65px",
            "color": "#A5ABB6",
            "border-color": "#9AA1AC",
            "border-width": "2px",
            "text-color-internal": "#FFFFFF",
            "font-size": "10px",
        },
        "node.Column": {
            "color": "#57C7E3",
            "border-color": "#23B3D7",
            "text-color-internal": "#2A2C34",
            "caption": "{path} {name}",
        },
        "node.Table": {
            "color": "#F79767",
            "border-color": "#F36924",
            "text-color-internal": "#FFFFFF",
            "caption": "{name}",
        },
        "relationship": {
            "color": "#A5ABB6",
            "shaft-width": "1px",
            "font-size": "8px",
            "padding": "3px",
            "text-color-external": "#000000",
            "text-color-internal": "#FFFFFF",
            "caption": "<type>",
        },
    },
    separators=(",", ":"),
)
"""How Neo4j Browser shows the graph: a column by its name, then its table; what follows `:style`."""

_SIZE = re.compile(r"[1-9]\d*[kmgKMG]")


@frozen
class ServerSettings:
    """Memory (sizes such as `512m`) and ports; without a port, the one used before or a free one is used.

    Raises:
        ServerSetupError: a size or a port is invalid.
    """

    heap: str = "512m"
    page_cache: str = "256m"
    bolt_port: int | None = None
    http_port: int | None = None

    def __post_init__(self) -> None:
        for name, size in (("heap", self.heap), ("page cache", self.page_cache)):
            if not _SIZE.fullmatch(size):
                raise ServerSetupError(f"{name} of {size!r} is not a size", "write it as 512m or 2g")
        for name, port in (("Bolt", self.bolt_port), ("HTTP", self.http_port)):
            if port is not None and not 0 < port < 65536:
                raise ServerSetupError(f"{port} is not a port for {name}", "give one from 1 to 65535")
        if self.bolt_port is not None and self.bolt_port == self.http_port:
            raise ServerSetupError(f"Bolt and HTTP cannot share port {self.bolt_port}", "give two ports")


def render_configuration(settings: ServerSettings, bolt_port: int, http_port: int) -> str:
    """Return the text of neo4j.conf: it listens on loopback only, without usage reporting.

    >>> print(render_configuration(ServerSettings(), 7687, 7474).splitlines()[1])
    server.default_listen_address=127.0.0.1
    """
    lines = {
        "server.default_listen_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{bolt_port}",
        # Neo4j Browser connects to the advertised address, not to the address that served it.
        "server.bolt.advertised_address": f"{HOST}:{bolt_port}",
        "server.http.listen_address": f"{HOST}:{http_port}",
        "server.http.advertised_address": f"{HOST}:{http_port}",
        "server.https.enabled": "false",
        "server.memory.heap.initial_size": settings.heap,
        "server.memory.heap.max_size": settings.heap,
        "server.memory.pagecache.size": settings.page_cache,
        # By default an empty database takes half a gigabyte of disk.
        "db.tx_log.preallocate": "false",
        # Browser runs this when it connects; its setting "Initial commands" turns that off.
        "browser.post_connect_cmd": f"style {BROWSER_STYLE}",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
    }
    text = "".join(f"{name}={value}\n" for name, value in lines.items())
    return f"# Written by `lineage neo4j start` at each start: changes made here are lost.\n{text}"

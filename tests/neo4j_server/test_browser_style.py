"""How Neo4j Browser shows the graph of a server that was started here."""

from __future__ import annotations

import json
import re

from lineage.neo4j_server.settings import ServerSettings, render_configuration


def test_browser_shows_the_column_first() -> None:
    """Its first command at a connection is the style; in it, tables and columns have different colours."""
    text = render_configuration(ServerSettings(), 1, 2)
    [command] = re.findall(r"^browser\.post_connect_cmd=(.*)$", text, re.MULTILINE)
    assert command.startswith("style {")
    assert ";" not in command  # it separates commands
    style = json.loads(command.removeprefix("style "))
    assert style["node.Column"]["caption"].startswith("{path}")
    assert style["node.Column"]["color"] != style["node.Table"]["color"]

import pytest

from lineage.neo4j_server.errors import ServerSetupError
from lineage.neo4j_server.settings import ServerSettings, render_configuration


def test_configuration_is_loopback_only_and_reports_nothing() -> None:
    text = render_configuration(ServerSettings(heap="1g", page_cache="64m"), 7700, 7500)

    settings = dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))
    assert settings["server.default_listen_address"] == "127.0.0.1"
    assert settings["server.bolt.listen_address"] == "127.0.0.1:7700"
    assert settings["server.bolt.advertised_address"] == "127.0.0.1:7700"
    assert settings["server.http.listen_address"] == "127.0.0.1:7500"
    assert settings["server.memory.heap.max_size"] == "1g"
    assert settings["server.memory.pagecache.size"] == "64m"
    assert settings["dbms.usage_report.enabled"] == "false"
    assert "dbms.security.auth_enabled" not in settings


@pytest.mark.parametrize("size", ["512", "0m", "half", "1.5g", ""])
def test_a_size_without_a_unit_is_refused(size: str) -> None:
    with pytest.raises(ServerSetupError, match=r"heap of .* is not a size"):
        ServerSettings(heap=size)


@pytest.mark.parametrize("port", [0, 65536, -1])
def test_a_port_out_of_range_is_refused(port: int) -> None:
    with pytest.raises(ServerSetupError, match=f"{port} is not a port for Bolt"):
        ServerSettings(bolt_port=port)


def test_two_protocols_do_not_share_a_port() -> None:
    with pytest.raises(ServerSetupError, match="cannot share port 7687"):
        ServerSettings(bolt_port=7687, http_port=7687)

"""Check whether a server is up, without the driver: a Bolt handshake, and a query over HTTP."""

from __future__ import annotations

import base64
import http
import http.client
import json
import socket
from enum import Enum

from lineage.neo4j_server.settings import HOST

__all__ = ["ServerReply", "answers_bolt", "ask_over_http"]

# Bolt handshake: a four-byte magic number, then four proposed versions (here 5.0 and 4.4).
_HANDSHAKE = bytes.fromhex("6060B017 00000005 00000404 00000000 00000000")


class ServerReply(Enum):
    """The response: a result, a rejected password, or no usable response (yet)."""

    READY = "ready"
    REFUSED = "refused"
    NONE = "none"


def answers_bolt(port: int, timeout: float = 2.0) -> bool:
    """Return whether a server on the loopback port accepts the Bolt handshake."""
    try:
        with socket.create_connection((HOST, port), timeout) as connection:
            connection.sendall(_HANDSHAKE)
            answer = connection.recv(4)
    except OSError:
        return False
    return len(answer) == 4 and answer != bytes(4)


def ask_over_http(port: int, user: str, password: str, timeout: float = 5.0) -> ServerReply:
    """Return the server's response to a query over HTTP; a result means that its database is open."""
    login = base64.b64encode(f"{user}:{password}".encode()).decode()
    headers = {
        "Authorization": f"Basic {login}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    try:
        connection.request("POST", "/db/neo4j/query/v2", json.dumps({"statement": "RETURN 1"}), headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return ServerReply.NONE
    finally:
        connection.close()
    if status == http.HTTPStatus.UNAUTHORIZED:
        return ServerReply.REFUSED
    return ServerReply.READY if status == http.HTTPStatus.ACCEPTED else ServerReply.NONE

"""What pages of other sites make a browser send is refused on every route, present and future."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from starlette.routing import BaseRoute, Route
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from lineage.store import GraphStore, open_store
from lineage_graphql.app import make_app
from lineage_graphql.settings import Settings
from tests.service.graph import fill
from tests.service.running import Service, running

JSON = {"content-type": "application/json"}
FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:1"},  # another port
    {"origin": "http://localhost.evil.example"},
    {"origin": "null"},
    {"origin": "file://"},
    {"origin": ""},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "empty"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
]
OTHER_TYPES = [
    None,
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
]
EXPECTED = {"/", "/graphql", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/api/v1/lineage"}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("foreign") / "store.db") as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def local(small_store: GraphStore) -> Iterator[Service]:
    with running(small_store) as service:
        yield service


def routes(store: GraphStore) -> set[tuple[str, str]]:
    """Return the method and path of every route of the application."""

    def paths(found: list[BaseRoute]) -> Iterator[tuple[str, str]]:
        for route in found:
            if isinstance(route, Route):
                path = route.path.replace("{method}", "prune").replace("{name}", "x.js")
                for method in route.methods or ():
                    yield method, path

    return set(paths(make_app(Settings(), store).routes))


def test_the_walk_sees_every_route(small_store: GraphStore) -> None:
    found = routes(small_store)
    assert {path for _, path in found} >= EXPECTED
    assert {("POST", "/api/v1/store/prune"), ("POST", "/graphql"), ("POST", "/api/v1/lineage/batch")} <= found


def test_foreign_pages_are_refused_on_every_route(small_store: GraphStore, local: Service) -> None:
    before = small_store.dump()
    for method, path in sorted(routes(small_store)):
        for headers in FOREIGN:
            answer = local.http.request(method, path, content=b"{}", headers={**JSON, **headers})
            assert answer.status_code == 403, (method, path, headers)
        preflight = {"origin": "http://evil.example", "access-control-request-method": method}
        refused = local.http.options(path, headers=preflight)
        assert refused.status_code == 403
        assert not [name for name in refused.headers if name.startswith("access-control")]
        for name in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost@evil.example", ""):
            own = {"host": name, "origin": f"http://{name}", "sec-fetch-site": "same-origin"}
            assert local.http.request(method, path, content=b"{}", headers={**JSON, **own}).status_code == 400
    assert small_store.dump() == before


def test_every_route_that_takes_a_body_demands_json(small_store: GraphStore, local: Service) -> None:
    for method, path in sorted(routes(small_store)):
        if method in ("GET", "HEAD"):
            continue
        for kind in OTHER_TYPES:
            answer = local.http.request(method, path, content=b"{}", headers={"content-type": kind} if kind else {})
            assert answer.status_code == 415, (method, path, kind)
            assert "Content-Type: application/json" in answer.json()["hint"]
        assert local.http.request(method, path).status_code == 415


def test_a_request_without_a_host_is_refused(local: Service) -> None:
    address = urlsplit(local.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert b" 400 " in connection.recv(1_000).splitlines()[0]


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_foreign_pages_open_no_websocket(local: Service, origin: str) -> None:
    address = local.url.replace("http", "ws") + "/graphql"
    protocols = [Subprotocol("graphql-transport-ws")]
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, origin=Origin(origin), subprotocols=protocols)
    with connect(address, origin=Origin(local.url), subprotocols=protocols):
        pass


def test_programs_and_own_pages_go_on_to_work(local: Service) -> None:
    body = b'{"query": "{ service { version } }"}'
    own = [
        {},
        {"content-type": "application/json; charset=utf-8"},
        {"origin": local.url},
        {"origin": local.url, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-mode": "cors"},  # Node's fetch
    ]
    for headers in own:
        answer = local.http.post("/graphql", content=body, headers={**JSON, **headers})
        assert answer.status_code == 200, headers
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert local.http.get("/graphql", headers={**link, "accept": "text/html"}).status_code == 200
    assert local.http.get("/docs", headers=link).status_code == 200
    assert local.http.get("/api/v1/store", headers=link).status_code == 403
    assert local.http.post("/graphql", content=body, headers={**JSON, **link}).status_code == 403
    connection = http.client.HTTPConnection(urlsplit(local.url).netloc)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()

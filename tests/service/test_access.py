"""Who may do what."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from lineage.store import GraphStore, open_store
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.access.jwt_settings import JwtSettings
from lineage_graphql.access.roles import Role
from lineage_graphql.serving import UnsafeSettingsError, check
from lineage_graphql.settings import Settings
from tests.service.graph import fill
from tests.service.running import Service, running

QUERIES = {
    "node": '{ node(id: "VGFibGU6cGcvdXNlcnM") { id } }',
    "nodes": '{ nodes(ids: ["VGFibGU6cGcvdXNlcnM"]) { id } }',
    "tables": "{ tables { totalCount } }",
    "topTables": "{ topTables { totalCount } }",
    "unusedTables": '{ unusedTables(since: "2024-01-01") { totalCount } }',
    "piiReport": "{ piiReport { totalCount } }",
    "exposures": '{ exposures(column: "users.email") { totalCount } }',
    "personalDataIn": '{ personalDataIn(columns: ["pg/users#email"]) { cuts } }',
    "accessAudit": "{ accessAudit { totalCount } }",
    "grantAudit": "{ grantAudit { totalCount } }",
    "columnTags": "{ columnTags { name } }",
    "unused": '{ unused(until: "2024-01-05") { totalCount } }',
    "subgraph": '{ subgraph(tables: ["users"]) { truncated } }',
    "adjacent": '{ adjacent(of: ["users"], direction: DOWNSTREAM) { totalEdges } }',
    "estate": "{ estate { tables } }",
    "owners": "{ owners { totalCount } }",
    "domains": "{ domains { totalCount } }",
    "domainTables": '{ domainTables(domain: "x") { totalCount } }',
    "ownedTables": '{ ownedTables(owner: "ana") { totalCount } }',
    "tableSubgraph": '{ tableSubgraph(tables: ["users"]) { truncated } }',
    "service": "{ service { version } }",
    "table": '{ table(name: "users") { key } }',
    "column": '{ column(name: "users.id") { key } }',
    "search": '{ search(text: "a") { edges { cursor } } }',
    "impact": '{ impact(column: "users.id") { totalCount } }',
    "rootCause": '{ rootCause(column: "users.id") { totalCount } }',
    "paths": '{ paths(from: "users.id", to: "contacts.n") { hops } }',
    "job": '{ job(key: "staged.sql") { key } }',
    "jobs": "{ jobs { edges { cursor } } }",
    "runs": "{ runs { edges { cursor } } }",
    "diagnostics": "{ diagnostics { edges { cursor } } }",
    "usage": '{ usage(table: "users") { reads } }',
    "lineageDiff": '{ lineageDiff(asOfA: "2024-01-01T00:00:00Z", asOfB: "2024-01-02T00:00:00Z") { began } }',
    "extract": '{ extract(sql: "select 1", dialect: "postgres") { operation } }',
}
MUTATIONS = {
    "describe": 'mutation { describe(of: "users", description: "who") { __typename } }',
    "tag": 'mutation { tag(column: "users.email", name: "email") { name } }',
    "untag": 'mutation { untag(column: "users.email", name: "email") { name } }',
    "assertEdge": 'mutation { assertEdge(source: "users.id", target: "contacts.n") { kind } }',
    "retireEdge": 'mutation { retireEdge(source: "users.id", target: "contacts.n", kind: CONTRIBUTES) { ended } }',
    "prune": 'mutation { prune(olderThan: "2000-01-01T00:00:00Z") { ended } }',
    "forget": 'mutation { forget(job: "query:none") { jobs ended } }',
}
MAY = {
    Role.READER: QUERIES.keys(),
    Role.INGESTER: set(),
    Role.STEWARD: QUERIES.keys() | MUTATIONS.keys(),
    Role.ADMIN: QUERIES.keys() | MUTATIONS.keys(),
}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("access") / "store.db") as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> TokenFile:
    return TokenFile(tmp_path_factory.mktemp("access") / "tokens.json")


@pytest.fixture(scope="module")
def secured(small_store: GraphStore, tokens: TokenFile) -> Iterator[Service]:
    with running(small_store, Settings(tokens=tokens.path)) as service:
        yield service


def test_the_table_names_every_operation() -> None:
    from lineage_graphql.schema.root import schema  # noqa: PLC0415

    types = schema._schema
    assert types.query_type is not None
    assert types.mutation_type is not None
    assert set(types.query_type.fields) == set(QUERIES)
    assert set(types.mutation_type.fields) == set(MUTATIONS)


@pytest.mark.parametrize("role", Role)
def test_roles(secured: Service, tokens: TokenFile, role: Role) -> None:
    token, _ = tokens.create(f"test {role}", [role])
    for name, query in {**QUERIES, **MUTATIONS}.items():
        reply = secured.ask(query, token)
        codes = [error["extensions"]["code"] for error in reply.get("errors", ())]
        assert (codes == []) == (name in MAY[role]), (role, name, codes)
        assert name in MAY[role] or codes == ["FORBIDDEN"]
    answer = secured.http.get("/metrics", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == (403 if role is Role.INGESTER else 200)


@pytest.mark.parametrize("name", [*QUERIES, *MUTATIONS])
def test_nobody_without_a_token(secured: Service, name: str) -> None:
    for token in (None, "", "nonsense", "lineage_00_00", "a.b.c"):
        assert secured.refusal({**QUERIES, **MUTATIONS}[name], token)["code"] == "UNAUTHENTICATED"


def test_what_needs_no_token(secured: Service) -> None:
    assert secured.http.get("/healthz").status_code == 200
    assert secured.http.get("/readyz").status_code == 200
    refused = secured.http.get("/metrics")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")


def test_tokens_end(secured: Service, tokens: TokenFile) -> None:
    expired, _ = tokens.create("old", [Role.READER], datetime.now(UTC) - timedelta(seconds=1))
    token, record = tokens.create("new", [Role.READER])
    assert secured.refusal(QUERIES["service"], expired)["code"] == "UNAUTHENTICATED"
    secured.data(QUERIES["service"], token)
    assert secured.refusal(QUERIES["service"], token[:-1])["code"] == "UNAUTHENTICATED"
    assert tokens.revoke(record.id)
    assert not tokens.revoke(record.id)
    assert secured.refusal(QUERIES["service"], token)["code"] == "UNAUTHENTICATED"


def test_what_is_wrong_with_a_token_is_told(secured: Service, tokens: TokenFile) -> None:
    expired, _ = tokens.create("old", [Role.READER], datetime.now(UTC) - timedelta(seconds=1))
    ingester, _ = tokens.create("agent", [Role.INGESTER])
    invalid = 'Bearer error="invalid_token", error_description="the token'
    for given, status, challenge, token in [
        (None, 401, "Bearer", "missing"),
        ("Basic eDp5", 401, "Bearer", "missing"),
        ("Bearer", 401, "Bearer", "missing"),
        ("Bearer lineage_00_00", 401, f'{invalid} is not valid here"', "invalid"),
        (f"Bearer {'x' * 20_000}", 401, f'{invalid} is not valid here"', "invalid"),
        (f"Bearer {expired}", 401, f'{invalid} has expired"', "expired"),
        (f"Bearer {expired}x", 401, f'{invalid} is not valid here"', "invalid"),
        (
            f"Bearer {ingester}",
            403,
            'Bearer error="insufficient_scope", error_description="this needs the role reader", scope="reader"',
            None,
        ),
    ]:
        headers = {"authorization": given} if given else {}
        answer = secured.http.get("/metrics", headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (status, challenge), given
        reply = secured.http.post("/graphql", headers=headers, json={"query": QUERIES["service"]}).json()
        assert reply["errors"][0]["extensions"].get("token") == token, given
    for path, status in ("/api/v1/store", 401), ("/openapi.json", 401):
        answer = secured.http.get(path, headers={"authorization": f"Bearer {expired}"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (status, f'{invalid} has expired"')


def test_a_file_of_tokens_holds_none(tokens: TokenFile) -> None:
    token, record = tokens.create("new", [Role.READER, Role.STEWARD])
    assert token not in tokens.path.read_text()
    assert max(token.split("_"), key=len) not in tokens.path.read_text()
    assert tokens.path.stat().st_mode & 0o077 == 0
    assert TokenFile(tokens.path).records()[-1] == record


def test_what_is_changed_by_hand_names_who_did_it(secured: Service, tokens: TokenFile, small_store: GraphStore) -> None:
    token, _ = tokens.create("ana", [Role.STEWARD])
    edge = 'mutation { assertEdge(source: "users.country", target: "contacts.n") { job { kind source } } }'
    assert secured.data(edge, token)["assertEdge"]["job"] == {"kind": "ASSERTION", "source": "steward:ana"}
    assert small_store.runs(1)[0].source == "steward:ana"


def test_a_service_that_reads_only(small_store: GraphStore) -> None:
    with running(small_store, Settings(read_only=True)) as service:
        service.data(QUERIES["impact"])
        for mutation in MUTATIONS.values():
            assert service.refusal(mutation)["code"] == "FORBIDDEN"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_others_are_let_in_with_tokens_only(host: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafeSettingsError, match="without authentication"):
        check(Settings(host=host))
    check(Settings(host=host, tokens=tmp_path / "tokens.json"))
    check(Settings(host=host, oidc=JwtSettings(issuer="https://id.example", audience="lineage")))
    check(Settings(host=host, insecure=True))


def test_loopback_needs_no_token() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        check(Settings(host=host))


class Provider:
    """An OpenID provider of one page of discovery and one of keys."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pages = {
                    "/.well-known/openid-configuration": {"jwks_uri": f"{provider.issuer}/keys"},
                    "/keys": provider.keys(),
                }
                body = json.dumps(pages.get(self.path, {})).encode()
                self.send_response(200 if self.path in pages else 404)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"

    def keys(self) -> dict[str, object]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def token(self, key: object = None, algorithm: str = "RS256", kid: str = "one", **claims: object) -> str:
        now = datetime.now(UTC)
        whole = {"iss": self.issuer, "aud": "lineage", "sub": "ana", "exp": now + timedelta(minutes=5), **claims}
        return jwt.encode(whole, key or self.key, algorithm=algorithm, headers={"kid": kid})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    made = Provider()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join(5)


@pytest.fixture(scope="module")
def federated(small_store: GraphStore, provider: Provider) -> Iterator[Service]:
    oidc = JwtSettings(issuer=provider.issuer, audience="lineage", roles_claim="realm.roles")
    with running(small_store, Settings(oidc=oidc)) as service:
        yield service


def test_jwts_of_the_provider(federated: Service, provider: Provider) -> None:
    reader = provider.token(realm={"roles": ["lineage:reader", "other"]})
    federated.data(QUERIES["impact"], reader)
    assert federated.refusal(MUTATIONS["prune"], reader)["code"] == "FORBIDDEN"
    federated.data(MUTATIONS["prune"], provider.token(realm={"roles": ["steward"]}))
    assert federated.refusal(QUERIES["service"], provider.token())["code"] == "FORBIDDEN"


def test_jwts_that_are_not_good(federated: Service, provider: Provider) -> None:
    roles: dict[str, Any] = {"realm": {"roles": ["admin"]}}
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    bad = {
        "audience": provider.token(aud="other", **roles),
        "issuer": provider.token(iss="https://elsewhere", **roles),
        "expired": provider.token(exp=datetime.now(UTC) - timedelta(minutes=5), **roles),
        "key": provider.token(other, **roles),
        "unknown key": provider.token(kid="two", **roles),
        "none": jwt.encode({"sub": "x", **roles}, "", algorithm="none"),
        "symmetric": provider.token("k" * 64, "HS256", **roles),
        "cut": provider.token(**roles)[:-10],
    }
    for name, token in bad.items():
        refusal = federated.refusal(QUERIES["service"], token)
        assert (refusal["code"], refusal["token"]) == (
            "UNAUTHENTICATED",
            "expired" if name == "expired" else "invalid",
        ), name


def test_a_jwt_is_known_once_it_was_accepted(provider: Provider) -> None:
    authenticator = Authenticator(Settings(oidc=JwtSettings(issuer=provider.issuer, audience="lineage")))
    good, other = (f"Bearer {provider.token(aud=audience)}" for audience in ("lineage", "other"))
    assert authenticator.known_token(good) is None
    for token in (good, other):
        authenticator.caller(token)
    assert authenticator.known_token(good) == authenticator.known_token(good.replace("Bearer ", "bearer  "))
    assert authenticator.known_token(good) is not None
    assert authenticator.known_token(other) is None


def test_what_the_service_can_is_told_to_callers_with_a_token_only(store: GraphStore, tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token, _ = tokens.create("reader", [Role.READER])
    known = {"authorization": f"Bearer {token}"}
    looks = ("{ __schema { queryType { name } } }", '{ ... { __type(name: "Table") { name } } }')
    with running(store, Settings(tokens=tokens.path)) as service:
        for path in ("/docs", "/openapi.json"):
            assert service.http.get(path).status_code == 401
            assert service.http.get(path, headers=known).status_code == 200
        for look in (*looks, "{ ...F } fragment F on Query { __schema { queryType { name } } }"):
            assert service.refusal(look)["code"] == "UNAUTHENTICATED"
            assert service.data(look, token)
    with running(store) as service:
        assert service.http.get("/docs").status_code == service.http.get("/openapi.json").status_code == 200
        assert service.data(looks[0])

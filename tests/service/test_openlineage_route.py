"""OpenLineage events over HTTP: what a client of the specification finds."""

from __future__ import annotations

import gzip
import json
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, schema_dataset, sql_job
from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport

from lineage.store import GraphStore, open_store
from lineage.store.values import Direction
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.settings import Limits, Settings
from lineage_ingest.openlineage import EventIngest
from tests.events.event_builders import edges, event, feeds
from tests.neo4j_fixture import Neo4jAddress
from tests.service.proxy import proxied
from tests.service.running import Service, running

RECORDED = Path(__file__).parents[1] / "data" / "openlineage" / "spark"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[GraphStore]:
    with open_store(tmp_path / "store.db") as store:
        yield store


@pytest.fixture
def taking(own: GraphStore) -> Iterator[Service]:
    with running(own) as service:
        yield service


def simple(run: int = 1, kind: str = "COMPLETE", output: str = "pg.report") -> dict[str, Any]:
    sql = f"insert into {output[3:]} select amount from orders where country = 'AT'"
    return event(
        {
            "run": run,
            "type": kind,
            "at": 3,
            "job": "etl/load",
            "sql": sql,
            "inputs": ["pg.orders"],
            "outputs": {output: {}},
        }
    )


def test_one_event(taking: Service, own: GraphStore) -> None:
    answer = taking.http.post("/api/v1/lineage", json=simple())
    assert (answer.status_code, answer.json()) == (200, {"status": "success", "warnings": []})
    assert feeds(own)
    reply = taking.data(
        '{ impact(table: "orders") { totalCount possiblyAffected { name } } jobs { edges { node { sql } } } }'
    )
    assert reply["impact"]["totalCount"] == 1
    assert "AT" not in str(reply)


def test_a_batch_names_what_is_no_event(taking: Service, own: GraphStore) -> None:
    bad = simple(2)
    del bad["run"]["runId"]
    answer = taking.http.post("/api/v1/lineage/batch", json=[simple(1), bad, 7, simple(3, output="pg.other")])
    reply = answer.json()
    assert (answer.status_code, reply["status"]) == (200, "partial_success")
    assert reply["summary"] == {"received": 4, "successful": 2, "failed": 2, "retriable": 0, "non_retriable": 2}
    assert [one["index"] for one in reply["failed_events"]] == [1, 2]
    assert "run" in reply["failed_events"][0]["reason"]
    assert {one.name for one in own.datasets()} == {"db.public.orders", "db.public.report", "db.public.other"}
    assert taking.http.post("/api/v1/lineage/batch", json=[]).json()["status"] == "success"


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.ndjson")), ids=lambda path: path.stem)
def test_what_a_real_agent_sent_is_taken(taking: Service, path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    packed = gzip.compress(f"[{','.join(lines)}]".encode())
    headers = {"content-type": "application/json; charset=utf-8", "content-encoding": "gzip"}
    answer = taking.http.post("/api/v1/lineage/batch", content=packed, headers=headers)
    assert answer.json()["summary"]["successful"] == len(lines)
    for line in lines[:3]:
        assert taking.http.post(
            "/api/v1/lineage", content=line, headers={"content-type": "application/json"}
        ).is_success


JSON = {"content-type": "application/json"}
HALF = "\ud83d"
BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "/eventType": lambda body: body.update(eventType=HALF),
    "/producer": lambda body: body.update(producer=HALF),
    "/job/facets/sql/_producer": lambda body: body["job"]["facets"]["sql"].update(_producer=HALF),
    "/outputs/0/facets/schema/fields/0/name": lambda body: body["outputs"][0]["facets"].update(
        event({"run": 1, "outputs": {"pg.x": {"schema": [HALF]}}})["outputs"][0]["facets"]
    ),
    "/outputs/0/facets/schema": lambda body: body["outputs"][0]["facets"].update(schema={HALF: 1}),
    "/inputs/0/name": lambda body: body["inputs"][0].update(name=HALF),
}


@pytest.mark.parametrize("where", BROKEN)
def test_half_a_surrogate_pair_costs_its_event_only(taking: Service, own: GraphStore, where: str) -> None:
    bad = simple(2)
    BROKEN[where](bad)
    sent = json.dumps([simple(1), bad, simple(3, output="pg.other")])
    answer = taking.http.post("/api/v1/lineage/batch", content=sent, headers=JSON)
    assert answer.status_code == 200, answer.text
    [failed] = answer.json()["failed_events"]
    assert (failed["index"], failed["reason"].partition(": ")[0]) == (1, where)
    assert {one.name for one in own.datasets()} == {"db.public.orders", "db.public.report", "db.public.other"}
    assert taking.http.post("/api/v1/lineage", content=json.dumps(bad), headers=JSON).status_code == 400


def test_an_event_that_is_nested_too_deeply_costs_itself_only(taking: Service) -> None:
    field: dict[str, Any] = {"name": "leaf", "type": "int"}
    for _ in range(300):
        field = {"name": "s", "type": "struct", "fields": [field]}
    deep = event({"run": 2, "outputs": {"pg.deep": {"schema": [field]}}})
    reply = taking.http.post("/api/v1/lineage/batch", json=[deep, simple(1)]).json()
    assert [one["index"] for one in reply["failed_events"]] == [0]
    assert "nested deeper" in reply["failed_events"][0]["reason"]


def test_what_is_no_event_is_refused(own: GraphStore) -> None:
    with running(own, Settings(limits=Limits(event_body_bytes=10_000))) as service:

        def status(content: bytes, path: str = "", **headers: str) -> int:
            sent = {"content-type": "application/json"} | {
                name.replace("_", "-"): text for name, text in headers.items()
            }
            return service.http.post(f"/api/v1/lineage{path}", content=content, headers=sent).status_code

        good = json.dumps(simple()).encode()
        assert status(good) == 200
        assert status(b"{") == 400
        assert status(b"[]") == 400
        assert status(b"{}") == 400
        assert status(b"[" * 5_000) == 400
        assert status(good, "/batch") == 400
        assert status(good, content_type="text/plain") == 415
        assert status(good, content_encoding="br") == 400
        assert status(gzip.compress(good)[:-9], content_encoding="gzip") == 400
        assert status(gzip.compress(b" " * 1_000_000), content_encoding="gzip") == 413
        halves = gzip.compress(good[:50]) + gzip.compress(good[50:])
        assert status(halves, content_encoding="gzip") == 200
        assert status(halves + b"x", content_encoding="gzip") == 400
        assert status(gzip.compress(good) + gzip.compress(good), content_encoding="gzip") == 400
        assert status(gzip.compress(good) + gzip.compress(b" " * 1_000_000), content_encoding="gzip") == 413
        assert status(b"", content_encoding="gzip") == 400
        assert status(b" " * 10_001) == 413
        text = service.http.post("/api/v1/lineage", json={**simple(), "eventTime": "yesterday"}).json()
        assert "/eventTime" in text["error"]


def test_roles(own: GraphStore, tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    with running(own, Settings(tokens=tokens.path)) as service:
        for role, allowed in {Role.READER: 403, Role.INGESTER: 200, Role.STEWARD: 403, Role.ADMIN: 200}.items():
            token, _ = tokens.create(str(role), [role])
            for path, body in (("", simple()), ("/batch", [simple()])):
                headers = {"authorization": f"Bearer {token}"}
                assert service.http.post(f"/api/v1/lineage{path}", json=body, headers=headers).status_code == allowed
        assert service.http.post("/api/v1/lineage", json=simple()).status_code == 401
    with running(own, Settings(read_only=True)) as service:
        assert service.http.post("/api/v1/lineage", json=simple()).status_code == 403


def sends(client: OpenLineageClient, name: str) -> None:
    run, job = Run(str(uuid4())), Job("nightly", name, {"sql": sql_job.SQLJobFacet("select 'ana' from x")})
    field = column_lineage_dataset.InputField(
        "postgres://db:5432", "db.public.orders", "amount",
        [column_lineage_dataset.Transformation("DIRECT", "AGGREGATION", masking=True)],
    )  # fmt: skip
    schema = schema_dataset.SchemaDatasetFacet([schema_dataset.SchemaDatasetFacetFields("total", "int")])
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet({"total": column_lineage_dataset.Fields([field])})
    output = OutputDataset("postgresql://db", f"db.public.{name}", facets={"schema": schema, "columnLineage": lineage})
    for state in (RunState.START, RunState.COMPLETE):
        client.emit(
            RunEvent(
                eventTime=datetime(2026, 1, 3, tzinfo=UTC).isoformat(),
                eventType=state,
                run=run,
                job=job,
                producer="https://example.org/agent",
                inputs=[InputDataset("postgres://db:5432", "db.public.orders")],
                outputs=[output],
            )
        )


def client_of(service: Service, token: str | None = None) -> OpenLineageClient:
    auth = ApiKeyTokenProvider({"apiKey": token}) if token else None
    config = HttpConfig(service.url, auth=auth) if auth else HttpConfig(service.url)
    return OpenLineageClient(transport=HttpTransport(config))


def test_openlineages_own_client(own: GraphStore, tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token, _ = tokens.create("agent", [Role.INGESTER])
    with running(own, Settings(tokens=tokens.path)) as service:
        client = client_of(service, token)
        sends(client, "report")
        client.close(10)
    [edge] = own.expand(["postgres://db:5432/db.public.orders#amount"], Direction.DOWNSTREAM)
    assert (edge.edge.target, edge.edge.masking) == ("postgres://db:5432/db.public.report#total", True)
    assert edges(own)


def test_events_from_many_clients_at_once(taking: Service, own: GraphStore) -> None:
    def work(number: int) -> None:
        client = client_of(taking)
        for one in range(5):
            sends(client, f"t{number}_{one}")
        client.close(10)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(own.datasets()) == 42  # with `x`, which the SQL reads


def test_events_of_many_clients_are_written_together(taking: Service, own: GraphStore) -> None:
    """A run's events come from several clients at once, in any order: what is stored is that of all of them."""
    kinds = [("START", 1), ("COMPLETE", 1), ("START", 2), ("COMPLETE", 2), ("FAIL", 3), ("COMPLETE", 4)] * 4

    def send(request: tuple[str, int]) -> int:
        with httpx.Client(base_url=taking.url, timeout=60) as client:
            return client.post("/api/v1/lineage", json=simple(request[1], request[0], f"pg.t{request[1]}")).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(send, kinds)) == {200}
    assert edges(own) == edges_of_one_by_one(kinds)


def edges_of_one_by_one(kinds: list[tuple[str, int]]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "other.db") as store:
        ingest = EventIngest(store)
        for kind, run in kinds:
            ingest.take([simple(run, kind, f"pg.t{run}")])
        return edges(store)


def test_a_full_disk_is_said_and_what_is_stored_is_answered(taking: Service) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    answer = taking.http.post("/api/v1/lineage", json=simple(0))
    assert answer.status_code == 200
    # The log may grow by less than the file has; what moves it into the file fails first, which loses nothing.
    resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, limits[1]))
    try:
        number = 0
        while answer.status_code == 200 and number < 300:
            number += 1
            answer = taking.http.post("/api/v1/lineage", json=simple(number, output=f"pg.t{number}"))
        assert answer.status_code == 507
        assert "full" in answer.json()["error"]
        assert int(answer.headers["retry-after"]) > 0
        assert taking.data('{ impact(table: "orders") { totalCount } }')["impact"]["totalCount"] in (number, number + 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert taking.http.post("/api/v1/lineage", json=simple(number, output=f"pg.t{number}")).status_code == 200
    assert taking.data('{ impact(table: "orders") { totalCount } }')["impact"]["totalCount"] == number + 1


def sent_until_taken(service: Service, request: dict[str, Any]) -> bool:
    """Send an event as clients do: again, as long as the answer is to send it again."""
    for _ in range(20):
        if service.http.post("/api/v1/lineage", json=request, timeout=60).status_code == 200:
            return True
        time.sleep(1)
    return False


PRUNE = 'mutation { prune(olderThan: "2000-01-01T00:00:00Z") { ended } }'


def test_an_outage_of_the_store_is_said_and_nothing_is_lost(neo4j_uri: Neo4jAddress) -> None:
    host, port = neo4j_uri.uri.rpartition("//")[2].split(":")
    with proxied(host, int(port)) as proxy:
        address = f"bolt://127.0.0.1:{proxy.port}"
        with (
            open_store(address, user=neo4j_uri.user, password=neo4j_uri.password) as store,
            running(store, Settings(limits=Limits(seconds=2))) as service,
        ):
            proxy.cut()
            # The limit is the limit, however long the driver tries.
            answer = service.http.post("/api/v1/lineage", json=simple(90), timeout=10)
            assert answer.status_code == 503
            assert "Neo4j does not answer" in answer.text
            assert int(answer.headers["retry-after"]) > 0
            assert service.http.get("/readyz").status_code == 503
            for query in ("{ runs { edges { cursor } } }", '{ impact(column: "a.b") { totalCount } }', PRUNE):
                began = time.monotonic()
                refusal = service.refusal(query)
                assert time.monotonic() - began < 1.5  # the limit is 2 s
                assert refusal["code"] == "STORE_UNAVAILABLE"
                assert "Neo4j does not answer" in refusal["message"]
                assert str(proxy.port) not in str(refusal)
            proxy.go_on()
            assert sent_until_taken(service, simple(90))
            proxy.hang()
            assert service.refusal("{ runs { edges { cursor } } }")["code"] == "TIMEOUT"
            for _ in range(2):
                answer = service.http.post("/api/v1/lineage", json=simple(91), timeout=10)
                assert answer.status_code == 503
                assert int(answer.headers["retry-after"]) > 0
            assert service.http.get("/healthz").status_code == 200
            proxy.go_on()
            service.data("{ runs { edges { cursor } } }")
            assert sent_until_taken(service, simple(91))

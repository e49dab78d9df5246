"""`--store http://…`: the store of a service, as good as the store itself."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lineage.model.batch import DatasetChange, JobKind
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.facts import Facts, FactsRecord
from lineage.model.influence.transformations import EdgeKind
from lineage.model.statement import ChangeKind
from lineage.store import GraphStore, open_store
from lineage.store.errors import StoreAccessError, StoreUnreachableError, StoreWriteError
from lineage.store.page_requests import DatasetFilter, DiagnosticFilter, JobFilter, Order, PageRequest
from lineage.store.remote.wire import Effect, methods
from lineage.store.values import BufferedText, Direction, FeedKey, JobSelection, StoredTag
from lineage.traversal import impact, resolve
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.roles import Role
from lineage_graphql.errors import RefusedError
from lineage_graphql.http.request_bodies import decode_body, most_bytes
from lineage_graphql.settings import Limits, Settings
from tests.service.graph import fill
from tests.service.running import Service, running
from tests.store.batch_builders import batch, day, job, key, table

LINEAGE = Path(sys.executable).with_name("lineage")
SQL = Path(__file__).parents[2] / "ingest" / "lineage_ingest" / "demo" / "mimic_iv"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[GraphStore]:
    with open_store(tmp_path / "store.db") as store:
        fill(store)
        yield store


@pytest.fixture
def served(own: GraphStore) -> Iterator[Service]:
    with running(own) as service:
        yield service


def test_every_method_answers_as_the_store_does(own: GraphStore, served: Service) -> None:
    own.apply(batch(DatasetChange(ChangeKind.RENAME_COLUMN, key("users"), day(8), "surname", "name", "Surname")))
    calls: dict[str, tuple[tuple[object, ...], dict[str, object]]] = {
        "datasets": ((), {}),
        "find_datasets": (("users",), {}),
        "columns": (({key("users"), key("contacts")},), {"dropped": True}),
        "columns_by_key": (([key("users.id")],), {}),
        "edges_of_pairs": (([(key("users.email"), key("staged.mail"))],), {"as_of": day(6)}),
        "expand": (({key("users.email")}, Direction.DOWNSTREAM), {"kinds": frozenset(EdgeKind), "as_of": day(6)}),
        "feeds": (([key("contacts")], Direction.DOWNSTREAM), {}),
        "feed_keys": (([key("contacts")], Direction.DOWNSTREAM), {"as_of": day(6)}),
        "feeds_by_columns": (([FeedKey(key("staged"), key("contacts"), "contacts.sql")],), {}),
        "page_of_jobs": ((PageRequest(2, Order.LAST_SEEN, after=(0, "")), JobFilter((JobKind.SQL_FILE,))), {}),
        "count_jobs": ((JobFilter(retired=True),), {}),
        "page_of_datasets": ((PageRequest(backwards=True), DatasetFilter(unread_since=day(3).date())), {}),
        "count_datasets": ((DatasetFilter("pg"),), {}),
        "page_of_diagnostics": ((PageRequest(), DiagnosticFilter((DiagnosticCode.UNKNOWN_TABLE,))), {}),
        "count_diagnostics": ((), {}),
        "page_of_runs": ((PageRequest(5, Order.LAST_SEEN, descending=True),), {}),
        "count_runs": ((), {}),
        "runs_by_key": ((["run:first"],), {}),
        "usage_totals": ((), {"since": day(3).date()}),
        "count_search": (("mail",), {"tags": ()}),
        "search": (("mail",), {"types": ("Column",), "limit": 3}),
        "jobs": ((), {"users": True}),
        "jobs_after": (("c", 2, JobFilter()), {}),
        "job_keys_of": (([key("users")],), {}),
        "writers_of": (([key("staged")], (JobKind.SQL_FILE,)), {}),
        "edges_of": ((["staged.sql"],), {}),
        "edges_into": (([key("staged")],), {"as_of": day(8)}),
        "changed_edges": ((day(2), day(6)), {"scope": "pg", "limit": 3}),
        "dataset_changes": ((day(1), day(9)), {}),
        "runs": ((5,), {}),
        "buffered_texts": ((["run:1"],), {}),
        "forgotten_datasets": ((), {}),
        "dataset_names": (({key("users")},), {}),
        "column_spellings": (({key("users.surname")},), {}),
        "column_heads": (([key("users"), key("staged")],), {}),
        "former_names": (([key("users")],), {}),
        "name_holders": (([key("users")],), {}),
        "steps": (([(key("users.email"), key("staged.mail"), EdgeKind.CONTRIBUTES)],), {}),
        "job_keys": ((), {}),
        "live_datasets": ((), {}),
        "schema_counts": ((), {}),
        "fed_tables": ((), {}),
        "dataset_keys": ((), {}),
        "dataset_keys_ending": (({"orders"},), {}),
        "diagnostics": ((), {}),
        "diagnostics_after": ((), {"limit": 5}),
        "select_jobs": ((JobSelection(job="staged.sql"),), {}),
        "diagnosed_files": ((["shop:"],), {}),
        "is_seen_after": ((["staged.sql"], [key("staged")], day(1)), {}),
        "fact_sources": (("dbt/",), {}),
        "diagnostics_of": ((["contacts.sql"],), {}),
        "usage": ((key("users"),), {"since": day(3).date()}),
        "tags": (([key("users.email")],), {}),
        "tagged_columns": ((), {}),
        "usages": (([key("users"), key("users.email")],), {}),
    }
    stated = Facts("dbt/shop:model.users@", day(9), description="Users.")
    own.apply(replace(batch(run="facts"), facts=(FactsRecord(key("users"), stated),)))
    own.apply(batch(table("shop.orders", "id", at=1), run="dotted"))
    own.describe(key("users.id"), tags=["core"])
    own.change_tags([StoredTag(key("users.email"), "email", "manual", day(3), "ana", "seen", 0.5)])
    own.buffer_texts([BufferedText("run:1~a", "run:1", "text", finished=False, buffered_at=day(1))])
    own.apply(batch(job("gone", "old.a -> gone.b", at=1), run="gone"))
    own.retire_jobs(["gone"], day(9))
    reading = {name for name, method in methods().items() if method.effect is Effect.READS}
    assert set(calls) == reading
    with open_store(served.url) as remote:
        assert (remote.address, remote.schema_version) == (served.url, own.schema_version)
        for name, (values, named) in calls.items():
            value = getattr(remote, name)(*values, **named)
            assert value == getattr(own, name)(*values, **named), name
            assert value, name


def test_what_is_written_through_a_service_is_stored(own: GraphStore, served: Service, tmp_path: Path) -> None:
    new = batch(job("more", "contacts.address -> letters.to", at=7))
    with open_store(served.url) as remote:
        applied = remote.apply(new)
        assert applied.edges_created == 1
        [[part]] = remote.parts(new)
        assert remote.apply(part).edges_created == 0
        with pytest.raises(StoreWriteError, match="whole batches"):
            remote.apply(replace(part, stages=frozenset()))
        assert remote.describe(key("letters"), description="sent")
        tag = StoredTag(key("letters.to"), "email", "manual", day(7), "ana")
        assert tuple(remote.change_tags([tag])) == (1, 0)
        assert remote.tags() == own.tags() == [tag]
        assert remote.retire_edges(key("contacts.address"), key("letters.to"), EdgeKind.CONTRIBUTES, at=day(8)) == 1
        assert [one.key for one in impact(remote, resolve(remote, "users.email")).columns] == [
            one.key for one in impact(own, resolve(own, "users.email")).columns
        ]
    with open_store(served.url, read_only=True) as reading, pytest.raises(StoreWriteError, match="opened read-only"):
        reading.apply(new)


def test_the_command_line_works_through_a_service(own: GraphStore, served: Service, tmp_path: Path) -> None:
    def run(*arguments: str, store: str) -> str:
        environment = {**os.environ, "LINEAGE_STORE": store}
        done = subprocess.run([LINEAGE, *arguments], capture_output=True, text=True, check=True, env=environment)
        return done.stdout

    direct = str(tmp_path / "direct.db")
    ingest = ("ingest", "sql", str(SQL), "--dialect", "postgres", "--observed-at", "2024-01-01")
    for store in (served.url, direct):
        run(*ingest, store=store)
    for question in (
        ("impact", "mimiciv_hosp.labevents.valuenum", "--format", "json"),
        ("root-cause", "mimiciv_derived.sofa.sofa_24hours", "--format", "json"),
        ("path", "mimiciv_hosp.labevents.valuenum", "mimiciv_derived.sofa.sofa_24hours", "--format", "json"),
    ):
        through, straight = (json.loads(run(*question, store=store)) for store in (served.url, direct))
        assert through == straight, question


def test_another_process_writes_to_the_file_of_a_service(own: GraphStore) -> None:
    code = f"""
from lineage.store import open_store
from tests.store.batch_builders import batch, view
with open_store({own.address!r}) as store:
    store.apply(batch(view("beside", "a.x -> beside.x", at=1)))
"""
    with running(own) as service:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        body = {"query": "{ tables { nodes { name } } }"}
        names = {one["name"] for one in service.http.post("/graphql", json=body).json()["data"]["tables"]["nodes"]}
    assert "beside" in names


def test_roles_of_the_store(own: GraphStore, tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    may = {
        Role.READER: {Effect.READS},
        Role.INGESTER: {Effect.INGESTS},
        Role.STEWARD: {Effect.READS, Effect.CHANGES},
        Role.ADMIN: set(Effect),
    }
    with running(own, Settings(tokens=tokens.path)) as service:
        for role in Role:
            token, _ = tokens.create(str(role), [role])
            for name, method in methods().items():
                headers = {"authorization": f"Bearer {token}"}
                answer = service.http.post(f"/api/v1/store/{name}", json={"wrong": 1}, headers=headers)
                assert answer.status_code == (400 if method.effect in may[role] else 403), (role, name)
        assert service.http.post("/api/v1/store/runs", json={}).status_code == 401
        with pytest.raises(StoreAccessError, match="a token is required"):
            open_store(service.url)
        reader, _ = tokens.create("reader", [Role.READER])
        with open_store(service.url, password=reader) as remote:
            assert remote.runs(1)
            with pytest.raises(StoreAccessError, match="ingester"):
                remote.apply(batch())


def test_what_is_no_call_is_refused(served: Service) -> None:
    def status(name: str, content: bytes = b"{}", **headers: str) -> int:
        sent = {"content-type": "application/json", **headers}
        return served.http.post(f"/api/v1/store/{name}", content=content, headers=sent).status_code

    assert status("nothing") == status("close") == status("__init__") == 404
    assert status("runs", b"{") == status("runs", b'{"limit": "x"}') == 400
    assert status("runs", b"x", **{"content-encoding": "deflate"}) == 400
    assert status("runs", b"x", **{"content-encoding": "br"}) == 400


@pytest.mark.parametrize("method", ["runs", "apply"])
def test_a_bomb_is_not_unpacked(own: GraphStore, method: str) -> None:
    limits = Settings().limits.model_copy(update={"batch_bytes": 1_000_000})
    with running(own, Settings(limits=limits)) as service:
        for encoding, bomb in (
            ("deflate", zlib.compress(b" " * 50_000_000)),
            ("gzip", gzip.compress(b" " * 50_000_000)),
        ):
            headers = {"content-encoding": encoding, "content-type": "application/json"}
            answer = service.http.post(f"/api/v1/store/{method}", content=bomb, headers=headers)
            assert answer.status_code == 413
            assert "larger than 1,000,000 bytes" in answer.text


def test_a_bomb_takes_no_memory() -> None:
    bomb = gzip.compress(b" " * 60_000_000) * 4
    tracemalloc.start()
    with pytest.raises(RefusedError, match="larger than 200,000,000 bytes"):
        decode_body(bomb, "gzip", 200_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_only_what_writes_may_be_as_large_as_a_batch() -> None:
    limits = Limits(body_bytes=1, event_body_bytes=2, batch_bytes=3)
    sizes = {"/graphql": 1, "/api/v1/lineage": 2, "/api/v1/lineage/batch": 2, "/api/v1/store": 2}
    sizes |= {f"/api/v1/store/{name}": 2 if one.effect is Effect.READS else 3 for name, one in methods().items()}
    assert {path: most_bytes(path, limits) for path in sizes} == sizes


def test_no_service_there() -> None:
    with pytest.raises(StoreUnreachableError, match="no service answers"):
        open_store("http://127.0.0.1:9")

"""Requests per second of each caller: refused beyond it with the time to wait, others and probes are not affected."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import Headers

from lineage.store import open_store
from lineage_graphql.access.access_tokens import TokenFile
from lineage_graphql.access.authenticate import Authenticator
from lineage_graphql.access.roles import Role
from lineage_graphql.limits import request_rate
from lineage_graphql.limits.request_rate import RequestRate
from lineage_graphql.settings import Limits, Settings
from tests.service.running import Service, running

ASKED = {"query": "{ service { version } }"}


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Service]:
    settings = Settings(limits=Limits(rate=1))
    with open_store(tmp_path / "store.db") as store, running(store, settings) as service:
        yield service


def refused(service: Service, **headers: str) -> httpx.Response:
    """Ask until the service refuses: at once as many as the burst, then one a second."""
    for _ in range(30):
        answer = service.http.post("/graphql", json=ASKED, headers=headers)
        if answer.status_code == 429:
            return answer
    raise AssertionError("it is never refused")


def test_too_many_requests_are_refused_with_the_time_to_wait(limited: Service) -> None:
    answer = refused(limited)
    assert answer.headers["retry-after"] == "1"
    assert answer.json() == {
        "error": "too many requests",
        "hint": "send it again in 1 s; the service allows 1 a second to each caller",
    }
    assert [limited.http.get(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [200] * 3
    time.sleep(1.1)
    assert limited.http.post("/graphql", json=ASKED).status_code == 200


def test_a_token_of_no_service_with_tokens_changes_nothing(limited: Service) -> None:
    refused(limited)
    assert limited.http.post("/graphql", json=ASKED, headers={"Authorization": "Bearer x"}).status_code == 429


def test_each_token_has_its_own(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    first, second = (tokens.create(name, [Role.READER])[0] for name in ("one", "two"))
    settings = Settings(limits=Limits(rate=1), tokens=tmp_path / "tokens.json")
    with open_store(tmp_path / "store.db") as store, running(store, settings) as service:
        refused(service, Authorization=f"Bearer {first}")
        assert "errors" not in service.ask(ASKED["query"], second)
        # The same token, written in another way, is the same caller.
        again = service.http.post("/graphql", json=ASKED, headers={"Authorization": f"BEARER  {first}"})
        assert again.status_code == 429


def test_guessed_tokens_share_the_limit_of_their_address(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    good, record = tokens.create("one", [Role.READER])
    settings = Settings(limits=Limits(rate=1), tokens=tmp_path / "tokens.json")
    with open_store(tmp_path / "store.db") as store, running(store, settings) as service:
        guesses = [f"lineage_{record.id}_{number}" for number in range(12)]
        statuses = [guess(service, token) for token in guesses]
        assert statuses[:10] == [200] * 10  # which says UNAUTHENTICATED
        assert statuses[-1] == 429
        # Whoever has a good token is not held up by those who guess at the same address.
        assert "errors" not in service.ask(ASKED["query"], good)
        # A revoked token is one of the others.
        tokens.revoke(record.id)
        assert guess(service, good) == 429


def guess(service: Service, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return service.http.post("/graphql", json=ASKED, headers=headers).status_code


def test_a_command_waits_and_goes_on(limited: Service) -> None:
    with open_store(limited.url, read_only=True) as remote:
        refused(limited)
        assert remote.dataset_keys() == []


def test_few_callers_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_rate, "_CALLERS", 3)
    settings = Settings(limits=Limits(rate=1))
    rate = RequestRate(settings, Authenticator(settings).known_token)
    for number in range(10):
        assert rate.seconds_to_wait(scope_of(f"10.0.0.{number}"), Headers({})) is None
    assert len(rate._buckets) == 3


def test_addresses_of_one_network_of_ipv6_are_one_caller() -> None:
    settings = Settings(limits=Limits(rate=1))
    rate = RequestRate(settings, Authenticator(settings).known_token)
    answers = [rate.seconds_to_wait(scope_of(f"2001:db8::{number:x}"), Headers({})) for number in range(11)]
    assert answers == [*[None] * 10, 1]
    assert rate.seconds_to_wait(scope_of("2001:db8:0:1::1"), Headers({})) is None


def scope_of(address: str) -> dict[str, object]:
    return {"path": "/graphql", "client": (address, 1)}

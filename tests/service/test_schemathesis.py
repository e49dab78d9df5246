"""Made-up requests, from the service's own descriptions of itself: none may make it fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from lineage.store import open_store
from tests.service.graph import fill
from tests.service.running import Service, running

_FEW = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with open_store(tmp_path_factory.mktemp("fuzzed") / "store.db") as store:
        fill(store)
        with running(store) as service:
            yield service


@pytest.fixture(scope="module")
def rest(fuzzed: Service) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{fuzzed.url}/openapi.json")


@pytest.fixture(scope="module")
def queries(fuzzed: Service) -> schemathesis.BaseSchema:
    return schemathesis.graphql.from_url(f"{fuzzed.url}/graphql")


rest_schema = schemathesis.pytest.from_fixture("rest")
graphql_schema = schemathesis.pytest.from_fixture("queries")


@rest_schema.parametrize()
@_FEW
def test_the_rest_routes(case: schemathesis.Case[Any]) -> None:
    answer = case.call()
    assert answer.status_code < 500, answer.text


@graphql_schema.parametrize()
@_FEW
def test_graphql(case: schemathesis.Case[Any]) -> None:
    answer = case.call()
    assert answer.status_code < 500, answer.text
    for error in answer.json().get("errors") or ():
        assert error["extensions"]["code"] != "INTERNAL", (case.body, error)

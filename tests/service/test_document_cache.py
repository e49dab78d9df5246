"""The cache of GraphQL documents."""

from __future__ import annotations

from graphql import parse

from lineage_graphql.limits.document_cache import DocumentCache
from tests.service.running import Service


def test_the_least_recently_used_are_evicted() -> None:
    cache = DocumentCache(characters=100)
    texts = [f"{{ a{number} }}" for number in range(10, 40)]
    for text in texts:
        cache.keep(text, parse(text))
        assert cache.get(texts[0]) is not None
    assert [cache.get(text) is not None for text in texts] == [True, *[False] * 16, *[True] * 13]


def test_a_long_document_displaces_nothing() -> None:
    cache = DocumentCache(characters=100)
    cache.keep("{ aaaaaaaaa }", parse("{ aaaaaaaaa }"))
    assert cache.get("{ aaaaaaaaa }") is None


def test_a_cached_document_is_measured_and_answered_each_time(service: Service) -> None:
    query = "query ($n: Int!) { jobs(first: $n) { edges { node { key } } } }"
    assert len(service.data(query, n=2)["jobs"]["edges"]) == 2
    assert len(service.data(query, n=1)["jobs"]["edges"]) == 1
    assert service.refusal(query, n=1_000)["code"] == "LIMIT_EXCEEDED"
    assert service.refusal(query, n=None)["code"] == "BAD_REQUEST"
    wrong = "{ jobs { nothing } }"
    assert service.refusal(wrong) == service.refusal(wrong)
    assert service.refusal("{ jobs {")["code"] == "BAD_REQUEST"

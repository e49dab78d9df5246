"""Documents that were asked before."""

from __future__ import annotations

from graphql import parse

from lineage_graphql.limits.document_cache import KnownDocuments
from tests.service.running import Service


def test_those_that_were_asked_for_last_are_kept() -> None:
    known = KnownDocuments(characters=100)
    texts = [f"{{ a{number} }}" for number in range(10, 40)]
    for text in texts:
        known.keep(text, parse(text))
        assert known.find(texts[0]) is not None
    assert [known.find(text) is not None for text in texts] == [True, *[False] * 16, *[True] * 13]


def test_what_is_long_takes_nobodys_place() -> None:
    known = KnownDocuments(characters=100)
    known.keep("{ aaaaaaaaa }", parse("{ a }"))
    assert known.find("{ aaaaaaaaa }") is None


def test_a_known_document_is_measured_and_answered_each_time(service: Service) -> None:
    query = "query ($n: Int!) { jobs(first: $n) { edges { node { key } } } }"
    assert len(service.data(query, n=2)["jobs"]["edges"]) == 2
    assert len(service.data(query, n=1)["jobs"]["edges"]) == 1
    assert service.refusal(query, n=1_000)["code"] == "LIMIT_EXCEEDED"
    assert service.refusal(query, n=None)["code"] == "BAD_REQUEST"
    wrong = "{ jobs { nothing } }"
    assert service.refusal(wrong) == service.refusal(wrong)
    assert service.refusal("{ jobs {")["code"] == "BAD_REQUEST"

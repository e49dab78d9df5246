from __future__ import annotations

from typing import Any

import pytest

from lineage_ingest.spark_plan.listener.destinations import (
    EventFile,
    HttpEndpoint,
    KafkaTopic,
    StoreDestination,
    destination_for,
)


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("events.ndjson", EventFile, "events.ndjson"),
        ("out/e.jsonl", EventFile, "out/e.jsonl"),
        ("http://me:secret@h:5000", HttpEndpoint, "http://h:5000/api/v1/lineage"),
        ("https://h/openlineage?key=1", HttpEndpoint, "https://h/openlineage"),
        ("kafka://b:9092/lineage", KafkaTopic, "kafka://b:9092/lineage"),
        ("graph.db", StoreDestination, "graph.db"),
        ("bolt://h:7687", StoreDestination, "bolt://h:7687"),
    ],
)
def test_a_text_names_a_destination(text: str, kind: type[Any], name: str) -> None:
    found = destination_for(text, None)
    assert isinstance(found, kind)
    assert found.name == name


@pytest.mark.parametrize("text", ["kafka://b:9092", "kafka:///topic", "http://"])
def test_half_a_destination_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        destination_for(text, None)
